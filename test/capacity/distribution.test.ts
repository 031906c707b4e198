import fc from 'fast-check';
import { expect, test } from 'vitest';

import { writesOfBatch } from '../../src/capacity/derived-writes.js';
import { Distribution } from '../../src/capacity/distribution.js';
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
