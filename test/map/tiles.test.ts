import { beforeAll, describe, expect, test } from 'vitest';

import { CellCache } from '../../src/loaders/cell-cache.js';
import { viewportClusters } from '../../src/map/cells/clusters.js';
import { readTileOptions } from '../../src/map/tiles/request.js';
import { mapFeatures, snappedMap } from '../../src/map/tiles/snapped-map.js';
import { tileJson } from '../../src/map/tiles/tile-json.js';
import { makeTile, type TileRequest } from '../../src/map/tiles/tile.js';
import { readViewport } from '../../src/map/viewport.js';
import { requireCollection } from '../../src/read/context.js';
import { readFilter } from '../../src/read/filter.js';
import { newCall } from '../../src/store/database.js';
import { createZone } from '../../src/store/zone/zones.js';
import { decodeLayer } from '../support/decode-tile.js';
import { memoryDatabase } from '../support/memory-store.js';
import { randomFrom } from '../support/random.js';
import { variants } from '../support/rounds.js';
import { rectangle } from '../support/shapes.js';
import { makeCollection, NOW, realMarkers, requestContext, type Made } from './fixture.js';

const db = memoryDatabase();
const cellCache = new CellCache({ maxBytes: 32e6, trusted: () => true, now: () => 0 });
const NORTH_END = 85.0511287798066;

/** Web Mercator as its definition says, independently of the code under test. */
function unit({ lng, lat }: Made['position'], z: number) {
  const size = 4_096 * 2 ** z;
  const sine = Math.sin((lat * Math.PI) / 180);
  const down = 0.5 - Math.log((1 + sine) / (1 - sine)) / (4 * Math.PI);
  const [x, y] = [lng === 180 ? 0 : ((lng + 180) / 360) * size, down * size];
  return { x: Math.min(size - 1, Math.floor(x)), y: Math.max(0, Math.min(size - 1, Math.floor(y))) };
}
const isInside = ({ position: { lat } }: Made) => Math.abs(lat) <= NORTH_END;

/** Markers around Poznań, most of them in a crowd, and some on edges of tiles. */
function crowd(length: number, width: number): Made[] {
  const random = randomFrom(7);
  const near = (center: number, spread: number) => center + (random() + random() + random() - 1.5) * spread;
  return Array.from({ length }, (_, n): Made => {
    const onEdge = {
      lng: (Math.round((near(16.9, width) / 360) * 2 ** 13) / 2 ** 13) * 360,
      lat: near(52.4, width / 2),
    };
    const position = n % 50 === 0 ? onEdge : { lng: near(16.9, width), lat: near(52.4, width / 2) };
    return { key: `m${n}`, position, name: `Marker ${n}`, category: n % 2 === 0 ? 'a' : 'b', properties: { n } };
  });
}
const MARKERS: Readonly<Record<string, readonly Made[]>> = {
  cities: realMarkers(20),
  crowd: crowd(3_000, 0.4),
  town: crowd(600, 0.1),
};

beforeAll(async () => {
  for (const [key, markers] of Object.entries(MARKERS)) {
    await makeCollection(db, { key, mapProperties: ['population', 'n'] }, markers);
  }
});

async function tileOf(key: string, z: number, x: number, y: number, options: Partial<TileRequest> = {}) {
  const { context } = requestContext(db, { cellCache });
  const collection = await requireCollection(context, key);
  const layers = ['markers', 'clusters'] as const;
  const request = { collection, tile: { z, x, y }, layers, properties: undefined, filter: undefined, limit: 500 };
  const made = await makeTile(context, { ...request, ...options });
  return { ...made, markers: decodeLayer(made.bytes, 'markers'), clusters: decodeLayer(made.bytes, 'clusters') };
}

