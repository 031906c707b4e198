import { beforeAll, describe, expect, test } from 'vitest';

import { cellBounds, encode } from '../../src/geo/geohash.js';
import { cellAt, cellChildren, cellOfMarker, cellParent, viewportCells } from '../../src/map/cells/cells.js';
import { viewportClusters } from '../../src/map/cells/clusters.js';
import { collectionBounds, collectionCount } from '../../src/map/collection.js';
import { viewportAuto } from '../../src/map/content.js';
import { viewportFeatures, type PointFeature } from '../../src/map/features.js';
import { viewportMarkers } from '../../src/map/markers.js';
import { readViewport, type Viewport } from '../../src/map/viewport.js';
import type { Collection } from '../../src/model/collection.js';
import { memoryDatabase } from '../support/memory-store.js';
import { recordCalls } from '../support/record-calls.js';
import { bruteCells, makeCollection, realMarkers, requestContext, type Made } from './fixture.js';

const database = memoryDatabase();
const calls = recordCalls(database);
const MARKERS = realMarkers(250);
let cities: Collection;

beforeAll(async () => {
  cities = await makeCollection(database, { key: 'cities' }, MARKERS);
});

const at = (key: string, lng: number, lat: number): Made => ({
  key,
  position: { lng, lat },
  category: 'x',
  properties: {},
});
const WORLD = readViewport({ bounds: { west: -180, south: -90, east: 180, north: 90 }, zoom: 1 });

describe('a cell', () => {
  test('of every length has the count, sums, parent and children that a linear scan finds', async () => {
    for (const marker of MARKERS.filter((_, index) => index % 97 === 0)) {
      const { context } = requestContext(database);
      for (let length = 1; length <= 12; length++) {
        const geohash = encode(marker.position, length);
        const cell = await cellAt(context, cities, geohash);
        expect(cell).toEqual({ collection: cities, geohash, ...bruteCells(MARKERS, length).get(geohash) });
        const children = await cellChildren(context, cell);
        const expected =
          length === 12 ? [] : [...bruteCells(MARKERS, length + 1)].filter(([hash]) => hash.startsWith(geohash));
        expect(
          new Map(children.map(({ geohash: hash, count, sumLng, sumLat }) => [hash, { count, sumLng, sumLat }])),
        ).toEqual(new Map(expected));
        expect((await cellParent(context, cell))?.geohash ?? null).toBe(length === 1 ? null : geohash.slice(0, -1));
      }
    }
  });

  test('without markers has a count of 0 and no children', async () => {
    const { context } = requestContext(database);
    for (const geohash of ['h', 'h0', 'h0h0h', 'h0h0h0', 'h0h0h0h0h0h0']) {
      const hash = MARKERS.some(({ position }) => encode(position, geohash.length) === geohash) ? 'k00000' : geohash;
      const cell = await cellAt(context, cities, hash);
      expect(cell).toMatchObject({ count: 0 });
      expect(await cellChildren(context, cell)).toEqual([]);
    }
  });

  test('of many markers are read in one batch', async () => {
    const { context } = requestContext(database);
    const page = await viewportMarkers(context, WORLD, 'cities', { first: 100 });
    calls.reset();
    const cells = await Promise.all(page.edges.map(({ node }) => cellOfMarker(context, node, 5)));
    expect(calls.count('BatchGetItem')).toBe(1);
    expect(calls.count('Query')).toBe(0);
    const brute = bruteCells(MARKERS, 5);
    expect(cells.map(({ count }) => count)).toEqual(cells.map(({ geohash }) => brute.get(geohash)?.count));
  });

  test.each([0, 13, 1.5, -1, Number.NaN])('with precision %s is rejected', async (precision) => {
    const { context } = requestContext(database);
    const refused = { code: 'BAD_USER_INPUT', details: { field: 'precision' } };
    await expect(viewportCells(context, WORLD, 'cities', precision)).rejects.toMatchObject(refused);
  });

  test('in a bounding box that takes too many reads are rejected with advice', async () => {
    const { context } = requestContext(database, { limits: { queryCalls: 2 } });
    await expect(viewportCells(context, WORLD, 'cities', 9)).rejects.toMatchObject({
      code: 'LIMIT_EXCEEDED',
      details: { field: 'cells' },
      message: expect.stringContaining('a precision of 5 or less'),
    });
  });
});

describe('a collection', () => {
  test('has the count of its markers and the bounding box of its cells of length 4', async () => {
    const { context } = requestContext(database);
    expect(await collectionCount(context, cities)).toBe(MARKERS.length);
    expect(await collectionBounds(context, cities)).toEqual({ west: -180, south: -90, east: 180, north: 90 });
  });

  test('that is empty counts 0 and has no bounds', async () => {
    const empty = await makeCollection(database, { key: 'empty' }, []);
    const { context } = requestContext(database);
    expect(await collectionCount(context, empty)).toBe(0);
    expect(await collectionBounds(context, empty)).toBeNull();
  });

  test('has the smallest bounds of its cells, found without reading most of them', async () => {
    const poland = MARKERS.filter(({ position: { lng, lat } }) => lng > 5 && lng < 30 && lat > 45 && lat < 60);
    const some = await makeCollection(database, { key: 'some' }, poland);
    const edges = [...bruteCells(poland, 4).keys()].map(cellBounds);
    const { context, call } = requestContext(database);
    expect(await collectionBounds(context, some)).toEqual({
      west: Math.min(...edges.map(({ west }) => west)),
      south: Math.min(...edges.map(({ south }) => south)),
      east: Math.max(...edges.map(({ east }) => east)),
      north: Math.max(...edges.map(({ north }) => north)),
    });
    expect(call.meter.getItems).toBeLessThan(40);
  });

  test('on both sides of the antimeridian has bounds that cross it', async () => {
    const fiji = await makeCollection(database, { key: 'fiji' }, [
      at('a', 178.4, -18.1),
      at('b', -179.2, -17),
      at('c', 180, -16),
    ]);
    const bounds = await collectionBounds(requestContext(database).context, fiji);
    expect(bounds).toEqual({
      west: cellBounds(encode({ lng: 178.4, lat: -18.1 }, 4)).west,
      south: cellBounds(encode({ lng: 178.4, lat: -18.1 }, 4)).south,
      east: cellBounds(encode({ lng: -179.2, lat: -17 }, 4)).east,
      north: cellBounds(encode({ lng: 180, lat: -16 }, 4)).north,
    });
  });
});

