import fc from 'fast-check';
import { describe, expect, it } from 'vitest';

import { shuffledOrder } from '../../src/ingest/markers/order.js';
import { RowOffsets, type RowOffset } from '../../src/ingest/read/row.js';
import { someOf } from '../support/rounds.js';

const seed = fc.nat(2 ** 32 - 1);

describe('the order in which an import writes', () => {
  it('contains every row once', () => {
    fc.assert(
      fc.property(fc.nat(5000), seed, (count, from) => {
        expect([...shuffledOrder(count, from)].toSorted((a, b) => a - b)).toEqual(
          Array.from({ length: count }, (_, at) => at),
        );
      }),
      { numRuns: someOf(50) },
    );
  });

  it('depends on the seed alone, and differs for another seed', () => {
    fc.assert(
      fc.property(fc.integer({ min: 50, max: 2000 }), seed, seed, (count, one, other) => {
        fc.pre(one !== other);
        expect(shuffledOrder(count, one)).toEqual(shuffledOrder(count, one));
        expect(shuffledOrder(count, one)).not.toEqual(shuffledOrder(count, other));
      }),
      { numRuns: someOf(50) },
    );
  });

  it('spreads any short run over the whole file, so that no part gets a burst', () => {
    const parts = 10;
    const together = 300;
    fc.assert(
      fc.property(
        fc.integer({ min: 10_000, max: 200_000 }),
        seed,
        fc.double({ min: 0, max: 1, noNaN: true }),
        (count, from, where) => {
          const order = shuffledOrder(count, from);
          const first = Math.floor(where * (count - together));
          const met = Array.from({ length: parts }, () => 0);
          for (const row of order.subarray(first, first + together)) {
            const part = Math.floor((row / count) * parts);
            met[part] = (met[part] ?? 0) + 1;
          }
          // 30 on average; 75 is eight standard deviations from it.
          expect(Math.max(...met)).toBeLessThan(75);
          expect(Math.min(...met)).toBeGreaterThan(0);
        },
      ),
      { numRuns: someOf(100) },
    );
  });
});

it('any number of offsets is kept in order', () => {
  const place = (at: number): RowOffset => ({
    start: at * 2 ** 20 + 1,
    length: at % 4_000_000,
    checksum: (at * 2_654_435_761) % 2 ** 32,
  });
  const places = new RowOffsets();
  const count = 150_000;
  for (let at = 0; at < count; at += 1) places.push(place(at));
  expect(places.count).toBe(count);
  for (const at of [0, 1, 65_535, 65_536, 131_072, count - 1]) expect(places.at(at)).toEqual(place(at));
  expect(() => places.at(count + 65_536)).toThrow(/no offset/);
});