/** The tiles of a level within a tile or two of a marker. */
function tilesNear(markers: readonly Made[], z: number): [number, number][] {
  const count = 2 ** z;
  const names = new Set<string>();
  for (const { position } of markers.filter(isInside)) {
    const { x, y } = unit(position, z);
    for (const dx of [-1, 0, 1]) {
      for (const dy of [-1, 0, 1]) {
        const row = Math.floor(y / 4_096) + dy;
        if (row >= 0 && row < count) names.add(`${(Math.floor(x / 4_096) + dx + count) % count}/${row}`);
      }
    }
  }
  return [...names].map((name) => name.split('/').map(Number) as [number, number]);
}

const LEVELS = [
  ['cities', 0, 500],
  ['cities', 1, 500],
  ['cities', 2, 500],
  ['cities', 4, 30],
  ['crowd', 7, 500],
  ['crowd', 9, 200],
  ['crowd', 10, 60],
  ['crowd', 11, 100],
  ['town', 13, 20],
  ['town', 14, 300],
] as const;

describe.each(variants(LEVELS, 4))('the tiles of %s at level %i, with at most %i markers each', (key, z, limit) => {
  const markers = MARKERS[key] ?? [];
  let tiles: readonly ({ readonly x: number; readonly y: number } & Awaited<ReturnType<typeof tileOf>>)[];

  beforeAll(async () => {
    const near = tilesNear(markers, z);
    tiles = await Promise.all(near.map(async ([x, y]) => ({ x, y, ...(await tileOf(key, z, x, y, { limit })) })));
  });

  test('show each marker once, by itself or in a cluster of the view API, and say how many', () => {
    const seen = new Map<string, number>();
    const clusters = new Map<number, number>();
    const copies = new Map<number, Set<string>>();
    let total = 0;
    for (const { x, y, ...tile } of tiles) {
      for (const { properties } of tile.markers.filter(({ isOwn }) => isOwn)) {
        seen.set(String(properties['key']), (seen.get(String(properties['key'])) ?? 0) + 1);
      }
      const own = tile.clusters.filter(({ isOwn }) => isOwn);
      for (const { id = -1, properties } of own) clusters.set(id, Number(properties['count']));
      for (const { id = -1, ...at } of tile.clusters) {
        const world = 4_096 * 2 ** z;
        const place = `${(at.x + x * 4_096 + world) % world}/${at.y + y * 4_096}`;
        copies.set(id, (copies.get(id) ?? new Set()).add(place));
      }
      const ownMarkers = tile.markers.filter(({ isOwn }) => isOwn).length;
      expect(tile.count).toBe(ownMarkers + own.reduce((sum, { properties }) => sum + Number(properties['count']), 0));
      total += tile.count;
    }
    expect(total).toBe(markers.filter(isInside).length);
    expect([...seen.values()].every((times) => times === 1)).toBe(true);
    const clustered = [...clusters.values()].reduce((sum, count) => sum + count, 0);
    expect(clustered + seen.size).toBe(total);
    // In a neighbor's buffer, too, a cluster has its number and its position.
    expect([...copies.values()].every((places) => places.size === 1)).toBe(true);
    expect(copies.size).toBe(clusters.size);
  });

  test('have the markers of a scan, at their units, where few are around, and in no tile too many', () => {
    let few = 0;
    for (const { x, y, ...tile } of tiles) {
      const around = (reach: number) =>
        markers.filter(isInside).flatMap(({ key: name, position }) => {
          const at = unit(position, z);
          const size = 4_096 * 2 ** z;
          return [-size, 0, size]
            .map((turn) => ({ name, x: at.x - x * 4_096 + turn, y: at.y - y * 4_096 }))
            .filter((each) => [each.x, each.y].every((one) => one >= -reach && one < 4_096 + reach));
        });
      if (tile.clusters.length === 0)
        expect(tile.markers.filter(({ isOwn }) => isOwn).length).toBeLessThanOrEqual(limit);
      if (new Set(around(3 * 4_096).map(({ name }) => name)).size > limit) continue;
      few += 1;
      const found = tile.markers.map(
        ({ properties, x: right, y: down }) => `${String(properties['key'])} ${right} ${down}`,
      );
      expect(found.sort()).toEqual(
        around(256)
          .map((one) => `${one.name} ${one.x} ${one.y}`)
          .sort(),
      );
      expect(tile.clusters).toEqual([]);
    }
    if (z === 14) expect(few).toBeGreaterThan(0);
  });
});

