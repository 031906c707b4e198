import { setImmediate } from 'node:timers/promises';
import { expect, test, vi } from 'vitest';

import { systemClock } from '../../src/clock.js';
import type { ConsumerReport } from '../../src/loaders/consumer-trust.js';
import { pageName } from '../../src/read/from-pages/page-cache.js';
import { FollowedConsumers, type Status } from '../../src/server/followed-consumers.js';
import type { Database } from '../../src/store/database.js';
import { columnsOf } from '../support/page-services.js';

test('a process that believes for too long that it maintains pages uses none that it has cached', async () => {
  let now = 100_000;
  const clock = vi.spyOn(systemClock, 'now').mockImplementation(() => now);
  const report: ConsumerReport = {
    pages: { generation: '1' },
    written: { since: 7, to: 7, batches: '[]' },
    complete: 7,
    gap: null,
    endAt: now,
    summariesSince: null,
  };
  let status: Status | undefined;
  const followed = new FollowedConsumers(
    {
      database: { clock: { wall: () => now } } as Database,
      consumerStatus: () => status,
      sourceConsumerStatus: () => undefined,
      storedReport: () => Promise.resolve(report),
    },
    1_000_000,
  );
  const { pageCache, trust } = followed;
  const name = pageName('buses', '1', 'u');
  const page = { begin: 'u', end: undefined, round: 4, lost: undefined, entries: [], columns: columnsOf([]), bytes: 1 };
  const isKept = async () => {
    await trust.lastPages();
    await setImmediate();
    return pageCache.find(name, 'buses') !== undefined;
  };
  await trust.lastPages();
  now += 3_000;
  pageCache.keep(name, page, pageCache.begin(), 'buses');
  expect(await isKept()).toBe(true);
  // It takes the work over, and its primary process stops.
  const owning = { ...report, owner: true, countsExact: true };
  status = { ...owning, behindMs: 1_000 };
  expect(await isKept()).toBe(true);
  status = { ...owning, behindMs: 20_000 };
  expect(await isKept()).toBe(false);
  clock.mockRestore();
});
