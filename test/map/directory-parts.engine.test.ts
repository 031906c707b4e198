import { DeleteCommand, ScanCommand } from '@aws-sdk/lib-dynamodb';
import fc from 'fast-check';
import { beforeAll, describe, expect, test } from 'vitest';

import { distance } from '../../src/geo/distance.js';
import { viewportMarkers } from '../../src/map/markers.js';
import { nearestMarkers } from '../../src/map/near/near.js';
import { viewportPlan } from '../../src/map/plan.js';
import { readViewport } from '../../src/map/viewport.js';
import type { Collection } from '../../src/model/collection.js';
import { DirectoryCache } from '../../src/read/from-pages/directory-cache.js';
import { memoryDatabase } from '../support/memory-store.js';
import { testPages } from '../support/page-services.js';
import { randomFrom } from '../support/random.js';
import { someOf } from '../support/rounds.js';
import { bruteInside, makeCollection, realMarkers, requestContext } from './fixture.js';

/*
 * Pages of some three markers, and parts of the directory of at most two pages, so that most partitions have more parts than are
 * read at once; and servers that keep none, some or all of them.
 */

const MARKERS = realMarkers(250);
const db = memoryDatabase();
const RUNS = someOf(40);
const kept = { none: new DirectoryCache(0), some: new DirectoryCache(5_000), all: new DirectoryCache() };
const keeping = fc.constantFrom(...Object.values(kept));
const place = fc.constantFrom(...MARKERS.filter((_, index) => index % 5 === 0).map(({ position }) => position));
let collection: Collection;

beforeAll(async () => {
  collection = await makeCollection(db, { key: 'parts' }, MARKERS, { mostBytes: 150, mostHints: 2 });
});

const contextOf = (directories: DirectoryCache) =>
  requestContext(db, { pages: testPages({ trusted: true, directories }) });

describe('over a directory of which parts are known', () => {
  test('the pages of a map or of a longer list hold each marker inside once, in order', async () => {
    const view = fc.record({ at: place, zoom: fc.integer({ min: 1, max: 14 }), first: fc.constantFrom(7, 50, 1_000) });
    await fc.assert(
      fc.asyncProperty(view, keeping, async ({ at, zoom, first }, directories) => {
        const [width, height] = [900 / 2 ** zoom, 281 / 2 ** zoom];
        const bounds = {
          west: at.lng - width / 3,
          east: at.lng + width,
          south: Math.max(-90, at.lat - height),
          north: Math.min(90, at.lat + height / 3),
        };
        const viewport = readViewport({ bounds, zoom });
        const found: string[] = [];
        for (let after: string | null = null; ;) {
          const { context, call } = contextOf(directories);
          const page = await viewportMarkers(context, viewport, collection.key, { first, after });
          found.push(...page.edges.map(({ node }) => node.key));
          expect(call.meter.markersFrom).toBe('PAGES');
          if (!page.pageInfo.hasNextPage) break;
          after = page.pageInfo.endCursor;
        }
        const inside = MARKERS.filter(({ position }) => bruteInside(bounds, position)).map(({ key }) => key);
        expect(found.toSorted()).toEqual(inside.toSorted());
        const { ranges } = await viewportPlan(contextOf(directories).context, viewport, collection.key);
        expect(ranges.every(({ index }) => index === 'pages')).toBe(true);
        if (inside.length > 0) expect(ranges.length).toBeGreaterThan(0);
      }),
      { numRuns: RUNS, seed: 14 },
    );
  });

  test('the nearest markers are those of a linear scan', async () => {
    const random = randomFrom(14);
    for (let run = 0; run < RUNS; run++) {
      const at = MARKERS[Math.floor(random() * MARKERS.length)]?.position ?? { lng: 0, lat: 0 };
      const center = { lng: Math.max(-180, Math.min(180, at.lng + random() * 4)), lat: at.lat * random() };
      const { context, call } = contextOf(Object.values(kept)[run % 3] ?? kept.none);
      const edges = await nearestMarkers(context, collection, { center, count: 1 + (run % 40) });
      expect(call.meter.markersFrom).toBe('PAGES');
      const far = MARKERS.map(({ position }) => distance(center, position)).sort((a, b) => a - b);
      expect(edges.map((edge) => edge.distance)).toEqual(far.slice(0, 1 + (run % 40)));
    }
  });
});

test('when the pages of a known directory are gone, markers come from the geo index', async () => {
  const own = memoryDatabase();
  const some = await makeCollection(own, { key: 'gone' }, MARKERS, { mostBytes: 150, mostHints: 2 });
  const viewport = readViewport({ bounds: { west: 0, south: 30, east: 60, north: 60 }, zoom: 4 });
  const center = { lng: 16.9, lat: 52.4 };
  const directories = [new DirectoryCache(), new DirectoryCache()];
  const read = async () => {
    const requests = directories.map((each) =>
      requestContext(own, { pages: testPages({ trusted: true, directories: each }) }),
    );
    const [first, second] = requests.map(({ context }) => context);
    if (!first || !second) throw new Error('two requests were made');
    const { edges } = await viewportMarkers(first, viewport, some.key, { first: 1_000 });
    const near = await nearestMarkers(second, some, { center, count: 40 });
    return {
      keys: [...edges, ...near].map(({ node }) => node.key),
      from: requests.map(({ call }) => call.meter.markersFrom),
    };
  };
  const before = await read();
  expect(before.from).toEqual(['PAGES', 'PAGES']);
  const TableName = own.tables.derived;
  const { Items = [] } = await own.client.send(new ScanCommand({ TableName }));
  for (const { pk, sk } of Items) await own.client.send(new DeleteCommand({ TableName, Key: { pk, sk } }));
  const after = await read();
  expect(after.keys).toEqual(before.keys);
  expect(after.from).toEqual(['BOTH', 'BOTH']);
});
