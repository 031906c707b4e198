import fc from 'fast-check';
import { describe, expect, test } from 'vitest';

import { CellportError } from '../../src/errors.js';
import type { Point } from '../../src/geo/bounds.js';
import { encode } from '../../src/geo/geohash.js';
import type { MarkerConnection } from '../../src/map/connection.js';
import { markersInside } from '../../src/map/near/inside.js';
import type { Collection } from '../../src/model/collection.js';
import type { MapContext } from '../../src/read/context.js';
import { bruteRing } from '../geo/zone-shapes.js';
import { memoryDatabase } from '../support/memory-store.js';
import { randomFrom } from '../support/random.js';
import { recordCalls } from '../support/record-calls.js';
import { someOf, variants } from '../support/rounds.js';
import { LAYOUTS, makeCollection, realMarkers, requestContext } from './fixture.js';

type Ring = (readonly [number, number])[];

const MARKERS = realMarkers(250);
const databases = { readable: memoryDatabase('readable'), compact: memoryDatabase('compact') };
const SEED = Number(process.env['CELLPORT_SEED'] ?? 20261121);
const RUNS = someOf(8);

/** Locates a position relative to a ring, on every turn of the globe. */
function locate(ring: Ring, { lng, lat }: Point): 'in' | 'on' | 'out' {
  const found = [-360, 0, 360].map((turn) => bruteRing(ring, lng + turn, lat));
  return found.includes('on') ? 'on' : found.includes('in') ? 'in' : 'out';
}

const brute = (polygons: readonly (readonly Ring[])[], position: Point) =>
  polygons.some(
    ([outer = [], ...holes]) =>
      locate(outer, position) !== 'out' && holes.every((hole) => locate(hole, position) !== 'in'),
  );

/** A star around a position; one of its corners may be that of a marker. */
const star = ({ lng, lat }: Point, radius: number, corners: readonly number[], squeeze = 1): Ring => {
  const ring = corners.map((reach, index): [number, number] => {
    const angle = (2 * Math.PI * index) / corners.length;
    const y = lat + radius * squeeze * reach * Math.sin(angle);
    return [lng + radius * squeeze * reach * Math.cos(angle), Math.max(-90, Math.min(90, y))];
  });
  return [...ring, ring[0]!];
};

const aPlace = fc.constantFrom(...MARKERS.filter((_, index) => index % 7 === 0).map(({ position }) => position));
const aPolygon = fc
  .record({
    at: aPlace,
    corner: fc.option(aPlace),
    radius: fc.constantFrom(0.01, 0.5, 5, 40, 120),
    corners: fc.array(fc.double({ min: 0.3, max: 1, noNaN: true }), { minLength: 3, maxLength: 60 }),
    hole: fc.boolean(),
  })
  .map(({ at, corner, radius, corners, hole }): Ring[] => {
    const outer = star(at, radius, corners);
    // Less than half the globe, beyond which the shorter way is the other way round.
    if (corner && Math.abs(corner.lng - at.lng) < 60) outer.splice(1, 0, [corner.lng, corner.lat]);
    return hole ? [outer, star(at, radius, corners, 0.4)] : [outer];
  });

const question = fc.oneof(
  aPolygon.map((rings) => [rings]),
  fc.tuple(aPolygon, aPolygon),
  fc.constant([[[[-180, -90], [180, -90], [180, 90], [-180, 90], [-180, -90]] as Ring]]),
  fc.constant([[[[0, 0], [180, 0], [180, 90], [0, 90], [0, 0]] as Ring]]),
); // prettier-ignore

const geometryOf = (polygons: readonly (readonly Ring[])[]) =>
  polygons.length === 1
    ? { type: 'Polygon', coordinates: polygons[0] }
    : { type: 'MultiPolygon', coordinates: polygons };

async function pages(
  context: MapContext,
  collection: Collection,
  polygon: unknown,
  first: number,
  count: () => number,
) {
  const keys: string[] = [];
  let most = 0;
  for (let after: string | null = null; ;) {
    const before = count();
    const page: MarkerConnection = await markersInside(context, collection, polygon, { first, after });
    most = Math.max(most, count() - before);
    keys.push(...page.edges.map(({ node }) => node.key));
    if (!page.pageInfo.hasNextPage) return { keys, most };
    after = page.pageInfo.endCursor;
  }
}

describe.each(variants(LAYOUTS, 2))('polygon queries in the collection $key', ({ style, ...input }) => {
  const database = databases[style];
  const made = makeCollection(database, input, MARKERS);
  const calls = recordCalls(database);

  test.each([true, false])(
    'find the markers that a linear scan finds, page by page in order, within the budget (counts trusted: %s)',
    async (trusted) => {
      const collection = await made;
      await fc.assert(
        fc.asyncProperty(question, fc.constantFrom(3, 40, 5000), async (polygons, size) => {
          const inside = MARKERS.filter(({ position }) => brute(polygons, position));
          const wide = polygons.flat(2).some(([lng]) => Math.abs(lng - polygons[0]![0]![0]![0]) > 1);
          // Without counts, long prefixes can only be scanned partition by partition, most of them empty.
          fc.pre(trusted || input.key !== 'p4s3' || !wide);
          const first = Math.max(size, Math.ceil(inside.length / 6));
          const { context } = requestContext(database, { trusted });
          const { keys, most } = await pages(context, collection, geometryOf(polygons), first, () =>
            calls.count('Query'),
          );
          expect(keys.toSorted()).toEqual(inside.map(({ key }) => key).toSorted());
          const hashes = new Map(inside.map(({ key, position }) => [key, encode(position, 10)]));
          const order = keys.map((key) => hashes.get(key) ?? '');
          expect(order).toEqual(order.toSorted());
          expect(most).toBeLessThanOrEqual(64);
        }),
        { numRuns: RUNS, seed: SEED },
      );
    },
  );
});

