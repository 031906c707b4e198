import * as fc from 'fast-check';
import { describe, expect, test } from 'vitest';

import { normalizeBounds, type Bounds } from '../../src/geo/bounds.js';
import { distance } from '../../src/geo/distance.js';
import { encode } from '../../src/geo/geohash.js';
import { collectionKeyOf, serveGeoTable, type GeoTable } from '../../src/geolibrary/answers.js';
import { readTableLayout } from '../../src/geolibrary/layout.js';
import { planQueries } from '../../src/geolibrary/plan.js';
import { areaRegion, coverRegion } from '../../src/geolibrary/s2.js';
import { readViewport } from '../../src/map/viewport.js';
import { DEFAULT_LIMITS } from '../../src/model/limits.js';
import { newCall } from '../../src/store/request/meter.js';
import { bruteInside } from '../map/fixture.js';
import { newMemoryDatabase } from '../support/memory-store.js';
import { someOf } from '../support/rounds.js';
import { LIBRARY, libraryItems, makeGeoTable, POSITIONS, type Written } from './library.js';

const database = newMemoryDatabase();
const LIMITS = DEFAULT_LIMITS;

const TABLES: readonly (Written & { readonly name: string })[] = LIBRARY.lengths.flatMap((length) =>
  (['longitude first', 'latitude first'] as const).map((order) => ({
    length,
    order,
    name: `geo-${length}-${order.replace(' ', '-')}`,
  })),
);

const opened = new Map<string, GeoTable>();
for (const written of TABLES) {
  await makeGeoTable(database, written.name, libraryItems(written));
  const layout = await readTableLayout(database, written.name);
  opened.set(written.name, serveGeoTable(database, layout, collectionKeyOf(written.name)));
}
const openedAs = (name: string): GeoTable => {
  const table = opened.get(name);
  if (!table) throw new Error(`no table ${name}`);
  return table;
};

/** All pages of a viewport, and the number of Query calls of the most expensive page. */
async function allPages(name: string, bounds: Bounds, first = 1000, limits = LIMITS) {
  const viewport = readViewport({ bounds, zoom: 3 });
  const keys: string[] = [];
  let most = 0;
  let pages = 0;
  for (let after: string | null | undefined; ;) {
    const call = newCall();
    const page = await openedAs(name).answers(call, limits).viewportMarkers(viewport, { first, after }, undefined);
    keys.push(...page.edges.map(({ node }) => node.key));
    most = Math.max(most, call.meter.queries);
    pages++;
    if (!page.pageInfo.hasNextPage) return { keys, most, pages };
    after = page.pageInfo.endCursor;
    expect(after).not.toBeNull();
  }
}

const sorted = (keys: readonly string[]) => keys.map(Number).toSorted((a, b) => a - b);
const brute = (bounds: Bounds) => POSITIONS.flatMap((at, index) => (bruteInside(bounds, at) ? [index] : []));
const onAntimeridian = (key: string) => Math.abs(POSITIONS[Number(key)]?.lng ?? 0) === 180;
const boundsOf = ([west, south, east, north]: readonly [number, number, number, number]): Bounds => ({
  west,
  south,
  east,
  north,
});

describe.each(TABLES)(
  'a table written by dynamodb-geo with hash keys of $length digits, $order',
  ({ name, length, order }) => {
    test('is recognized by its keys and items', async () => {
      expect(await readTableLayout(database, name)).toMatchObject({
        hashKeyLength: length,
        order,
        attributes: { hashKey: 'hashKey', rangeKey: 'rangeKey', geohash: 'geohash', geoJson: 'geoJson' },
      });
    });

    test('gives the library’s own answer for every bounding box that the library supports, with few Query calls', async () => {
      let answered = 0;
      for (const { box, answers } of LIBRARY.boxes) {
        const answer = answers[LIBRARY.lengths.indexOf(length)];
        if (typeof answer === 'string' || answer === undefined) continue;
        answered++;
        const { keys, most, pages } = await allPages(name, boundsOf(box));
        // The library treats -180 and 180 as two meridians, and misses markers on one of them.
        const missed = new Set(keys.filter((key) => onAntimeridian(key) && !answer.includes(Number(key))));
        expect(sorted(keys.filter((key) => !missed.has(key)))).toEqual(answer);
        expect(sorted(keys)).toEqual(brute(boundsOf(box)));
        expect(most).toBeLessThanOrEqual(64);
        if (length === 2) expect([most <= (box[2] - box[0] > 12 ? 30 : 20), pages]).toEqual([true, 1]);
      }
      expect(answered).toBeGreaterThan(30);
    });

    test('gives the right answer where the library throws or never ends, within the limits of a page', async () => {
      const others = LIBRARY.boxes.filter(
        ({ answers }) => typeof answers[LIBRARY.lengths.indexOf(length)] === 'string',
      );
      expect(others.length).toBeGreaterThan(9);
      let tried = 0;
      for (const { box } of others) {
        const bounds = boundsOf(box);
        // With long hash keys, a wide bounding box has too many of them for a test.
        const { hashKeys } = planQueries(coverRegion(areaRegion(normalizeBounds('bounds', bounds)), 48), length);
        if (hashKeys > 200n) continue;
        tried++;
        const { keys, most } = await allPages(name, bounds);
        expect(sorted(keys)).toEqual(brute(bounds));
        expect(most).toBeLessThanOrEqual(64);
      }
      expect(tried).toBeGreaterThan(length === 2 ? 9 : 0);
    });
  },
);