test('the clusters of a tile are those of a viewport of its zoom', async () => {
  const { context } = requestContext(db, { cellCache });
  const viewport = readViewport({ bounds: { west: 0, south: 0, east: 90, north: 66.51326 }, zoom: 2 });
  const clusters = await viewportClusters(context, viewport, 'cities');
  const expected = clusters.map(({ position, count }) => `${JSON.stringify(unit(position, 2))} ${count}`);
  const tile = await tileOf('cities', 2, 2, 1, { limit: 10 });
  expect(tile.markers).toEqual([]);
  const own = tile.clusters.filter(({ isOwn }) => isOwn);
  expect(own.length).toBeGreaterThan(20);
  for (const { x, y, properties } of own) {
    expect(expected).toContain(`${JSON.stringify({ x: x + 2 * 4_096, y: y + 4_096 })} ${properties['count']}`);
  }
});

test('a filter leaves a tile its markers alone, and its clusters count them', async () => {
  const filter = readFilter({ category: ['a'] });
  for (const limit of [5_000, 100]) {
    let total = 0;
    for (const [x, y] of tilesNear(MARKERS['crowd'] ?? [], 9)) {
      const tile = await tileOf('crowd', 9, x, y, { limit, filter });
      expect(tile.markers.every(({ properties }) => properties['category'] === 'a')).toBe(true);
      total += tile.count;
    }
    expect(total).toBe(1_500);
  }
});

test('markers carry id, key, name, category and what maps draw, or the properties that are asked for', async () => {
  const [x, y] = tilesNear((MARKERS['crowd'] ?? []).slice(1, 2), 14)[4] ?? [0, 0];
  const [plain] = (await tileOf('crowd', 14, x, y)).markers;
  expect(Object.keys(plain?.properties ?? {}).sort()).toEqual(['category', 'id', 'key', 'n', 'name']);
  const [none] = (await tileOf('crowd', 14, x, y, { properties: [] })).markers;
  expect(Object.keys(none?.properties ?? {}).sort()).toEqual(['category', 'id', 'key', 'name']);
  expect(plain?.properties['id']).toBe(`marker::crowd::${String(plain?.properties['key'])}`);
  const long = MARKERS['cities']?.find(({ properties }) => 'long' in properties);
  const [at = [0, 0]] = tilesNear(long ? [long] : [], 22);
  const own = await tileOf('cities', 22, at[0] + 1, at[1] + 1, { properties: ['long'] });
  expect(own.markers.find(({ properties }) => properties['key'] === long?.key)?.properties['long']).toBe(
    'x'.repeat(300),
  );
});

test('cells are the squares of a viewport with their counts, zones are cut to the tile, and layers come as asked', async () => {
  const { context } = requestContext(db, { cellCache });
  const collection = await requireCollection(context, 'cities');
  await createZone(newCall(db), collection, { key: 'box', name: 'Box', geometry: rectangle(1, 1, 170, 60) }, NOW);
  const { bytes, count } = await tileOf('cities', 2, 2, 1, { layers: ['cells', 'zones'] });
  expect(count).toBe(0);
  expect(decodeLayer(bytes, 'markers')).toEqual([]);
  const cells = decodeLayer(bytes, 'cells');
  expect(cells.length).toBeGreaterThan(20);
  expect(cells.every(({ properties }) => String(properties['geohash']).length === 2)).toBe(true);
  const [zone] = decodeLayer(bytes, 'zones');
  expect(zone?.properties).toMatchObject({ id: 'zone::cities::box', key: 'box', name: 'Box' });
  const units = zone?.rings.flat().flatMap(({ x, y }) => [x, y]) ?? [];
  expect(Math.max(...units)).toBe(4_096 + 256);
  expect(Math.min(...units)).toBeGreaterThanOrEqual(-256);
});

