import fc from 'fast-check';
import { expect, test } from 'vitest';

import { systemClock } from '../../src/clock.js';
import { paceWrites } from '../../src/jobs/repartition.js';
import { newMeter } from '../../src/store/request/meter.js';

test('writes never exceed their limit by more than a second of it and one piece of work, however work comes', async () => {
  const work = fc.array(fc.record({ units: fc.nat(300), took: fc.nat(5_000) }), { minLength: 1, maxLength: 60 });
  await fc.assert(
    fc.asyncProperty(work, fc.integer({ min: 1, max: 500 }), async (pieces, maxWcu) => {
      let now = 0;
      const clock = { ...systemClock, now: () => now, sleep: async (ms: number) => void (now += ms) };
      const meter = newMeter();
      const pace = paceWrites(meter, maxWcu, clock);
      const done: { readonly at: number; readonly units: number }[] = [];
      for (const { units, took } of pieces) {
        now += took;
        meter.writeUnits += units;
        await pace(new AbortController().signal);
        done.push({ at: now, units });
      }
      for (const [from, { at: begin }] of done.entries()) {
        let sum = 0;
        for (const { at, units } of done.slice(from + 1)) {
          sum += units;
          expect(sum).toBeLessThanOrEqual(maxWcu * ((at - begin) / 1_000 + 1) + 1e-6);
        }
      }
    }),
  );
});
