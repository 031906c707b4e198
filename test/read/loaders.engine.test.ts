import DataLoader from 'dataloader';
import pLimit from 'p-limit';
import { beforeAll, describe, expect, test } from 'vitest';

import { normalizeBounds } from '../../src/geo/bounds.js';
import { Budget } from '../../src/loaders/budget.js';
import { CellCache } from '../../src/loaders/cell-cache.js';
import { CollectionCache } from '../../src/loaders/collection-cache.js';
import { CollectionLoader, type ItemLoader } from '../../src/loaders/collection-loader.js';
import { createGeometryCache } from '../../src/loaders/geometry-cache.js';
import { RangeLoader, ReadFigures } from '../../src/loaders/range-loader.js';
import type { Collection } from '../../src/model/collection.js';
import { DEFAULT_LIMITS, STALE_AFTER_MS } from '../../src/model/limits.js';
import { planBlocks, planBlocksUnder } from '../../src/plan/blocks.js';
import { Loaders } from '../../src/read/loaders.js';
import { newCall } from '../../src/store/database.js';
import { createMarkers } from '../../src/store/marker/markers.js';
import { addCells } from '../support/add-cells.js';
import { noClusters, testPages } from '../support/page-services.js';
import { recordCalls } from '../support/record-calls.js';
import { testCollection, testDatabase } from '../support/test-database.js';

const database = await testDatabase();
const calls = recordCalls(database);
const NOW = '2026-11-21T10:00:00.000Z';
let parks: Collection;

beforeAll(async () => {
  parks = await testCollection(database, { key: 'parks', name: 'Parks' }, NOW);
  const markers = Array.from({ length: 40 }, (_, index) => ({
    key: `m${index}`,
    position: { lng: index / 4, lat: 50 },
  }));
  await createMarkers(newCall(database), parks, markers, NOW);
  const one = { count: 1, sumLng: 0, sumLat: 0 };
  await addCells(database, 'parks', 1, new Map(['u', 'u0', 'u1'].map((parent) => [parent, new Map([['0', one]])])));
});

function request(signal?: AbortSignal, maxBytes = 1e6) {
  const now = () => performance.now();
  const call = newCall(database, signal);
  const cellCache = new CellCache({ maxBytes, trusted: () => true, now });
  const collectionCache = new CollectionCache({ now });
  const geometryCache = createGeometryCache({ maxBytes: 0 });
  const caches = {
    cellCache,
    collectionCache,
    geometryCache,
    readFigures: new ReadFigures(),
    keptClusters: noClusters,
    ...testPages({ trusted: false }),
  };
  const services = { db: database, ...caches, limits: DEFAULT_LIMITS, now: () => new Date(NOW) };
  return { loaders: new Loaders(services, call), call, again: () => new Loaders(services, call) };
}

const range = (from: string, to: string, pk = 'marker::parks::u0') => ({
  range: { index: 'geoA' as const, pk, from, to },
  limit: Infinity,
  budget: new Budget(Infinity, Infinity),
});

describe('entities', () => {
  test('of one tick are read in one batch, each once', async () => {
    const { loaders } = request();
    calls.reset();
    const names = ['m1', 'm2', 'm1', 'missing', 'x'.repeat(3000)];
    const found = await Promise.all(names.map((key) => loaders.markers.load({ collection: parks, key })));
    expect(found.map((marker) => marker?.key)).toEqual(['m1', 'm2', 'm1', undefined, undefined]);
    expect(calls.commands.map(({ name }) => name)).toEqual(['BatchGetItem']);
  });

  test('existing collections are cached for a moment for other requests, missing ones are not', async () => {
    const { loaders, again } = request();
    calls.reset();
    const keys = ['parks', 'none', 'Not A Key'];
    expect(await Promise.all(keys.map((key) => loaders.collections.get(key)))).toEqual([parks, null, null]);
    expect(calls.count()).toBe(1);
    expect(await again().collections.get('parks')).toEqual(parks);
    expect(calls.count()).toBe(1);
    expect(await again().collections.get('none')).toBeNull();
    expect(calls.count()).toBe(2);
  });

  test('a collection that took long to read replaces none that was written or read meanwhile', async () => {
    const gone = await testCollection(database, { key: 'gone', name: 'Gone' }, NOW);
    let now = 1_000;
    const cache = new CollectionCache({ now: () => now });
    const loader = () => new CollectionLoader(newCall(database), cache);
    const get = (key: string, meanwhile: () => void) => {
      const one = loader();
      const slow: ItemLoader = new DataLoader(async (keys) => {
        const found = await one.lagging.loadMany(keys);
        meanwhile();
        return found;
      });
      return one.get(key, slow);
    };
    expect(await get('parks', () => (now += STALE_AFTER_MS - 100))).toEqual(parks);
    expect(cache.get('parks')).toEqual(parks);
    now += 200;
    expect(cache.get('parks')).toBeUndefined();

    const renamed = { ...parks, name: 'New', version: 3 };
    expect(await get('parks', () => loader().wrote('parks', renamed))).toEqual(parks);
    expect(await loader().get('parks')).toEqual(renamed);
    loader().wrote('parks', { ...parks, name: 'Between', version: 2 });
    expect(await loader().get('parks')).toEqual(renamed);
    expect(await get('gone', () => loader().wrote('gone', null))).toEqual(gone);
    expect(await loader().get('gone')).toBeNull();
  });
});