describe('a polygon query', () => {
  const database = databases.readable;
  const calls = recordCalls(database);
  const cities = makeCollection(database, { key: 'inside' }, MARKERS);
  const keysOf = (page: MarkerConnection) => page.edges.map(({ node }) => node.key);
  const ask = async (polygon: unknown, filter?: Parameters<typeof markersInside>[4]) =>
    keysOf(await markersInside(requestContext(database).context, await cities, polygon, { first: 5000 }, filter));

  test('with 10,000 vertices finds the markers that a test of every edge finds', async () => {
    const random = randomFrom(SEED);
    const corners = Array.from({ length: 9_999 }, () => 0.5 + random() / 2);
    const ring = star({ lng: 10, lat: 48 }, 20, corners);
    expect(ring).toHaveLength(10_000);
    const inside = MARKERS.filter(({ position }) => brute([[ring]], position)).map(({ key }) => key);
    expect(inside.length).toBeGreaterThan(40);
    expect((await ask({ type: 'Polygon', coordinates: [ring] })).toSorted()).toEqual(inside.toSorted());
  });

  test('over an empty country takes only the Query calls for its cells, and reads no marker outside', async () => {
    await cities;
    const thin: Ring = [[-30, 30], [-29.9, 30], [-10.9, 49], [-11, 49], [-30, 30]]; // prettier-ignore
    const { context, call } = requestContext(database);
    calls.reset();
    const page = await markersInside(context, await cities, { type: 'Polygon', coordinates: [thin] }, { first: 100 });
    expect([page.edges.length, page.pageInfo.hasNextPage]).toEqual([0, false]);
    expect(calls.count('Query')).toBeLessThanOrEqual(8);
    // The bounding box of the strip contains hundreds of them.
    expect(call.meter.itemsScanned).toBeLessThan(40);
  });

  test('across the antimeridian finds markers on it from both sides, in each of three notations', async () => {
    const box = (west: number, east: number): Ring => [[west, -90], [east, -90], [east, 90], [west, 90], [west, -90]]; // prettier-ignore
    const expected = MARKERS.filter(({ position: { lng } }) => Math.abs(lng) >= 170).map(({ key }) => key);
    const ways = [
      { type: 'Polygon', coordinates: [box(170, 190)] },
      { type: 'Polygon', coordinates: [box(170, -170)] },
      { type: 'MultiPolygon', coordinates: [[box(170, 180)], [box(-180, -170)]] },
    ];
    for (const polygon of ways) expect((await ask(polygon)).toSorted()).toEqual(expected.toSorted());
    for (const [west, east] of [[170, 180], [-180, -170], [180, 180.5]] as const) {
      const keys = await ask({ type: 'Polygon', coordinates: [box(west, east)] });
      for (const { key } of MARKERS.filter(({ position: { lng } }) => Math.abs(lng) === 180)) expect(keys).toContain(key);
    } // prettier-ignore
  });

  test('omits markers that do not match the filter', async () => {
    const polygon = { type: 'Polygon', coordinates: [[[-12, 30], [40, 30], [40, 70], [-12, 70], [-12, 30]]] }; // prettier-ignore
    const french = MARKERS.filter(({ category }) => category === 'FR').map(({ key }) => key);
    const inEurope = MARKERS.filter(({ key, position: { lng } }) => french.includes(key) && lng > -12);
    expect(inEurope.length).toBeGreaterThan(5);
    expect((await ask(polygon, { category: ['FR'] })).toSorted()).toEqual(inEurope.map(({ key }) => key).toSorted());
  });

  test('rejects a cursor of another polygon, and an invalid polygon', async () => {
    const { context } = requestContext(database);
    const europe = { type: 'Polygon', coordinates: [[[-12, 30], [40, 30], [40, 70], [-12, 30]]] }; // prettier-ignore
    const other = { type: 'Polygon', coordinates: [[[-12, 30], [41, 30], [40, 70], [-12, 30]]] }; // prettier-ignore
    const { pageInfo } = await markersInside(context, await cities, europe, { first: 2 });
    const after = pageInfo.endCursor;
    await expect((async () => markersInside(context, await cities, other, { first: 2, after }))()).rejects.toThrow(
      'after must be',
    );
    await expect(ask({ type: 'Point', coordinates: [1, 2] })).rejects.toThrow(CellportError);
    await expect(ask({ type: 'Polygon', coordinates: [[[0, 0], [1, 1], [0, 0]]] })).rejects.toThrow(
      'polygon.coordinates[0] must be a ring of at least 4 positions',
    ); // prettier-ignore
  });
});
