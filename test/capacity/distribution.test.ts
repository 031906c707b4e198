import fc from 'fast-check';
import { expect, test } from 'vitest';

import { adviceFor, partitionsOf } from '../../src/capacity/advice.js';
import { writesOfBatch } from '../../src/capacity/derived-writes.js';
import { Distribution } from '../../src/capacity/distribution.js';
import { PRICE_LIST, type Demand } from '../../src/capacity/prices.js';
import { cellRange, encode, fromZ, LONGEST_Z, toZ } from '../../src/geo/geohash.js';
import { distributionOf, points } from './points.js';

const position = fc.integer({ min: 0, max: 32 ** LONGEST_Z });

test('counts, hottest prefixes and positions are those of a linear scan', () => {
  fc.assert(
    fc.property(points, position, position, fc.integer({ min: 0, max: 6 }), (some, a, b, length) => {
      const distribution = distributionOf(some);
      const all = some.map((each) => toZ(encode(each, LONGEST_Z))).sort((x, y) => x - y);
      const [from, to] = [Math.min(a, b), Math.max(a, b)];
      expect(distribution.markers).toBe(all.length);
      expect(distribution.within({ from, to })).toBe(all.filter((z) => from <= z && z < to).length);
      all.forEach((z, index) => expect(distribution.positionAt(index + 0.5)).toBe(z));

      const counts = new Map<string, number>();
      for (const z of all) {
        const prefix = fromZ(z, LONGEST_Z).slice(0, length);
        counts.set(prefix, (counts.get(prefix) ?? 0) + 1);
      }
      const { prefix, share } = distribution.hottest(length);
      expect(share).toBe(Math.max(...counts.values()) / all.length);
      expect((counts.get(prefix) ?? 0) / all.length).toBe(share);
    }),
    { numRuns: 50 },
  );
});

test('markers of a cell whose positions are unknown are assumed to be spread evenly', () => {
  const { from, to } = cellRange('u3');
  const distribution = new Distribution([
    { from, to, markers: 320 },
    { ...cellRange('u4b'), markers: 100 },
  ]);
  expect(distribution.within(cellRange('u3k'))).toBeCloseTo(10);
  expect(distribution.hottest(2)).toEqual({ prefix: 'u3', share: 320 / 420 });
  expect(distribution.hottest(3)).toEqual({ prefix: 'u4b', share: 100 / 420 });
  expect(distribution.positionAt(160)).toBe((from + to) / 2);
  expect(distribution.scaledTo(42).within(cellRange('u3'))).toBeCloseTo(32);
});

test('one change takes eight write units, and two take the mean over all pairs', () => {
  const some = [
    { lng: 16.9, lat: 52.4 },
    { lng: 16.9001, lat: 52.4001 },
    { lng: 17.4, lat: 52.4 },
    { lng: -70, lat: -30 },
  ];
  const distribution = distributionOf(some);
  expect(writesOfBatch(distribution, 1, { markers: 1, bytes: 900 })).toBeCloseTo(8);
  // Blocks have parents of 0 to 4 characters; each marker has a page of its own; the state is written twice.
  const touched = (markers: typeof some) =>
    [0, 1, 2, 3, 4].reduce((sum, length) => sum + new Set(markers.map((each) => encode(each, length))).size, 0) +
    new Set(markers).size +
    2;
  const pairs = some.flatMap((a) => some.map((b) => touched([a, b])));
  expect(writesOfBatch(distribution, 2, { markers: 1, bytes: 900 })).toBeCloseTo(
    pairs.reduce((sum, each) => sum + each, 0) / pairs.length,
  );
});

test('a page of more than 1 KB takes more than one write unit', () => {
  const distribution = distributionOf(
    Array.from({ length: 500 }, (_, index) => ({ lng: 16 + (index % 25) / 25, lat: 52 + index / 1_000 })),
  );
  const wcu = (bytes: number) =>
    adviceFor({
      distribution,
      sizes: {
        readable: { item: 8_000, entry: 8_000 },
        compact: { item: 8_000, entry: 8_000 },
        page: { markers: 1, bytes },
      },
      load: { viewsADay: 0, writes: 10, peak: 2 },
      prices: PRICE_LIST.prices,
    }).demand.wcu;
  // Markers with map properties of 8,000 bytes that do not compress: a page has one of them, and takes 8 units.
  expect(wcu(8_000)).toBeGreaterThan(wcu(900) + 10 * 6);
});

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