describe('ranges', () => {
  test('of one tick are read as their union, and the same range is not read again', async () => {
    const { loaders } = request();
    calls.reset();
    const asked = [range('00000000', '5zzzzzzz:;'), range('30000000', 'gzzzzzzz:;'), range('h0000000', 'zzzzzzzz:;')];
    const answers = await Promise.all(asked.map((one) => loaders.index.load(parks, one)));
    expect(calls.count('Query')).toBe(1);
    const all = await request().loaders.index.load(parks, range('00000000', 'zzzzzzzz:;'));
    expect(answers.map(({ complete }) => complete)).toEqual([true, true, true]);
    expect(all.markers.length).toBeGreaterThan(5);
    asked.forEach(({ range: { from, to } }, index) => {
      const sortKeys = (markers: typeof all.markers) => markers.map(({ position }) => position.slice(2));
      const expected = sortKeys(all.markers).filter((sortKey) => sortKey >= from && sortKey <= to);
      expect(sortKeys(answers[index]?.markers ?? [])).toEqual(expected);
    });
    calls.reset();
    await loaders.index.load(parks, range('00000000', '5zzzzzzz:;'));
    expect(calls.count()).toBe(0);
  });

  test('a failed union fails only its own callers', async () => {
    const ranges = new RangeLoader(
      async ({ pk }) => {
        if (pk === 'bad') throw new Error('broken');
        return { items: [], next: undefined };
      },
      pLimit(2),
      database.scheduler,
    );
    const settled = await Promise.allSettled([
      ranges.load(range('0', '1', 'bad')),
      ranges.load(range('0', '1', 'good')),
      ranges.load(range('1', '2', 'bad')),
    ]);
    expect(settled.map(({ status }) => status)).toEqual(['rejected', 'fulfilled', 'rejected']);
  });

  test('no more Query calls are in progress than the limit allows', async () => {
    let now = 0;
    let most = 0;
    const ranges = new RangeLoader(
      async () => {
        most = Math.max(most, ++now);
        await new Promise(setImmediate);
        now--;
        return { items: [], next: undefined };
      },
      pLimit(3),
      database.scheduler,
    );
    await Promise.all(Array.from({ length: 20 }, (_, index) => ranges.load(range('0', '1', `p${index}`))));
    expect(most).toBe(3);
  });

  test('no request is sent to DynamoDB once the client is gone', async () => {
    const controller = new AbortController();
    const { loaders } = request(controller.signal);
    calls.reset();
    // A few at a time, and many more than are read before the first abort is noticed.
    const reads = Array.from({ length: 500 }, (_, index) => loaders.index.load(parks, range('0', 'z', `gone${index}`)));
    const settled = Promise.allSettled(reads);
    await expect.poll(() => calls.count('Query'), { interval: 1 }).toBeGreaterThan(0);
    controller.abort(new Error('gone'));
    expect((await settled).filter(({ status }) => status === 'rejected').length).toBeGreaterThan(0);
    const sent = calls.count('Query');
    await expect(loaders.index.load(parks, range('0', 'z', 'later'))).rejects.toThrow('gone');
    expect(calls.count('Query')).toBe(sent);
  });
});

describe('cell blocks', () => {
  const plan = planBlocks(normalizeBounds('bounds', { west: 1, south: 46, east: 30, north: 54 }), 3);
  const all = new Budget(Infinity, Infinity);

  test('are read once per process, missing ones included, and count as cache hits after that', async () => {
    const { loaders, call, again } = request();
    calls.reset();
    const blocks = await loaders.blocks.load(parks, plan, all);
    expect(blocks?.map(({ parent }) => parent)).toEqual(['u0', 'u1']);
    const queries = calls.count('Query');
    expect(queries).toBeLessThanOrEqual(plan.ranges.length);
    const budget = new Budget(64, Infinity);
    expect(await again().blocks.load(parks, plan, budget)).toEqual(blocks);
    expect(budget.calls).toBe(64);
    expect(calls.count('Query')).toBe(queries);
    expect(call.meter.cacheHits).toBe(plan.ranges.reduce((sum, { from, to }) => sum + to - from, 0));
  });

  test('that are far apart are read in one batch, and once per request even without a cache', async () => {
    const { loaders } = request(undefined, 0);
    const apart = planBlocksUnder(['gc', 'u0', 'zz'], 12);
    const budget = new Budget(8, Infinity);
    expect(apart.ranges).toHaveLength(3);
    for (let times = 0; times < 2; times++) {
      calls.reset();
      expect((await loaders.blocks.load(parks, apart, budget))?.map(({ parent }) => parent)).toEqual(['u0']);
      expect(calls.commands.map(({ name }) => name)).toEqual(times === 0 ? ['BatchGetItem'] : []);
      expect(budget.calls).toBe(7);
    }
    await loaders.blocks.load(parks, plan, all);
    calls.reset();
    expect((await loaders.blocks.load(parks, plan, all))?.map(({ parent }) => parent)).toEqual(['u0', 'u1']);
    expect(calls.count()).toBe(0);
  });

  test('by their parents are read in one batch', async () => {
    const { loaders } = request();
    calls.reset();
    const blocks = await Promise.all(['u', 'u0', 'zz', 'u'].map((parent) => loaders.blocks.one(parks, parent)));
    expect(blocks.map(({ parent, children }) => [parent, children.size])).toEqual([
      ['u', 1],
      ['u0', 1],
      ['zz', 0],
      ['u', 1],
    ]);
    expect(calls.commands.map(({ name }) => name)).toEqual(['BatchGetItem']);
  });
});
