import fc from 'fast-check';
import { beforeAll, describe, expect, test } from 'vitest';

import { CellportError } from '../../src/errors.js';
import type { Point } from '../../src/geo/bounds.js';
import { HALF_AROUND } from '../../src/geo/circle.js';
import { EARTH_RADIUS } from '../../src/geo/distance.js';
import { markersWithin, nearestMarkers, type NearbyConnection } from '../../src/map/near/near.js';
import type { Collection } from '../../src/model/collection.js';
import type { MapContext } from '../../src/read/context.js';
import type { MarkerFilterInput } from '../../src/read/filter.js';
import { newCall } from '../../src/store/database.js';
import { newMarkerItem } from '../../src/store/marker/marker-item.js';
import { send } from '../../src/store/request/send.js';
import { memoryDatabase } from '../support/memory-store.js';
import { randomFrom } from '../support/random.js';
import { recordCalls } from '../support/record-calls.js';
import { rounds, variants } from '../support/rounds.js';
import { edgePositions, LAYOUTS, makeCollection, NOW, realMarkers, requestContext, type Made } from './fixture.js';
import { brute, FARTHEST, toNear, type Near } from './near-scan.js';

const MARKERS = realMarkers(250);
const databases = { readable: memoryDatabase('readable'), compact: memoryDatabase('compact') };
const SEED = Number(process.env['CELLPORT_SEED'] ?? 20261121);
const RUNS = rounds('radiusQueries');
/** The same distance from the angle between two vectors, independent of the haversine formula. */
function byVectors(a: Point, b: Point): number {
  const vector = ({ lng, lat }: Point) => {
    const [x, y] = [(lng * Math.PI) / 180, (lat * Math.PI) / 180];
    return [Math.cos(y) * Math.cos(x), Math.cos(y) * Math.sin(x), Math.sin(y)] as const;
  };
  const [p, q] = [vector(a), vector(b)];
  const cross = [p[1] * q[2] - p[2] * q[1], p[2] * q[0] - p[0] * q[2], p[0] * q[1] - p[1] * q[0]];
  return EARTH_RADIUS * Math.atan2(Math.hypot(...cross), p[0] * q[0] + p[1] * q[1] + p[2] * q[2]);
}

const places: readonly Point[] = [
  ...edgePositions(),
  ...MARKERS.filter((_, index) => index % 9 === 0).map(({ position }) => position),
  { lng: -140, lat: -45 },
  { lng: 16.9, lat: 52.4 },
];
const aCenter = fc.oneof(
  fc.constantFrom(...places),
  fc
    .tuple(
      fc.constantFrom(...places),
      fc.double({ min: -0.5, max: 0.5, noNaN: true }),
      fc.double({ min: -0.5, max: 0.5, noNaN: true }),
    )
    .map(([{ lng, lat }, x, y]): Point => ({
      lng: Math.max(-180, Math.min(180, lng + x)),
      lat: Math.max(-90, Math.min(90, lat + y)),
    })),
);
const aRadius = fc.oneof(
  fc.double({ min: 1, max: 7.3, noNaN: true }).map((power) => Math.min(HALF_AROUND, 10 ** power)),
  fc.constantFrom(0, 1, 50_000, 500_000, 3_000_000, 10_007_557, FARTHEST),
);

interface Asked {
  readonly center: Point;
  readonly radius: number;
  readonly first: number;
  readonly filter?: MarkerFilterInput;
}

async function pages(
  context: MapContext,
  collection: Collection,
  { center, radius, first, filter }: Asked,
  count: () => number,
) {
  const found: Near[] = [];
  let most = 0;
  let number = 0;
  for (let after: string | null = null; ; number++) {
    const before = count();
    const page: NearbyConnection = await markersWithin(
      context,
      collection,
      { center, radius },
      { first, after },
      filter,
    );
    most = Math.max(most, count() - before);
    expect(page.edges.length).toBeLessThanOrEqual(first);
    expect(page.pageInfo.hasPreviousPage).toBe(number > 0);
    expect(page.pageInfo.startCursor).toBe(page.edges[0]?.cursor ?? null);
    found.push(...toNear(page));
    if (!page.pageInfo.hasNextPage) return { found, most, number };
    expect(page.pageInfo.endCursor).not.toBe(after);
    after = page.pageInfo.endCursor;
  }
}

