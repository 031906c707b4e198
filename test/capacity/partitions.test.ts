import fc from 'fast-check';
import { expect, test } from 'vitest';

import { partitionsOf } from '../../src/capacity/advice.js';
import type { Demand } from '../../src/capacity/prices.js';

test('the worked examples', () => {
  const demand = { rcu: 1_000, wcu: 500 };
  expect(partitionsOf({ ...demand, gb: 50 })).toEqual({
    byThroughput: 1,
    byStorage: 5,
    total: 5,
    rcuEach: 200,
    wcuEach: 100,
  });
  expect(partitionsOf({ ...demand, gb: 500 })).toEqual({
    byThroughput: 1,
    byStorage: 50,
    total: 50,
    rcuEach: 20,
    wcuEach: 10,
  });
  expect(partitionsOf({ rcu: 7_500, wcu: 3_000, gb: 0 })).toMatchObject({ byThroughput: 6, byStorage: 1, total: 6 });
});

test('the number of partitions is the lowest that keeps each within the limits', () => {
  /** Whole units, so that nothing is rounded: a partition has 3,000 thirds of a write unit a second. */
  const keeps = ({ rcu, wcu, gb }: Demand, count: number) => rcu + 3 * wcu <= 3_000 * count && gb <= 10 * count;
  const units = fc.integer({ min: 0, max: 20_000 });
  fc.assert(
    fc.property(units, units, fc.integer({ min: 0, max: 400 }), (rcu, wcu, gb) => {
      const demand = { rcu, wcu, gb };
      let fewest = 1;
      while (!keeps(demand, fewest)) fewest += 1;
      const { total, rcuEach, wcuEach } = partitionsOf(demand);
      expect(total).toBe(fewest);
      expect(rcuEach * total).toBeCloseTo(rcu);
      expect(wcuEach * total).toBeCloseTo(wcu);
    }),
  );
  // 1/3 + 2/3 of a partition, whose floating-point quotients may add up to more than 1.
  for (let share = 0; share <= 30; share += 1)
    expect(partitionsOf({ rcu: share * 100, wcu: 1_000 - (share * 100) / 3, gb: 0 }).total).toBe(1);
});