describe('an expansion zoom', () => {
  const zoomsOf = async (key: string, zoom: number, bounds = WORLD.area.bounds) => {
    const { context } = requestContext(database);
    const clusters = await viewportClusters(context, readViewport({ bounds, zoom }), key);
    const zooms = await Promise.all(clusters.map((cluster) => cluster.expansionZoom()));
    return { clusters, zooms };
  };

  test('is the lowest zoom at which the cluster splits', async () => {
    await makeCollection(database, { key: 'pair' }, [at('a', 16.9, 52.4), at('b', 17.3, 52.2)]);
    const bounds = { west: 15, south: 51, east: 19, north: 54 };
    const shown = async (zoom: number) => (await zoomsOf('pair', zoom, bounds)).clusters.length;
    for (const zoom of [0, 2, 3]) {
      const { clusters, zooms } = await zoomsOf('pair', zoom);
      expect(clusters).toHaveLength(1);
      const falls = zooms[0] ?? Number.NaN;
      expect(await shown(falls)).toBe(2);
      for (let before = zoom + 1; before < falls; before++) expect(await shown(before)).toBe(1);
    }
  });

  test('of markers at one position is the maximum zoom', async () => {
    await makeCollection(
      database,
      { key: 'heap' },
      Array.from({ length: 5 }, (_, index) => at(`h${index}`, 16.9, 52.4)),
    );
    expect((await zoomsOf('heap', 3)).zooms).toEqual([30]);
  });

  test('is read for all clusters together, within the budget of a field', async () => {
    const { context } = requestContext(database);
    const view = readViewport({ bounds: { west: -15, south: 35, east: 40, north: 65 }, zoom: 5 });
    const clusters = await viewportClusters(context, view, 'cities');
    calls.reset();
    const zooms = await Promise.all(clusters.map((cluster) => cluster.expansionZoom()));
    expect(calls.count('Query')).toBeLessThanOrEqual(64);
    for (const zoom of zooms) expect(zoom).toBeGreaterThan(5);
  });
});

test('features of clusters say so, and those of markers carry key, name and category', async () => {
  const { context } = requestContext(database);
  const featuresOf = async (viewport: Viewport, limit: number): Promise<readonly PointFeature[]> => {
    return JSON.parse(String(await viewportFeatures(context, viewport, 'cities', limit))).features;
  };
  const features = await featuresOf(WORLD, 10);
  expect(features.length).toBeLessThanOrEqual(10);
  const counted = features.reduce((sum, { properties }) => sum + Number(properties['count']), 0);
  expect(counted).toBe(MARKERS.length);
  const small = readViewport({ bounds: { west: 16.8, south: 52.3, east: 17, north: 52.5 }, zoom: 10 });
  const [first] = await featuresOf(small, 100);
  expect(first).toMatchObject({
    type: 'Feature',
    id: expect.stringMatching(/^marker::cities::/),
    geometry: { type: 'Point', coordinates: [expect.any(Number), expect.any(Number)] },
    properties: { key: expect.any(String), category: expect.any(String) },
  });
});

test('clusters are made from the finest cells that the budget allows', async () => {
  const small = readViewport({ bounds: { west: 16, south: 52, east: 18, north: 53 }, zoom: 14 });
  const { context } = requestContext(database, { trusted: false, limits: { itemsPerField: 20 } });
  const auto = await viewportAuto(context, small, 'cities', 1);
  expect(auto.mode).toBe('CLUSTERS');
  expect(auto.precision).toBe(5);
});

test.each([
  [{ radius: 0 }, 'radius'],
  [{ radius: 513 }, 'radius'],
  [{ limit: 0 }, 'limit'],
  [{ limit: 5001 }, 'limit'],
] as const)('%o is rejected', async (input: { radius?: number; limit?: number }, field) => {
  const { context } = requestContext(database);
  const asked =
    input.radius === undefined
      ? viewportAuto(context, WORLD, 'cities', input.limit ?? 0)
      : viewportClusters(context, WORLD, 'cities', input.radius);
  await expect(asked).rejects.toMatchObject({ code: 'BAD_USER_INPUT', details: { field } });
});

test.each([Number.NaN, Infinity, -2.1, 30.1, '3'])('a zoom of %s is rejected', (zoom) => {
  const bounds = { west: 0, south: 0, east: 1, north: 1 };
  expect(() => readViewport({ bounds, zoom: zoom as number })).toThrow(/zoom/);
});
