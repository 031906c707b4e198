import fc from 'fast-check';
import pLimit from 'p-limit';
import { expect, test } from 'vitest';

import { systemClock } from '../../src/clock.js';
import { Budget } from '../../src/loaders/budget.js';
import { RangeLoader } from '../../src/loaders/range-loader.js';
import { Scheduler } from '../../src/scheduling/scheduler.js';

test('reads that share a budget make progress, and together never spend more than it has', () => {
  const whole = fc.integer({ min: 1, max: 100 });
  fc.assert(
    fc.property(whole, whole, (calls, reads) => {
      const budget = new Budget(calls, Infinity);
      const shares = Array.from({ length: reads }, () => budget.share(reads));
      for (const share of shares) expect(share.calls).toBeGreaterThanOrEqual(1);
      const spent = shares.reduce((sum, share) => sum + share.calls, 0);
      expect(spent).toBeLessThanOrEqual(Math.max(calls, reads));
      for (const share of shares) share.debit({ calls: share.calls, items: 1 });
      expect(budget.calls).toBe(Math.max(0, calls - spent));
      for (const share of shares) expect(share.calls).toBe(0);
    }),
  );
});

test('items read for a share are charged to the whole budget', () => {
  const budget = new Budget(64, 100);
  budget.share(4).upTo(1).debit({ calls: 1, items: 30 });
  expect([budget.calls, budget.items]).toEqual([63, 70]);
});

test('a Query call shared by several callers is charged to each of them, and to no other', async () => {
  const ranges = new RangeLoader(async () => ({ items: [], next: undefined }), pLimit(2), new Scheduler(systemClock));
  const read = async (from: string, to: string, budget: Budget) =>
    ranges.load({ range: { index: 'geoA', pk: 'p', from, to }, limit: Infinity, budget });
  const budgets = Array.from({ length: 3 }, () => new Budget(5, Infinity));
  const [first, second, other] = budgets as [Budget, Budget, Budget];
  await Promise.all([read('0', '5', first), read('4', '9', second)]);
  expect(budgets.map(({ calls }) => calls)).toEqual([4, 4, 5]);
  await read('a', 'b', other);
  expect(budgets.map(({ calls }) => calls)).toEqual([4, 4, 4]);
});
