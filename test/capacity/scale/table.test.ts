import fc from 'fast-check';
import { expect, test } from 'vitest';

import { admit } from '../../../bench/scale/admit.js';
import { KeyLine, LineSums } from '../../../bench/scale/key-line.js';
import { KINDS, PUBLISHED } from '../../../bench/scale/published.js';
import { SimulatedTable } from '../../../bench/scale/table.js';

const flow = fc.array(fc.nat({ max: 5_000 }), { minLength: 6, maxLength: 6 });
const provisioned = fc.record({
  read: fc.integer({ min: 1, max: 20_000 }),
  write: fc.integer({ min: 1, max: 20_000 }),
});
const stretches = fc.array(
  fc.record({
    pk: fc.constantFrom('a', 'b', 'c'),
    sort: fc.nat({ max: 5 }),
    bytes: fc.nat({ max: 40 * 2 ** 30 }),
    isItem: fc.boolean(),
  }),
  { minLength: 6, maxLength: 6 },
);

test('sums of a part of the line are those of its stretches, and its middle halves them', () => {
  fc.assert(
    fc.property(
      flow,
      fc.double({ min: 0, max: 6, noNaN: true }),
      fc.double({ min: 0, max: 6, noNaN: true }),
      (values, a, b) => {
        const [from, to] = [Math.min(a, b), Math.max(a, b)];
        const sums = new LineSums(Float64Array.from(values));
        const scanned = values.reduce(
          (sum, value, at) => sum + value * Math.max(0, Math.min(to, at + 1) - Math.max(from, at)),
          0,
        );
        expect(sums.within(from, to)).toBeCloseTo(scanned, 6);
        expect(sums.within(from, sums.middleOf(from, to))).toBeCloseTo(scanned / 2, 5);
      },
    ),
  );
});

test('partitions cover the line without overlap, split no item, and serve no more than their limits and the demand', () => {
  fc.assert(
    fc.property(
      stretches,
      fc.option(provisioned, { nil: undefined }),
      fc.array(fc.tuple(flow, flow), { maxLength: 30 }),
      (all, units, steps) => {
        const line = new KeyLine(all);
        const table = new SimulatedTable(line, units ? { provisioned: units } : {});
        for (const [read, write] of steps) {
          const before = table.partitions.length;
          const demand = { read: line.along(Float64Array.from(read)), write: line.along(Float64Array.from(write)) };
          const { demanded, served, throttledKey } = table.step(demand, 300);
          for (const kind of KINDS) {
            expect(demanded[kind]).toBeCloseTo(
              (kind === 'read' ? read : write).reduce((sum, value) => sum + value, 0),
              5,
            );
            expect(served[kind]).toBeLessThanOrEqual(demanded[kind] + 1e-6);
            expect(served[kind]).toBeLessThanOrEqual(before * PUBLISHED.partition[kind] + 1e-6);
          }
          const isServed = KINDS.every((kind) => served[kind] > demanded[kind] - 1e-3);
          if (!isServed) expect(all.map(({ pk }) => pk)).toContain(throttledKey);
          expect(table.partitions[0]?.from).toBe(0);
          expect(table.partitions.at(-1)?.to).toBe(all.length);
          table.partitions.forEach(({ from, to }, index) => {
            expect(to).toBeGreaterThan(from);
            if (index > 0) expect(from).toBe(table.partitions[index - 1]?.to);
            expect(Number.isInteger(from) || line.stretches[Math.floor(from)]?.isItem !== true).toBe(true);
          });
        }
      },
    ),
    { numRuns: 200 },
  );
});

test('a minute at once equals sixty single seconds, and everything served comes from provisioned or saved units', () => {
  const partitions = fc.array(fc.nat({ max: 400 }), { minLength: 1, maxLength: 6 });
  fc.assert(
    fc.property(partitions, fc.integer({ min: 1, max: 2_000 }), fc.nat({ max: 20_000 }), (load, total, kept) => {
      const demand = Float64Array.from(load);
      const capacity = () => ({
        most: 1_000,
        total,
        tokens: demand.map(() => Math.min(kept, (300 * total) / load.length)),
      });
      const [atOnce, bySecond] = [capacity(), capacity()];
      const served = admit(demand, 60, atOnce).map((value) => value * 60);
      const slowly = new Float64Array(load.length);
      for (let second = 0; second < 60; second++)
        admit(demand, 1, bySecond).forEach((value, index) => (slowly[index] = (slowly[index] ?? 0) + value));
      served.forEach((value, index) => expect(slowly[index]).toBeCloseTo(value, 6));
      atOnce.tokens.forEach((value, index) => expect(bySecond.tokens[index]).toBeCloseTo(value, 6));
      const used = served.reduce((sum, value) => sum + value, 0);
      const had = 60 * total + capacity().tokens.reduce((sum, value) => sum + value, 0);
      expect(used).toBeLessThanOrEqual(had + 1e-6);
    }),
  );
});
