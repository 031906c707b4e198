import fc from 'fast-check';
import { beforeAll, describe, expect, test } from 'vitest';

import type { Point } from '../../src/geo/bounds.js';
import { markersWithin, type NearbyConnection } from '../../src/map/near/near.js';
import type { Collection } from '../../src/model/collection.js';
import type { MarkerFilterInput } from '../../src/read/filter.js';
import { memoryDatabase } from '../support/memory-store.js';
import { randomFrom } from '../support/random.js';
import { recordCalls } from '../support/record-calls.js';
import { rounds } from '../support/rounds.js';
import { makeCollection, requestContext, type ContextOptions, type Made } from './fixture.js';
import { brute, FARTHEST, toNear, type Near } from './near-scan.js';

const database = memoryDatabase('compact');
const calls = recordCalls(database);
const count = () => calls.count('Query');
const SEED = Number(process.env['CELLPORT_SEED'] ?? 20261121);
const RUNS = rounds('radiusQueriesOfLayout');

/** The extremes of prefix length and write shards that a collection may have. */
const LAYOUTS = [0, 1, 2, 3, 4, 5, 6].flatMap((prefixLength) =>
  [1, 4, 32].map((writeShards) => ({ prefixLength, writeShards, key: `p${prefixLength}s${writeShards}` })),
);
// Others in each run, if not all of them.
const shift = Math.floor(Math.random() * LAYOUTS.length);
const chosen = LAYOUTS.map((_, at) => LAYOUTS[(shift + 8 * at) % LAYOUTS.length]!).slice(0, rounds('keyLayouts'));

const made = (position: Point, index: number, category = 'x'): Made => ({
  key: `m${index}`,
  position,
  category,
  properties: { rank: index, long: 'x'.repeat(300) },
});

/** Poles, both longitudes of the antimeridian, a common corner of cells of all lengths, a town, and anywhere else. */
function someMarkers(): Made[] {
  const random = randomFrom(SEED);
  const around = ({ lng, lat }: Point, far: number): Point => ({
    lng: lng + (random() - 0.5) * far,
    lat: lat + (random() - 0.5) * far,
  });
  const town = { lng: 16.9, lat: 52.4 };
  return [
    { lng: 0, lat: 90 },
    { lng: 77, lat: -90 },
    { lng: -120, lat: -89.99 },
    { lng: 180, lat: 0 },
    { lng: -180, lat: 0 },
    { lng: 179.9999, lat: -16.9 },
    { lng: -179.9999, lat: -16.9 },
    { lng: 0, lat: 0 },
    { lng: -0.00001, lat: -0.00001 },
    ...Array.from({ length: 6 }, () => around(town, 0.02)),
    ...Array.from({ length: 3 }, () => around(town, 0.6)),
    ...Array.from({ length: 6 }, () => around({ lng: 0, lat: 0 }, 160)),
  ].map((position, index) => made(position, index));
}
const MARKERS = someMarkers();

interface Asked {
  readonly center: Point;
  readonly radius: number;
  readonly first?: number;
  readonly filter?: MarkerFilterInput;
}

/** All pages of a list, each read by a request of its own within the budget. */
async function pages(
  collection: Collection,
  { center, radius, first = 50, filter }: Asked,
  options: ContextOptions = {},
  between: (page: number) => Promise<void> = async () => undefined,
) {
  const found: Near[] = [];
  for (let after: string | null = null, number = 1; ; number++) {
    const before = count();
    const { context } = requestContext(database, options);
    const page: NearbyConnection = await markersWithin(
      context,
      collection,
      { center, radius },
      { first, after },
      filter,
    );
    expect(count() - before).toBeLessThanOrEqual(options.limits?.queryCalls ?? 64);
    found.push(...toNear(page));
    if (!page.pageInfo.hasNextPage) return { found, number };
    expect(page.pageInfo.endCursor).not.toBe(after);
    expect(Buffer.byteLength(page.pageInfo.endCursor ?? '')).toBeLessThan(9_000);
    after = page.pageInfo.endCursor;
    await between(number);
  }
}

const aCenter = fc.oneof(
  fc.constantFrom(...MARKERS.map(({ position }) => position)),
  fc.constantFrom({ lng: -140, lat: -45 }, { lng: 180, lat: -16.9 }, { lng: 16.9, lat: 52.4 }),
);
const aRadius = fc.constantFrom(0, 1, 2_000, 50_000, 600_000, 3_000_000, 10_007_557, FARTHEST);

describe.each(chosen)('a prefix of $prefixLength and $writeShards write shards', (layout) => {
  const { prefixLength, writeShards, key } = layout;
  // A counted cell has 32 of the longest prefixes, each of which takes a page with so many shards.
  const markers = MARKERS.filter((_, index) => prefixLength < 6 || writeShards < 32 || index % 8 === 0);
  let collection: Collection;
  beforeAll(async () => {
    collection = await makeCollection(database, { ...layout, code: codeOf(key) }, markers);
  });

  test('answers any radius query, nearest first, each page within its budget', async () => {
    await fc.assert(
      fc.asyncProperty(aCenter, aRadius, async (center, radius) => {
        const { found, number } = await pages(collection, { center, radius });
        expect(found).toEqual(brute(markers, center, radius));
        expect(number).toBeLessThan((prefixLength < 6 ? 4 : 33) * markers.length);
      }),
      { numRuns: RUNS, seed: SEED + prefixLength + writeShards },
    );
  });

  test('answers radius queries over few partitions while counts cannot be trusted', async () => {
    const cell = 20_015_114 / 2 ** Math.floor((5 * prefixLength) / 2);
    const radius = Math.min(FARTHEST, (cell * 3) / Math.sqrt(writeShards));
    for (const center of [
      { lng: 16.9, lat: 52.4 },
      ...(prefixLength === 2 && writeShards < 32 ? [{ lng: 180, lat: -89.99 }] : []),
    ]) {
      const { found } = await pages(collection, { center, radius }, { trusted: false });
      expect(found).toEqual(brute(markers, center, radius));
    }
  });
});

/** Two symbols for each layout. */
function codeOf(key: string): string {
  const index = LAYOUTS.findIndex((layout) => layout.key === key);
  return `N${'abcdefghijklmnopqrstuvwxyz'.charAt(index)}`;
}

describe('a ring that exceeds the budget of a page', () => {
  const random = randomFrom(SEED);
  const wide = Array.from({ length: 60 }, (_, index) =>
    made({ lng: 40 * random() - 20, lat: 40 * random() - 20 }, index, index % 2 === 0 ? 'even' : 'odd'),
  );
  const center = { lng: 150, lat: 0 };

  test('is scanned over several pages, and then emitted page by page', async () => {
    const collection = await makeCollection(
      database,
      { key: 'wide', code: 'Wa', prefixLength: 3, writeShards: 4 },
      wide,
    );
    const { found, number } = await pages(collection, { center, radius: FARTHEST, first: 20 });
    expect(found).toEqual(brute(wide, center, FARTHEST));
    expect(number).toBeLessThan(20);
    const even = wide.filter(({ category }) => category === 'even');
    const ofIndex = { center, radius: FARTHEST, filter: { category: ['even'] } };
    expect((await pages(collection, ofIndex)).found).toEqual(brute(even, center, FARTHEST));
    const late = wide.filter(({ properties }) => Number(properties['rank']) >= 45);
    const ofBase = { center, radius: FARTHEST, filter: { properties: [{ name: 'rank', gte: 45 }] } };
    expect((await pages(collection, ofBase)).found).toEqual(brute(late, center, FARTHEST));
  });
});