/** The limit of a page: a few Query calls nearby, one per column of cells at a pole. */
const ceiling = ({ lat }: Point, radius: number, key: string) =>
  radius > 50_000 || key === 'p4s3' ? 64 : Math.abs(lat) >= 89 ? 32 : 16;

describe.each(variants(LAYOUTS, 2))('radius queries in the collection $key', ({ style, ...input }) => {
  const database = databases[style];
  const made = makeCollection(database, input, MARKERS);
  const calls = recordCalls(database);
  const count = () => calls.count('Query');

  test('find the markers that a linear scan finds, nearest first, page by page, within the budget', async () => {
    const collection = await made;
    await fc.assert(
      fc.asyncProperty(aCenter, aRadius, fc.constantFrom(7, 60, 5_000), async (center, radius, size) => {
        const expected = brute(MARKERS, center, radius);
        const first = Math.max(size, Math.ceil(expected.length / 6));
        const { context } = requestContext(database);
        const { found, most } = await pages(context, collection, { center, radius, first }, count);
        expect(found).toEqual(expected);
        expect(most).toBeLessThanOrEqual(ceiling(center, radius, input.key));
      }),
      // Distant rings cross hundreds of long prefixes: dozens of pages per run.
      { numRuns: input.key === 'p4s3' ? Math.ceil(RUNS / 4) : RUNS, seed: SEED },
    );
  });

  test.each([true, false])(
    'k nearest never returns a wrong neighbor, in a desert and in a crowd (counts trusted: %s)',
    async (trusted) => {
      const collection = await made;
      await fc.assert(
        fc.asyncProperty(
          aCenter,
          fc.constantFrom(1, 10, 200, 1_000),
          fc.option(aRadius),
          async (center, wanted, maxRadius) => {
            const { context } = requestContext(database, { trusted });
            const expected = brute(MARKERS, center, maxRadius ?? HALF_AROUND).slice(0, wanted);
            const before = count();
            const answer = await nearestMarkers(context, collection, { center, count: wanted, maxRadius }).catch(
              refused,
            );
            // With counts, a few are always found. Without, empty prefixes are only known from reading them, and
            // finding hundreds in such a small collection involves more prefixes than one field may read.
            if (answer === 'refused') expect([input.key !== 'p0', !trusted || wanted >= 200]).toEqual([true, true]);
            else expect(toNear({ edges: answer })).toEqual(expected);
            expect(count() - before).toBeLessThanOrEqual(128);
          },
        ),
        { numRuns: RUNS, seed: SEED },
      );
    },
  );
});

const refused = (error: unknown) => {
  if (error instanceof CellportError && error.code === 'LIMIT_EXCEEDED') return 'refused' as const;
  throw error;
};