/** The position at which S2 IDs start. */
const CORNER = { lng: -45, lat: -35.264389682754654 };
const EASY = 'geo-2-longitude-first';

describe('a bounding box', () => {
  test('of any shape contains the markers that brute force finds, each once across all pages', async () => {
    const lng = fc.oneof(fc.double({ min: -540, max: 540, noNaN: true }), fc.constantFrom(-180, 180, 170, -170, 190));
    const lat = fc.oneof(fc.double({ min: -90, max: 90, noNaN: true }), fc.constantFrom(-90, 90, 0, 45));
    const span = fc.oneof(fc.double({ min: 0, max: 400, noNaN: true }), fc.double({ min: 0, max: 2, noNaN: true }));
    await fc.assert(
      fc.asyncProperty(lng, lat, lat, span, fc.constantFrom(1, 7, 100, 1000), async (west, a, b, wide, first) => {
        const bounds = { west, south: Math.min(a, b), east: west + wide, north: Math.max(a, b) };
        const { keys, most } = await allPages(EASY, bounds, first);
        expect(keys).toHaveLength(new Set(keys).size);
        expect(sorted(keys)).toEqual(brute(bounds));
        expect(most).toBeLessThanOrEqual(64);
      }),
      { numRuns: someOf(20) },
    );
  });

  test('of the whole world is paged within the limit of Query calls, however low it is', async () => {
    const world = { west: -180, south: -90, east: 180, north: 90 };
    const { keys, most } = await allPages(EASY, world, 50, { ...LIMITS, queryCalls: 4 });
    expect(sorted(keys)).toEqual(POSITIONS.map((_, index) => index));
    expect(most).toBeLessThanOrEqual(4);
    const few = await allPages(EASY, world, 50, { ...LIMITS, itemsPerField: 5 });
    expect(sorted(few.keys)).toEqual(POSITIONS.map((_, index) => index));
  });

  test('around many markers at one position is paged through them', async () => {
    const at = { west: 16.9, south: 52.4, east: 16.9, north: 52.4 };
    const { keys, pages } = await allPages(EASY, at, 5);
    expect(sorted(keys)).toEqual(brute(at));
    expect(keys.length).toBeGreaterThanOrEqual(12);
    expect(pages).toBeGreaterThan(2);
  });

  test('is counted and clustered by reading its markers; if it is too large, the error says what to do', async () => {
    const call = newCall();
    const answers = openedAs(EASY).answers(call, LIMITS);
    const town = readViewport({ bounds: { west: 16.5, south: 52.1, east: 17.4, north: 52.7 }, zoom: 9 });
    const inside = brute(town.area.bounds).length;
    expect(inside).toBeGreaterThan(20);
    expect(await answers.viewportCount(town)).toBe(inside);
    expect(call.meter.queries).toBeLessThanOrEqual(8);
    const auto = await answers.viewportAuto(town, 100, undefined);
    expect([auto.mode, auto.total, auto.markers.length, auto.clusters]).toEqual(['MARKERS', inside, inside, []]);
    await expect(answers.viewportAuto(town, 10, undefined)).rejects.toMatchObject({ code: 'LIMIT_EXCEEDED' });
    const parks = await answers.viewportAuto(town, 100, { category: ['park'] });
    expect(parks.markers.every(({ category }) => category === 'park')).toBe(true);
    expect(parks.total).toBeGreaterThan(3);
    await expect(
      answers.viewportMarkers(town, { first: 10 }, { updatedAfter: '2026-01-01T00:00:00Z' }),
    ).rejects.toMatchObject({ code: 'BAD_USER_INPUT' });
    const before = call.meter.queries;
    const world = readViewport({ bounds: { west: -180, south: -90, east: 180, north: 90 }, zoom: 0 });
    await expect(answers.viewportCount(world)).rejects.toMatchObject({
      code: 'LIMIT_EXCEEDED',
      message: expect.stringMatching(/147 hash keys.*64 Query calls/) as string,
    });
    expect(call.meter.queries).toBe(before);
  });

  test('returns the attributes of items as properties', async () => {
    const answers = openedAs(EASY).answers(newCall(), LIMITS);
    const at = POSITIONS[0] ?? { lng: 0, lat: 0 };
    const bounds = { west: at.lng, south: at.lat, east: at.lng, north: at.lat };
    const page = await answers.viewportMarkers(readViewport({ bounds, zoom: 9 }), { first: 10 }, undefined);
    expect(page.edges.map(({ node }) => node)).toEqual([
      {
        collection: EASY,
        key: '0',
        position: at,
        geohash: encode(at, 10),
        name: 'point 0',
        category: 'park',
        mapVersion: 0,
        mapProperties: { rank: 0, tags: ['a', 'b'], open: true, address: { zip: '60-001' } },
        complete: true,
        place: [],
      },
    ]);
  });
});