test('a tile whose markers take more than 500 kB shows clusters of them that add up to the same', async () => {
  const text = 'x'.repeat(1_800);
  const markers = crowd(400, 0.01).map((one) => ({ ...one, properties: { text: `${one.key}${text}` } }));
  await makeCollection(db, { key: 'heavy', mapProperties: ['text'] }, markers);
  const [x, y] = [
    Math.floor(unit({ lng: 16.9, lat: 52.4 }, 9).x / 4_096),
    Math.floor(unit({ lng: 16.9, lat: 52.4 }, 9).y / 4_096),
  ];
  const tile = await tileOf('heavy', 9, x, y);
  expect(tile.bytes.length).toBeLessThan(500_000);
  expect([tile.count, tile.markers.length]).toEqual([400, 0]);
  expect(tile.clusters.reduce((sum, { properties }) => sum + Number(properties['count']), 0)).toBe(400);
  const plain = await tileOf('heavy', 9, x, y, { properties: [] });
  expect([plain.count, plain.markers.length]).toEqual([400, 400]);
});

test('while the index answers, a tile of the world with few markers shows clusters of them', async () => {
  await makeCollection(
    db,
    { key: 'few' },
    realMarkers(20).filter((_, n) => n % 100 === 0),
  );
  for (const trusted of [true, false]) {
    const { context } = requestContext(db, { cellCache, trusted });
    const collection = await requireCollection(context, 'few');
    const asked = { collection, tile: { z: 0, x: 0, y: 0 }, layers: ['markers', 'clusters'] as const, limit: 500 };
    const { bytes, count } = await makeTile(context, { ...asked, properties: undefined, filter: undefined });
    expect(count).toBeGreaterThan(60);
    expect(decodeLayer(bytes, 'markers').length > 0).toBe(trusted);
    expect(decodeLayer(bytes, 'clusters').length > 0).toBe(!trusted);
  }
});

test('TileJSON has bounds within Web Mercator, also of markers that tiles do not show, and names what zones have', async () => {
  const describe = async (lats: readonly number[], options = {}) => {
    const key = `at${lats.join('and').replaceAll('-', 'minus')}`;
    const markers = lats.map((lat) => ({ key: `${lat}`, position: { lng: 10, lat }, category: 'a', properties: {} }));
    await makeCollection(db, { key }, markers);
    const { context } = requestContext(db);
    return tileJson(context, key, readTileOptions(options, context.limits), 'http://localhost');
  };
  for (const lats of [[89], [-89], [-89, 89], [88, 89], [0, 89]]) {
    const [west = 0, south = 0, east = 0, north = 0] = (await describe(lats)).bounds;
    expect([lats, west >= -180 && west <= 10 && east >= 10 && east <= 180]).toEqual([lats, true]);
    expect([lats, south >= -NORTH_END - 1e-9 && south < north && north <= NORTH_END + 1e-9]).toEqual([lats, true]);
  }
  const { vector_layers: layers } = await describe([1], { layers: 'zones', properties: 'color' });
  expect(Object.keys(layers[0]?.fields ?? {})).toEqual(['color', 'id', 'key', 'name']);
});

test('what needs more than can be read is refused with advice that its URL can follow', async () => {
  const { context } = requestContext(db, { limits: { itemsPerField: 100, queryCalls: 40 } });
  const collection = await requireCollection(context, 'crowd');
  const filter = readFilter({ properties: [{ name: 'n', gt: 1 }] });
  const request = { collection, tile: { z: 5, x: 17, y: 10 }, properties: undefined, filter, limit: 500 };
  const { viewport } = snappedMap('16,52,18,53', '5');
  const budget = 'is more than one field may read, the limit is 40 Query calls or 100 items';
  const filterLess = 'filter only by category and mapProperties';
  for (const layer of ['markers', 'cells'] as const)
    await expect(makeTile(context, { ...request, layers: [layer] })).rejects.toThrow(
      `tile ${budget}: zoom in, or ${filterLess}`,
    );
  const question = { field: 'map', collection, filter, limit: 500 };
  await expect(mapFeatures(context, viewport, question)).rejects.toThrow(
    `map ${budget}: use a smaller bbox, or ${filterLess}`,
  );
});
