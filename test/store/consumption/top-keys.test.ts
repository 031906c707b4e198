import fc from 'fast-check';
import { expect, test } from 'vitest';

import { TopKeys, weightOf, type Units } from '../../../src/store/consumption/top-keys.js';

/** Half units are what DynamoDB reports, so that sums are exact. */
const units = fc.record({
  readUnits: fc.nat({ max: 40 }).map((halves) => halves / 2),
  writeUnits: fc.nat({ max: 10 }),
});
/** A few keys take most, as the squares of evenly spread numbers do; the others come and go. */
const name = fc.integer({ min: 0, max: 900 }).map((square) => `key ${Math.floor(Math.sqrt(900 - square))}`);
const stream = fc.array(fc.tuple(name, units), { maxLength: 400 });

function exactSums(consumed: readonly (readonly [string, Units])[]): Map<string, Units> {
  const sums = new Map<string, Units>();
  for (const [key, { readUnits, writeUnits }] of consumed) {
    const before = sums.get(key) ?? { readUnits: 0, writeUnits: 0 };
    sums.set(key, { readUnits: before.readUnits + readUnits, writeUnits: before.writeUnits + writeUnits });
  }
  return sums;
}

test('no key misses more than the bound, none shows too much, and every key above the bound is there', () => {
  fc.assert(
    fc.property(stream, fc.integer({ min: 1, max: 12 }), (consumed, counters) => {
      const top = new TopKeys(counters);
      for (const [key, amount] of consumed) top.add(key, amount);
      const exact = exactSums(consumed);
      const shown = new Map(top.entries());
      expect(shown.size).toBe(Math.min(counters, exact.size));
      const all = consumed.reduce((sum, [, amount]) => sum + weightOf(amount), 0);
      expect(top.missedAtMost).toBeLessThanOrEqual(all / counters);
      for (const [key, whole] of exact) {
        const seen = shown.get(key);
        expect(weightOf(whole) - (seen === undefined ? 0 : weightOf(seen))).toBeLessThanOrEqual(top.missedAtMost);
        expect(seen?.readUnits ?? 0).toBeLessThanOrEqual(whole.readUnits);
        expect(seen?.writeUnits ?? 0).toBeLessThanOrEqual(whole.writeUnits);
      }
    }),
  );
});

test('with a counter for each key, counts are exact', () => {
  fc.assert(
    fc.property(stream, (consumed) => {
      const top = new TopKeys(31);
      for (const [key, amount] of consumed) top.add(key, amount);
      expect(new Map(top.entries())).toEqual(exactSums(consumed));
      expect(top.missedAtMost).toBe(new Set(consumed.map(([key]) => key)).size < 31 ? 0 : expect.any(Number));
    }),
  );
});