describe('a radius query', () => {
  async function nearby(name: string, center: { lng: number; lat: number }, radius: number, first: number) {
    const found: { key: string; distance: number }[] = [];
    let most = 0;
    let pages = 0;
    for (let after: string | null | undefined; ;) {
      const call = newCall();
      const page = await openedAs(name).answers(call, LIMITS).within({ center, radius }, { first, after });
      found.push(...page.edges.map(({ node, distance: away }) => ({ key: node.key, distance: away })));
      most = Math.max(most, call.meter.queries);
      pages++;
      if (!page.pageInfo.hasNextPage) return { found, most, pages };
      after = page.pageInfo.endCursor;
    }
  }

  const bruteNearby = (center: { lng: number; lat: number }, radius: number) =>
    POSITIONS.map((at, index) => ({ key: String(index), distance: distance(center, at) }))
      .filter(({ distance: away }) => away <= radius)
      .toSorted((a, b) => a.distance - b.distance || (a.key < b.key ? -1 : 1));

  test('returns each marker once, nearest first, for radii from 0 to half the globe, across poles and the antimeridian', async () => {
    const center = fc.oneof(
      fc.constantFrom(...POSITIONS),
      fc.record({
        lng: fc.double({ min: -180, max: 180, noNaN: true }),
        lat: fc.double({ min: -90, max: 90, noNaN: true }),
      }),
    );
    const radius = fc.oneof(fc.constantFrom(0, 50_000, 3e7), fc.double({ min: 0, max: 2e6, noNaN: true }));
    await fc.assert(
      fc.asyncProperty(center, radius, fc.constantFrom(30, 500), async (at, meters, first) => {
        const { found, most } = await nearby(EASY, at, meters, first);
        expect(found).toEqual(bruteNearby(at, meters));
        expect(most).toBeLessThanOrEqual(64);
      }),
      { numRuns: someOf(12) },
    );
  });

  // All possible first digits meet here: 147 hash keys of two digits, 1,462 of three.
  test('returns nearest first around the position where S2 IDs start, in pages within the limit', async () => {
    for (const [name, center, radius, atMost] of [
      [EASY, { lng: 0, lat: 0 }, 3e7, 30],
      [EASY, CORNER, 6_000_000, 30],
      // 23 pages if it were a single ring.
      ['geo-3-latitude-first', { lng: -44, lat: -35 }, 600_000, 60],
    ] as const) {
      const { found, most, pages } = await nearby(name, center, radius, 500);
      expect(found).toEqual(bruteNearby(center, radius));
      expect(most).toBeLessThanOrEqual(64);
      expect(pages).toBeLessThan(atMost);
    }
  });

  test('resumes from a cursor with another radius, and rejects a cursor of another list', async () => {
    const center = { lng: 16.9, lat: 52.4 };
    const answers = openedAs(EASY).answers(newCall(), LIMITS);
    const page = await answers.within({ center, radius: 50_000 }, { first: 7 });
    const after = page.pageInfo.endCursor;
    const next = await answers.within({ center, radius: 5_000_000 }, { first: 7, after });
    const expected = bruteNearby(center, 5_000_000);
    // Ends with its budget of Query calls, so it may have fewer than seven.
    expect(next.edges.length).toBeGreaterThan(0);
    expect(next.edges.map(({ node }) => node.key)).toEqual(
      expected.slice(7, 7 + next.edges.length).map(({ key }) => key),
    );
    const other = answers.within({ center: { lng: 0, lat: 0 }, radius: 5 }, { first: 7, after });
    await expect(other).rejects.toThrow('after must be a cursor');
  });

  test('of 50 km takes few Query calls with short hash keys', async () => {
    for (const center of POSITIONS.slice(0, 40)) {
      const { found, most } = await nearby(EASY, center, 50_000, 1000);
      expect(found).toEqual(bruteNearby(center, 50_000));
      expect(most).toBeLessThanOrEqual(24);
    }
  });

  test('rejects an invalid center or radius', async () => {
    const answers = openedAs(EASY).answers(newCall(), LIMITS);
    const ask = (lat: number, radius: number) => answers.within({ center: { lng: 0, lat }, radius }, { first: 10 });
    await expect(ask(91, 5)).rejects.toMatchObject({ code: 'BAD_USER_INPUT' });
    await expect(ask(0, -1)).rejects.toMatchObject({ code: 'BAD_USER_INPUT' });
    await expect(ask(0, Number.NaN)).rejects.toMatchObject({ code: 'BAD_USER_INPUT' });
  });
});
