import { rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import fc from 'fast-check';
import { beforeAll, describe, expect, test } from 'vitest';

import type { Bounds } from '../../src/geo/bounds.js';
import { createGeometryCache } from '../../src/loaders/geometry-cache.js';
import { readViewport } from '../../src/map/viewport.js';
import { collectionZones, viewportZones, zoneCount, zoneMarkers, zonesAt } from '../../src/map/zones/zones.js';
import { createFolderStore } from '../../src/objects/folder-store.js';
import { newCall } from '../../src/store/database.js';
import { send } from '../../src/store/request/send.js';
import { deleteZone, updateZone } from '../../src/store/zone/zone-changes.js';
import { createZone } from '../../src/store/zone/zones.js';
import { star, windingContains } from '../geo/zone-shapes.js';
import { randomFrom } from '../support/random.js';
import { recordCalls } from '../support/record-calls.js';
import { inTurn, someOf, variants } from '../support/rounds.js';
import { box, rectangle } from '../support/shapes.js';
import { temporaryFolder } from '../support/temporary-folder.js';
import { newDatabase, testCollection, testDatabase } from '../support/test-database.js';
import { makeCollection, NOW, requestContext } from './fixture.js';

const turn = inTurn(2);
const folder = temporaryFolder();
const geometryStore = { objects: createFolderStore(folder), inlineBytes: 400 };

type Ring = readonly (readonly [number, number])[];

/** Stars of every size all over the globe, some with several parts, and the globe itself. */
const RINGS: readonly (readonly Ring[])[] = [
  ...fc.sample(fc.array(star, { minLength: 1, maxLength: 3 }), { numRuns: 60, seed: 7 }),
  [box(-180, -90, 180, 90)],
];

/** By the winding number of the raw rings, at every turn of the globe. */
function bruteAt(rings: readonly Ring[], lng: number, lat: number) {
  const seen = [-360, 0, 360].map((turn) =>
    windingContains(
      rings.map((ring) => [ring]),
      [lng + turn, lat],
    ),
  );
  return { inside: seen.some(({ inside }) => inside), near: seen.some(({ near }) => near) };
}

describe.each(variants(['readable', 'compact'] as const))('zones, with %s keys', async (style) => {
  const db = await testDatabase(style);
  const made = await testCollection(db, { key: 'stars', name: 'Stars', code: 'St' }, NOW);
  // The other slot, as after a repartition.
  const stars = { ...made, geoSlot: style === 'compact' ? ('B' as const) : ('A' as const) };
  const moved = { ...db.keys.collection('stars'), ...stars, description: undefined, readingsTtlDays: undefined };
  await send(newCall(db), 'put', { TableName: db.tables.entities, Item: moved });
  const names = RINGS.map((_, index) => `z${index}`);
  beforeAll(async () => {
    for (const [index, rings] of RINGS.entries()) {
      const geometry = { type: 'MultiPolygon', coordinates: rings.map((ring) => [ring]) };
      await createZone(newCall({ ...db, geometry: geometryStore }), stars, { key: `z${index}`, geometry }, NOW);
    }
  });
  const context = (more = {}) => requestContext({ ...db, geometry: geometryStore }, more);

  test('at a position are those that a brute-force winding number finds, by three Query calls and one batch', async () => {
    const own = newDatabase(style, { tables: db.tables });
    const calls = recordCalls(own);
    const random = randomFrom(11);
    const geometryCache = createGeometryCache({ maxBytes: 64e6 });
    let found = 0;
    for (let n = 0; n < someOf(160); n++) {
      const rings = RINGS[Math.floor(random() * RINGS.length)]!;
      const ring = rings[Math.floor(random() * rings.length)]!;
      const [ax, ay] = ring[Math.floor(random() * ring.length)]!;
      const [bx, by] = ring[Math.floor(random() * ring.length)]!;
      const along = random() * 1.2 - 0.1;
      const x = ax + along * (bx - ax);
      const lng = ((((x + 180) % 360) + 360) % 360) - 180;
      const lat = Math.max(-90, Math.min(90, ay + along * (by - ay)));
      const expected = RINGS.map((one) => bruteAt(one, lng, lat));
      calls.reset();
      const { context: map } = requestContext({ ...own, geometry: geometryStore }, { geometryCache });
      const zones = (await zonesAt(map, stars, { lng, lat })).map(({ key }) => key);
      expect(calls.count('Query')).toBeLessThanOrEqual(3);
      expect(calls.count('BatchGetItem')).toBeLessThanOrEqual(1);
      expect(calls.count()).toBe(calls.count('Query') + calls.count('BatchGetItem'));
      expected.forEach(({ inside, near }, index) => {
        if (!near)
          expect([lng, lat, names[index], zones.includes(`z${index}`)]).toEqual([lng, lat, names[index], inside]);
      });
      expect(zones).toEqual(zones.toSorted());
      found += zones.length;
    }
    expect(found).toBeGreaterThan(60);
    own.client.destroy();
  });

  test('on the antimeridian and at the poles are found from both sides', async () => {
    const { context: map } = context();
    for (const lat of [-90, -45, 0, 12.3, 90]) {
      const sides = await Promise.all([180, -180].map((lng) => zonesAt(map, stars, { lng, lat })));
      const [east, west] = sides.map((zones) => zones.map(({ key }) => key));
      expect(east).toEqual(west);
      expect(east).toContain(`z${RINGS.length - 1}`);
    }
  });

  const pages = async (read: (after: string | null) => ReturnType<typeof collectionZones>) => {
    const keys: string[] = [];
    let after: string | null = null;
    for (let n = 0; n < 1_000; n++) {
      const { edges, pageInfo } = await read(after);
      keys.push(...edges.map(({ node }) => node.key));
      expect(pageInfo.hasPreviousPage).toBe(after !== null);
      if (!pageInfo.hasNextPage) return keys;
      after = pageInfo.endCursor;
    }
    throw new Error('it never ends');
  };

  test('of a collection are paged in key order, each once', async () => {
    const { context: map } = context();
    for (const first of [1, 7, 50, 5_000]) {
      expect(await pages((after) => collectionZones(map, stars, { first, after }))).toEqual([...names].sort());
    }
  });

  const VIEWPORTS: readonly Bounds[] = [
    { west: -180, south: -90, east: 180, north: 90 },
    { west: 160, south: -30, east: 220, north: 40 },
    { west: -20, south: -20, east: 20, north: 20 },
    { west: 179, south: -1, east: -179, north: 1 },
    { west: 0, south: 0, east: 0, north: 0 },
    { west: 16, south: 52, east: 17.5, north: 53 },
    { west: 44.9, south: 5, east: 45.1, north: 6 },
    { west: -170, south: 70, east: 170, north: 90 },
    ...RINGS.slice(0, 10).map(([ring]) => {
      const [lng, lat] = ring![0]!;
      return { west: lng - 0.01, south: lat - 0.01, east: lng + 0.02, north: Math.min(90, lat + 0.01) };
    }),
  ];

  /** Whether a rectangle intersects a ring: an edge crosses it, or one contains the other. */
  function bruteMeets(ring: Ring, { west, south, east, north }: Bounds): boolean {
    const corners = [
      [west, south],
      [east, south],
      [east, north],
      [west, north],
    ] as const;
    if (ring.some(([x, y]) => west <= x && x <= east && south <= y && y <= north)) return true;
    if (corners.some((corner) => windingContains([[ring]], corner).inside)) return true;
    const side = (
      [ax, ay]: readonly [number, number],
      [bx, by]: readonly [number, number],
      [x, y]: readonly [number, number],
    ) => (bx - ax) * (y - ay) - (by - ay) * (x - ax);
    return ring.slice(1).some((to, index) => {
      const from = ring[index]!;
      return corners.some((a, nth) => {
        const b = corners[(nth + 1) % 4]!;
        return side(from, to, a) * side(from, to, b) <= 0 && side(a, b, from) * side(a, b, to) <= 0;
      });
    });
  }

  test.each(VIEWPORTS)(
    'in %j are those that intersect it by brute force, each once across all pages',
    async (bounds) => {
      const { context: map } = context();
      const viewport = readViewport({ bounds, zoom: 5 });
      const east = bounds.east < bounds.west ? bounds.east + 360 : bounds.east;
      const expected = RINGS.flatMap((rings, index) =>
        rings.some((ring) =>
          [-720, -360, 0, 360, 720].some((turn) =>
            bruteMeets(ring, { ...bounds, west: bounds.west + turn, east: east + turn }),
          ),
        )
          ? [`z${index}`]
          : [],
      ).sort();
      for (const first of [3, 100]) {
        expect(await pages((after) => viewportZones(map, viewport, 'stars', { first, after }))).toEqual(expected);
      }
      const { context: few, call } = context();
      await viewportZones(few, viewport, 'stars', { first: 100 });
      expect(call.meter.queries).toBeLessThanOrEqual(48);
    },
  );

  test('in a viewport keep their order whichever way they are found, and a cursor of another list is rejected', async () => {
    const viewport = readViewport({ bounds: VIEWPORTS[2]!, zoom: 4 });
    const { context: all } = context();
    // With so few covers per read, all zones are scanned by key instead.
    const { context: scarce } = context({ limits: { itemsPerField: 1 } });
    const one = await viewportZones(all, viewport, 'stars', { first: 5 });
    const read = (map: typeof all, after: string | null) =>
      viewportZones(map, viewport, 'stars', { first: 100, after }).then(({ edges }) =>
        edges.map(({ node }) => node.key),
      );
    expect(one.pageInfo.hasNextPage).toBe(true);
    const rest = await read(all, one.pageInfo.endCursor);
    expect(rest.length).toBeGreaterThan(3);
    expect(await read(scarce, one.pageInfo.endCursor)).toEqual(rest);
    await expect(collectionZones(all, stars, { first: 1, after: one.pageInfo.endCursor })).rejects.toMatchObject({
      code: 'BAD_USER_INPUT',
      details: { field: 'after' },
    });
  });
});

describe('a zone whose geometry is stored in an object', async () => {
  const db = await testDatabase();
  const lakes = await testCollection(db, { key: 'lakes', name: 'Lakes' }, NOW);
  const square = (lng: number, size: number) => rectangle(lng, 0, lng + size, size);
  const outside = { objects: createFolderStore(join(folder, 'lakes')), inlineBytes: 0 };
  const make = (key: string, lng: number) =>
    createZone(newCall({ ...db, geometry: outside }), lakes, { key, geometry: square(lng, 5) }, NOW);
  const context = () => requestContext({ ...db, geometry: outside }).context;
  const pathOf = (object: string | undefined) => join(folder, 'lakes', object!);

  test('is read from there, reports its source, and is cached by its hash', async () => {
    const zone = await make('near', 10);
    const geometryCache = createGeometryCache({ maxBytes: 1e6 });
    const { context: map, call } = requestContext({ ...db, geometry: outside }, { geometryCache });
    expect((await map.loaders.zones.geometry(zone)).geometry).toEqual(square(10, 5));
    expect(map.loaders.zones.geometrySource(zone)).toBe(pathOf(zone.geometry.object));
    rmSync(pathOf(zone.geometry.object));
    expect(call.meter.cacheHits).toBe(0);
    const { context: again, call: second } = requestContext({ ...db, geometry: outside }, { geometryCache });
    expect((await again.loaders.zones.geometry(zone)).geometry).toEqual(square(10, 5));
    expect(second.meter.cacheHits).toBe(1);
    // Many geometries are too large for the cache, but their coarse copies fit.
    const coarse = await again.loaders.zones.coarseGeometry(zone, 0.5);
    expect(JSON.parse(String(coarse))).toEqual(square(10, 5));
    const { context: third } = requestContext({ ...db, geometry: outside }, { geometryCache: { ...geometryCache, geometries: createGeometryCache({ maxBytes: 0 }).geometries } }); // prettier-ignore
    expect(await third.loaders.zones.coarseGeometry(zone, 0.5)).toEqual(coarse);
    await expect(third.loaders.zones.coarseGeometry(zone, 0.25)).rejects.toMatchObject({ code: 'UNAVAILABLE' });
  });

  test.each([
    ['missing', (path: string) => rmSync(path)],
    ['cut short', (path: string) => writeFileSync(path, 'x')],
    ['another one', (path: string) => writeFileSync(path, Buffer.from([31, 139, 8]))],
  ])('that is %s is UNAVAILABLE where the geometry is needed, and nowhere else', async (_, damage) => {
    const key = `broken ${_}`;
    const zone = await make(key, 40);
    damage(pathOf(zone.geometry.object));
    const map = context();
    await expect(map.loaders.zones.geometry(zone)).rejects.toMatchObject({ code: 'UNAVAILABLE' });
    expect(await map.loaders.entities.zone('lakes', key)).toEqual(zone);
    await expect(zonesAt(context(), lakes, { lng: 42, lat: 2 })).rejects.toMatchObject({ code: 'UNAVAILABLE' });
    // Elsewhere nothing fails.
    expect(await zonesAt(context(), lakes, { lng: 100, lat: 2 })).toEqual([]);
    const viewport = readViewport({ bounds: { west: 41, south: 1, east: 42, north: 2 }, zoom: 9 });
    const { edges } = await viewportZones(context(), viewport, 'lakes', { first: 10 });
    expect(edges.map(({ node }) => node.key)).toEqual([key]);
    await deleteZone(newCall({ ...db, geometry: outside }), { collection: lakes, key }, undefined);
  });

  test('whose object was replaced after its item was read is returned with its new geometry', async () => {
    const before = await make('moving', 80);
    await updateZone(
      newCall({ ...db, geometry: outside }),
      { collection: lakes, key: 'moving' },
      { geometry: square(81, 5) },
      { now: NOW },
    );
    expect((await context().loaders.zones.geometry(before)).geometry).toEqual(square(81, 5));
  });
});

test('the markers inside a zone are those that brute force finds, page by page, and as many are counted; a line has none', async ({
  skip,
  task,
}) => {
  skip(!turn(task));
  const db = await testDatabase();
  const random = randomFrom(3);
  const markers = Array.from({ length: 1_000 }, (_, n) => ({
    key: `m${n}`,
    position: { lng: random() * 360 - 180, lat: random() * 160 - 80 },
    category: n % 2 === 0 ? 'even' : 'odd',
    properties: {},
  }));
  const places = await makeCollection(db, { key: 'places', prefixLength: 0 }, markers);
  const own = { objects: undefined, inlineBytes: 100_000 };
  const { context: map } = requestContext({ ...db, geometry: own });
  for (const [index, rings] of RINGS.slice(-6).entries()) {
    const geometry = { type: 'MultiPolygon', coordinates: rings.map((ring) => [ring]) };
    const zone = await createZone(newCall({ ...db, geometry: own }), places, { key: `z${index}`, geometry }, NOW);
    const expected = markers
      .filter(({ position: { lng, lat } }) => bruteAt(rings, lng, lat).inside)
      .map(({ key }) => key);
    const keys: string[] = [];
    for (let after: string | null = null, more = true; more;) {
      const { edges, pageInfo } = await zoneMarkers(map, zone, 'places', { first: 700, after });
      keys.push(...edges.map(({ node }) => node.key));
      ({ hasNextPage: more, endCursor: after } = pageInfo);
    }
    expect(keys.toSorted()).toEqual(expected.toSorted());
    expect(await zoneCount(map, zone, 'places')).toBe(expected.length);
  }
  const line = {
    type: 'LineString',
    coordinates: [markers[0]!.position, markers[1]!.position].map(({ lng, lat }) => [lng, lat]),
  };
  const road = await createZone(newCall({ ...db, geometry: own }), places, { key: 'road', geometry: line }, NOW);
  const { edges, pageInfo } = await zoneMarkers(map, road, 'places', { first: 10 });
  expect([edges, pageInfo.hasNextPage, await zoneCount(map, road, 'places')]).toEqual([[], false, 0]);
});