describe('queries by distance', () => {
  const database = databases.readable;
  const calls = recordCalls(database);
  const count = () => calls.count('Query');
  let cities: Collection;
  beforeAll(async () => {
    cities = await makeCollection(database, { key: 'near' }, MARKERS);
  });
  const context = () => requestContext(database).context;

  test('give great-circle distances in meters', async () => {
    const center = { lng: 179.9, lat: 10 };
    const { found } = await pages(context(), cities, { center, radius: FARTHEST, first: 5_000 }, count);
    expect(found).toHaveLength(MARKERS.length);
    const positions = new Map(MARKERS.map(({ key, position }) => [key, position]));
    for (const { key, distance: meters } of found) {
      expect(Math.abs(meters - byVectors(center, positions.get(key)!))).toBeLessThan(0.5);
    }
  });

  test('omit markers that do not match the filter, on the index or on their base items', async () => {
    const center = { lng: 2.35, lat: 48.85 };
    const byCategory = MARKERS.filter(({ category }) => category === 'FR' || category === 'crowd');
    const category = ['FR', 'crowd'];
    const asked = { center, radius: 900_000, first: 20, filter: { category } };
    expect((await pages(context(), cities, asked, count)).found).toEqual(brute(byCategory, center, 900_000));
    const large = MARKERS.filter(({ properties }) => Number(properties['population']) > 100_000);
    const filter = { properties: [{ name: 'population', gt: 100_000 }] };
    expect((await pages(context(), cities, { ...asked, filter }, count)).found).toEqual(brute(large, center, 900_000));
    const ten = await nearestMarkers(context(), cities, { center, count: 10 }, filter);
    expect(toNear({ edges: ten })).toEqual(brute(large, center, FARTHEST).slice(0, 10));
    const none = await nearestMarkers(
      context(),
      cities,
      { center, count: 10, maxRadius: 50_000 },
      { category: ['nowhere'] },
    );
    expect(none).toEqual([]);
  });

  test('take few Query calls for a few near markers, and read few others', async () => {
    const { context: cold, call } = requestContext(database);
    calls.reset();
    const page = await markersWithin(
      cold,
      cities,
      { center: { lng: 16.9, lat: 52.4 }, radius: 20_000 },
      { first: 100 },
    );
    expect(page.edges.length).toBeGreaterThan(0);
    expect(count()).toBeLessThanOrEqual(8);
    expect(call.meter.itemsScanned).toBeLessThan(60);
    const again = count();
    await nearestMarkers(cold, cities, { center: { lng: 16.9, lat: 52.4 }, count: 3, maxRadius: 20_000 });
    expect(count() - again).toBeLessThanOrEqual(4);
  });

  test('find the nearest marker far from all others by the counts of coarse cells', async () => {
    const center = { lng: -140, lat: -45 };
    const { context: cold } = requestContext(database);
    calls.reset();
    const [nearest] = await nearestMarkers(cold, cities, { center, count: 1 });
    expect(nearest?.node.key).toBe(brute(MARKERS, center, FARTHEST)[0]?.key);
    expect(count()).toBeLessThanOrEqual(32);
  });

  test('resume where the last page ended, whatever is created or deleted in between', async () => {
    const random = randomFrom(SEED);
    const made = Array.from({ length: 120 }, (_, index): Made => ({
      key: `m${index}`,
      position: { lng: 10 + random(), lat: 50 + random() },
      category: 'x',
      properties: {},
    }));
    const collection = await makeCollection(database, { key: 'changing' }, made);
    const center = { lng: 10.5, lat: 50.5 };
    const put = (marker: Made) =>
      send(newCall(database), 'put', {
        TableName: database.tables.entities,
        Item: newMarkerItem(database, collection, marker, NOW),
      });
    const found: Near[] = [];
    const gone = new Set<string>();
    for (let after: string | null = null, number = 0; ; number++) {
      // Counts are as old as the first page.
      const page: NearbyConnection = await markersWithin(
        requestContext(database, { trusted: false }).context,
        collection,
        { center, radius: 80_000 },
        { first: 9, after },
      );
      found.push(...toNear(page));
      if (!page.pageInfo.hasNextPage) break;
      after = page.pageInfo.endCursor;
      const last = found.at(-1)?.key ?? '';
      // The marker at the cursor, and the next one.
      const later = brute(made, center, 80_000).find(
        ({ key }) => !gone.has(key) && !found.some((near) => near.key === key),
      );
      for (const key of [last, later?.key]) {
        if (key === undefined || number > 4) continue;
        gone.add(key);
        await send(newCall(database), 'delete', {
          TableName: database.tables.entities,
          Key: database.keys.marker('changing', key),
        });
      }
      await put({
        key: `new ${number}`,
        position: { lng: 10.5 + random() / 100, lat: 50.5 },
        category: 'x',
        properties: {},
      });
      await put({ key: `far ${number}`, position: { lng: 11.4, lat: 50.5 }, category: 'x', properties: {} });
    }
    const keys = found.map(({ key }) => key);
    expect(new Set(keys).size).toBe(keys.length);
    expect(found).toEqual(found.toSorted((a, b) => a.distance - b.distance));
    for (const { key } of brute(made, center, 80_000)) if (!gone.has(key)) expect(keys).toContain(key);
  });

  // A crowd larger than one read of a range.
  test('page exactly through a crowd at one position and the town around it, with and without counts', async () => {
    const random = randomFrom(SEED);
    const town = Array.from({ length: 800 }, (_, index): Made => ({
      key: `t${index}`,
      position: { lng: 13.4 + (random() - 0.5) ** 3, lat: 52.5 + (random() - 0.5) ** 3 },
      category: 'x',
      properties: {},
    }));
    const crowd = Array.from({ length: 1_200 }, (_, index): Made => ({
      key: `c${index}`,
      position: { lng: 13.4, lat: 52.5 },
      category: 'x',
      properties: {},
    }));
    const all = [...town, ...crowd];
    const collection = await makeCollection(database, { key: 'town' }, all);
    for (const center of [
      { lng: 13.4, lat: 52.5 },
      { lng: 13.41, lat: 52.51 },
    ]) {
      for (const trusted of [true, false]) {
        const { context: own } = requestContext(database, { trusted });
        const before = count();
        const nearest = await nearestMarkers(own, collection, { center, count: 25 });
        expect(toNear({ edges: nearest })).toEqual(brute(all, center, 50_000).slice(0, 25));
        expect(count() - before).toBeLessThanOrEqual(32);
        const { found, most, number } = await pages(own, collection, { center, radius: 30_000, first: 150 }, count);
        expect(found).toEqual(brute(all, center, 30_000));
        // A crowd larger than the limit of a range is read again.
        expect(most).toBeLessThanOrEqual(20);
        expect(number).toBeLessThan(20);
      }
    }
  });

  test('find nothing in an empty collection', async () => {
    const empty = await makeCollection(database, { key: 'empty' }, []);
    const center = { lng: 0, lat: 0 };
    expect(await nearestMarkers(context(), empty, { center, count: 5 })).toEqual([]);
    const page = await markersWithin(context(), empty, { center, radius: FARTHEST }, { first: 5 });
    expect([page.edges, page.pageInfo.hasNextPage, page.pageInfo.endCursor]).toEqual([[], false, null]);
  });

  test('resume from a cursor with another radius, or from one of the nearest; but not with another center', async () => {
    const center = { lng: 16.9, lat: 52.4 };
    const expected = brute(MARKERS, center, 300_000);
    const nearest = await nearestMarkers(context(), cities, { center, count: 8 });
    const after = nearest.at(-1)?.cursor;
    const page = await markersWithin(context(), cities, { center, radius: 300_000 }, { first: 5_000, after });
    expect(toNear(page)).toEqual(expected.slice(8));
    const nearer = await markersWithin(
      context(),
      cities,
      { center, radius: 1 },
      { first: 5_000, after: page.pageInfo.endCursor },
    );
    expect([nearer.edges, nearer.pageInfo.hasNextPage]).toEqual([[], false]);
    await expect(
      markersWithin(context(), cities, { center: { lng: 0, lat: 0 }, radius: 1 }, { first: 5, after }),
    ).rejects.toThrow('after must be a cursor');
  });

  test('reject an invalid radius, count or center by name', async () => {
    const center = { lng: 0, lat: 0 };
    const within = (radius: number) => markersWithin(context(), cities, { center, radius }, { first: 5 });
    for (const radius of [-1, Number.NaN, Infinity, 20_015_115, 1e300]) {
      await expect(within(radius)).rejects.toMatchObject({
        code: 'BAD_USER_INPUT',
        details: { field: 'radius', value: String(radius), allowed: expect.stringContaining('20015114.35 meters') },
      });
    }
    const nearest = (count: number, maxRadius?: number) =>
      nearestMarkers(context(), cities, { center, count, maxRadius });
    await expect(nearest(1_001)).rejects.toMatchObject({
      details: { field: 'count', allowed: 'a whole number from 1 to 1000' },
    });
    await expect(nearest(0)).rejects.toMatchObject({ details: { field: 'count' } });
    await expect(nearest(5, -2)).rejects.toMatchObject({ details: { field: 'maxRadius' } });
    const north = markersWithin(context(), cities, { center: { lng: 0, lat: 91 }, radius: 5 }, { first: 5 });
    await expect(north).rejects.toMatchObject({ details: { field: 'center.lat' } });
  });
});
