import fc from 'fast-check';
import { describe, expect, test } from 'vitest';

import { CellportError } from '../../src/errors.js';
import { areaOverlapsCell } from '../../src/geo/bounds.js';
import { cellBounds, encode } from '../../src/geo/geohash.js';
import { uniteRanges } from '../../src/loaders/range-loader.js';
import { viewportCells } from '../../src/map/cells/cells.js';
import { viewportClusters } from '../../src/map/cells/clusters.js';
import { viewportCount } from '../../src/map/cells/count.js';
import { viewportAuto } from '../../src/map/content.js';
import { viewportFeatures } from '../../src/map/features.js';
import { viewportMarkers } from '../../src/map/markers.js';
import { nearestMarkers } from '../../src/map/near/near.js';
import { viewportPlan } from '../../src/map/plan.js';
import { readViewport, type Viewport } from '../../src/map/viewport.js';
import { memoryDatabase } from '../support/memory-store.js';
import { GENERATION, testPages } from '../support/page-services.js';
import { randomFrom } from '../support/random.js';
import { recordCalls, type RecordedCommand, type Recording } from '../support/record-calls.js';
import { expectRfc7946 } from '../support/rfc7946.js';
import { someOf, variants } from '../support/rounds.js';
import { bruteCells, bruteInside, LAYOUTS, makeCollection, realMarkers, requestContext } from './fixture.js';

const MARKERS = realMarkers(250);
const databases = { readable: memoryDatabase('readable'), compact: memoryDatabase('compact') };
type Requested = Readonly<Record<string, { readonly Keys: readonly { readonly pk: string; readonly sk: string }[] }>>;

const SEED = Number(process.env['CELLPORT_SEED'] ?? 20261121);
const RUNS = someOf(20);

/** Bounds of all kinds around interesting places, at a zoom that may or may not suit a screen of 1280 x 800. */
const viewport = fc
  .record({
    at: fc.constantFrom(...MARKERS.filter((_, index) => index % 7 === 0).map(({ position }) => position)),
    zoom: fc.integer({ min: 0, max: 17 }),
    wide: fc.constantFrom(1280, 400, 0),
    high: fc.constantFrom(800, 300, 0),
    turns: fc.constantFrom(0, 0, 1, -2),
    onMarker: fc.boolean(),
  })
  .map(({ at, zoom, wide, high, turns, onMarker }) => {
    const width = (wide / 512 / 2 ** zoom) * 360;
    const height = (high / 512 / 2 ** zoom) * 180;
    // An edge that must match a position exactly is not shifted by whole turns, which would round it.
    const west = onMarker ? at.lng : at.lng - width / 3 + (width > 0 ? 360 * turns : 0);
    const south = Math.max(-90, onMarker ? at.lat : at.lat - height / 3);
    const bounds = { west, east: west + width, south, north: Math.max(south, Math.min(90, south + height)) };
    return { bounds, zoom };
  });

async function pages(
  context: Parameters<typeof viewportMarkers>[0],
  view: Viewport,
  key: string,
  first: number,
  calls?: Recording,
): Promise<{ keys: string[]; mostQueries: number }> {
  const keys: string[] = [];
  let after: string | null = null;
  let mostQueries = 0;
  for (;;) {
    calls?.reset();
    const page = await viewportMarkers(context, view, key, { first, after });
    mostQueries = Math.max(mostQueries, calls?.count('Query') ?? 0);
    expect(page.edges.length).toBeLessThanOrEqual(first);
    keys.push(...page.edges.map(({ node }) => node.key));
    if (!page.pageInfo.hasNextPage) return { keys, mostQueries };
    expect(page.pageInfo.endCursor).not.toBe(after);
    after = page.pageInfo.endCursor;
  }
}

const orRefused = <T>(answer: Promise<T>) =>
  answer.catch((error: unknown) => {
    if (error instanceof CellportError && error.code === 'LIMIT_EXCEEDED') return 'refused' as const;
    throw error;
  });

describe.each(variants(LAYOUTS, 2))('a viewport of the collection $key', ({ style, ...input }) => {
  const database = databases[style];
  const made = makeCollection(database, input, MARKERS);
  const calls = recordCalls(database);

  test.each([true, false])(
    'finds the markers that a linear scan finds, page by page in order, within its budget (counts trusted: %s)',
    async (trusted) => {
      await made;
      await fc.assert(
        fc.asyncProperty(viewport, fc.constantFrom(3, 40, 5000), async (raw, size) => {
          // Without counts, long prefixes can only be scanned partition by partition, most of them empty.
          fc.pre(trusted || input.key !== 'p4s3' || raw.zoom > 7);
          const view = readViewport(raw);
          const inside = MARKERS.filter(({ position }) => bruteInside(raw.bounds, position));
          const first = Math.max(size, Math.ceil(inside.length / 6));
          const { keys, mostQueries } = await pages(
            requestContext(database, { trusted }).context,
            view,
            input.key,
            first,
            calls,
          );
          expect(keys.toSorted()).toEqual(inside.map(({ key }) => key).toSorted());
          expect(mostQueries).toBeLessThanOrEqual(64);
          const hashes = new Map(inside.map(({ key, position }) => [key, encode(position, 10)]));
          const order = keys.map((key) => hashes.get(key) ?? '');
          expect(order).toEqual(order.toSorted());
        }),
        { numRuns: RUNS, seed: SEED },
      );
    },
  );

  test('counts what a linear scan counts, without reading the markers in the middle', async () => {
    await made;
    await fc.assert(
      fc.asyncProperty(viewport, async (raw) => {
        calls.reset();
        const { context } = requestContext(database);
        const count = await orRefused(viewportCount(context, readViewport(raw), input.key));
        // Many partitions on the edge, with three Query calls each, exceed the limit of a field.
        expect(count === 'refused' && input.key !== 'p4s3').toBe(false);
        if (count === 'refused') return;
        expect(count).toBe(MARKERS.filter(({ position }) => bruteInside(raw.bounds, position)).length);
        expect(calls.count('Query')).toBeLessThanOrEqual(64);
      }),
      { numRuns: RUNS, seed: SEED },
    );
  });

  test('has the cells that overlap it, with complete counts and sums, at its own and at any precision', async () => {
    await made;
    await fc.assert(
      fc.asyncProperty(viewport, fc.constantFrom(0, 0, -1, 1, 2), async (raw, finer) => {
        const view = readViewport(raw);
        const precision = Math.min(12, Math.max(1, view.precision + finer));
        calls.reset();
        const { context } = requestContext(database);
        const cells = await viewportCells(context, view, input.key, precision);
        const expected = [...bruteCells(MARKERS, precision)]
          .filter(([geohash]) => areaOverlapsCell(view.area, cellBounds(geohash)))
          .sort(([a], [b]) => (a < b ? -1 : 1));
        expect(cells.map(({ geohash, count, sumLng, sumLat }) => [geohash, { count, sumLng, sumLat }])).toEqual(
          expected,
        );
        expect(calls.count('Query')).toBeLessThanOrEqual(64);
      }),
      { numRuns: RUNS, seed: SEED },
    );
  });

  test('has clusters that contain each cell once, and keeps them when panned', async () => {
    await made;
    await fc.assert(
      fc.asyncProperty(viewport, fc.constantFrom(60, 25, 200), async (raw, radius) => {
        const view = readViewport(raw);
        const { context } = requestContext(database);
        calls.reset();
        const clusters = await viewportClusters(context, view, input.key, radius);
        expect(calls.count('Query')).toBeLessThanOrEqual(64);
        const cells = clusters.flatMap((cluster) => cluster.cells);
        const precision = cells[0]?.geohash.length ?? view.precision;
        const brute = bruteCells(MARKERS, precision);
        expect(new Set(cells.map(({ geohash }) => geohash)).size).toBe(cells.length);
        for (const { geohash, ...sums } of cells) expect(sums).toEqual(brute.get(geohash));
        const overlapping = [...brute.keys()].filter((hash) => areaOverlapsCell(view.area, cellBounds(hash)));
        expect(cells.map(({ geohash }) => geohash)).toEqual(expect.arrayContaining(overlapping));

        const { west, east, south, north } = raw.bounds;
        const step = (east - west) / 5;
        const panned = readViewport({ ...raw, bounds: { west: west + step, east: east + step, south, north } });
        const next = await viewportClusters(context, panned, input.key, radius);
        const plain = (list: typeof next) =>
          new Map(
            list.map(({ cells: made, count, position, bounds }) => [
              made[0]?.geohash,
              { made, count, position, bounds },
            ]),
          );
        const before = plain(clusters);
        for (const [first, cluster] of plain(next)) expect(before.get(first) ?? cluster).toEqual(cluster);
      }),
      { numRuns: RUNS, seed: SEED },
    );
  });

  test('a cluster of one has its marker; all of them cost a few Query calls', async () => {
    await made;
    const byCell = (precision: number) =>
      new Map(MARKERS.map(({ key, position }) => [encode(position, precision), key]));
    await fc.assert(
      fc.asyncProperty(viewport, async (raw) => {
        const { context } = requestContext(database);
        const clusters = await viewportClusters(context, readViewport(raw), input.key);
        calls.reset();
        const markers = await Promise.all(clusters.map((cluster) => orRefused(cluster.marker())));
        expect(calls.count('Query')).toBeLessThanOrEqual(64);
        const precision = clusters[0]?.cells[0]?.geohash.length ?? 1;
        const keys = byCell(precision);
        const expected = clusters.map(({ count, cells }) => (count === 1 ? keys.get(cells[0]?.geohash ?? '') : null));
        // Single markers in more partitions than a field may read are rejected; this only happens at P=4 S=3.
        const refused = markers.includes('refused') && input.key === 'p4s3';
        expect(refused ? expected : markers.map((marker) => (marker as { key: string } | null)?.key ?? null)).toEqual(
          expected,
        );
      }),
      { numRuns: RUNS, seed: SEED },
    );
  });

  test('shows markers while they fit and clusters otherwise, and never more features than requested', async () => {
    await made;
    await fc.assert(
      fc.asyncProperty(viewport, fc.constantFrom(1, 10, 500), fc.boolean(), async (raw, limit, counted) => {
        // Without counts, a long prefix has too many partitions to read, so only clusters are possible.
        const trusted = counted || input.key === 'p4s3';
        const view = readViewport(raw);
        const inside = MARKERS.filter(({ position }) => bruteInside(raw.bounds, position));
        calls.reset();
        const { context } = requestContext(database, { trusted });
        const auto = await orRefused(viewportAuto(context, view, input.key, limit));
        expect(auto === 'refused' && input.key !== 'p4s3').toBe(false);
        if (auto === 'refused') return;
        expect(auto.total).toBe(inside.length);
        expect(auto.mode).toBe(inside.length <= limit ? 'MARKERS' : 'CLUSTERS');
        expect(auto.markers.map(({ key }) => key).toSorted()).toEqual(
          inside.length <= limit ? inside.map(({ key }) => key).toSorted() : [],
        );
        const text = String(await viewportFeatures(context, view, input.key, limit));
        expectRfc7946(text);
        const { features } = JSON.parse(text);
        expect(features.length).toBeLessThanOrEqual(limit);
        expect(features.length).toBe(inside.length <= limit ? inside.length : features.length);
      }),
      { numRuns: RUNS, seed: SEED },
    );
  });

  test('a filter applies to markers, total and clusters alike', async () => {
    await made;
    // Only reading shows how many markers match, so with a long prefix and shards only smaller viewports are possible.
    const bounds =
      input.key === 'p4s3'
        ? { west: 15, south: 51, east: 18, north: 53 }
        : { west: -20, south: 30, east: 50, north: 70 };
    const wide = readViewport({ bounds, zoom: input.key === 'p4s3' ? 8 : 4 });
    const filter = { properties: [{ name: 'rank', lt: 900 }], category: ['PL', 'DE', 'FR', 'crowd'] };
    const passing = MARKERS.filter(
      ({ position, properties, category }) =>
        bruteInside(bounds, position) && filter.category.includes(category) && Number(properties['rank']) < 900,
    );
    const { context } = requestContext(database);
    expect(passing.length).toBeGreaterThan(1);
    const few = await viewportAuto(context, wide, input.key, 1, filter);
    expect(few).toMatchObject({ mode: 'CLUSTERS', total: passing.length });
    const many = await viewportAuto(context, wide, input.key, 5000, filter);
    expect(many.markers.map(({ key }) => key).toSorted()).toEqual(passing.map(({ key }) => key).toSorted());
    const page = await viewportMarkers(context, wide, input.key, { first: 5000 }, filter);
    expect(page.edges).toHaveLength(passing.length);
  });

  test.each([true, false])('plan reads no markers, and shows what markers reads (pages: %s)', async (trusted) => {
    const collection = await made;
    const view = readViewport({ bounds: { west: 10, south: 45, east: 25, north: 55 }, zoom: 6 });
    const { context, call } = requestContext(database, { trusted });
    /** The reads of each request to pages or the geo index. */
    const requestsMade = () => {
      const { pk: pages } = database.keys.page(database.keys.scope(collection), GENERATION, 'u');
      const isOfMarkers = (pk: string, index: unknown) => index !== undefined || pk.startsWith(pages.slice(0, -1));
      const readsOf = ({ name, input: { IndexName, ExpressionAttributeValues, RequestItems } }: RecordedCommand) => {
        if (name === 'Query') {
          const { ':pk': pk = '', ':from': from, ':to': to } = ExpressionAttributeValues as Record<string, string>;
          return isOfMarkers(pk, IndexName) ? [`${pk} ${from}..${to}`] : [];
        }
        const keys = (RequestItems as Requested | undefined)?.[database.tables.derived]?.Keys ?? [];
        return keys.filter(({ pk }) => isOfMarkers(pk, undefined)).map(({ pk, sk }) => `${pk} ${sk}..${sk}`);
      };
      return calls.commands.map(readsOf).filter((reads) => reads.length > 0);
    };
    calls.reset();
    const { source, ranges, requests, readUnits } = await viewportPlan(context, view, input.key);
    expect(requestsMade()).toEqual([]);
    expect(source).toBe(trusted ? 'PAGES' : 'INDEX');
    expect(requests).toBeLessThanOrEqual(64);
    for (const { bounds } of ranges) expect(areaOverlapsCell(view.area, bounds)).toBe(true);

    calls.reset();
    // With the same cells uncached as before: a page's reads of cells reduce the budget for its ranges.
    const fresh = requestContext(database, { trusted });
    const page = await viewportMarkers(fresh.context, view, input.key, { first: 5000 });
    const sent = requestsMade();
    const read = sent.flat();
    const planned = ranges.map(({ index, ...range }) => ({
      range: { ...range, index: index === 'pages' ? ('derived' as const) : index },
      limit: Infinity,
      maxCalls: Infinity,
    }));
    const shown = uniteRanges(planned).map(({ range: { pk, from, to } }) => `${pk} ${from}..${to}`);
    expect(read.length).toBeGreaterThan(0);
    // The index of a sharded collection takes more calls than a page has.
    if (!trusted && page.pageInfo.hasNextPage) return expect(shown).toEqual(expect.arrayContaining(read));
    expect(read.toSorted()).toEqual(shown.toSorted());
    expect(sent).toHaveLength(requests);
    // Both have read the directory and cells.
    const units = fresh.call.meter.readUnits - call.meter.readUnits;
    if (trusted) expect(readUnits).toBe(units);
    else expect(readUnits).toBeNull();
  });

  test('every query of markers reads the index if a recount has just replaced the pages', async () => {
    const collection = await made;
    const bounds = { west: 16.85, south: 52.35, east: 16.95, north: 52.45 };
    const view = readViewport({ bounds, zoom: 12 });
    const expected = MARKERS.filter(({ position }) => bruteInside(bounds, position)).map(({ key }) => key);
    const newContext = () =>
      requestContext(database, { pages: testPages({ trusted: true, generation: 'replaced' }) }).context;
    const { edges } = await viewportMarkers(newContext(), view, input.key, { first: 5000 });
    const { markers } = await viewportAuto(newContext(), view, input.key, 5000);
    const found = [edges.map(({ node }) => node.key), markers.map(({ key }) => key)];
    expect(found.map((keys) => keys.toSorted())).toEqual([expected.toSorted(), expected.toSorted()]);
    expect(await viewportPlan(newContext(), view, input.key)).toMatchObject({ source: 'INDEX' });
    const [crowd] = MARKERS.filter(({ category }) => category === 'crowd');
    const [nearest] = await nearestMarkers(newContext(), collection, { center: crowd!.position, count: 1 });
    expect(nearest?.node.category).toBe('crowd');
  });
});

test('the seed of the bounding boxes is logged', () => {
  console.info(`CELLPORT_SEED=${SEED}`);
  expect(randomFrom(SEED)()).toBeLessThan(1);
});
