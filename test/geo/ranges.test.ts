import fc from 'fast-check';
import { describe, expect, test } from 'vitest';

import { areaContains, areaOverlapsCell, normalizeBounds } from '../../src/geo/bounds.js';
import { cellBounds, coverArea, encode, fromZ, toZ, type ZRange } from '../../src/geo/geohash.js';
import { someOf } from '../support/rounds.js';
import { anArea, aPoint, pointsNear } from './arbitraries.js';

const aBudget = fc.constantFrom(1, 2, 3, 7, 16, 100, 512);
const holds = (ranges: readonly ZRange[], z: number) => ranges.some(({ from, to }) => from <= z && z < to);

describe('the cover of an area', () => {
  test('every position inside is in a range, including those on edges', () => {
    fc.assert(
      fc.property(
        anArea.chain((area) =>
          fc.tuple(fc.constant(area), fc.array(fc.oneof(pointsNear(area), aPoint), { minLength: 5, maxLength: 20 })),
        ),
        fc.integer({ min: 0, max: 10 }),
        aBudget,
        ([area, points], length, most) => {
          const ranges = coverArea(area, length, most);
          for (const point of points) {
            if (areaContains(area, point))
              expect(holds(ranges, length === 0 ? 0 : toZ(encode(point, length)))).toBe(true);
          }
        },
      ),
      { numRuns: someOf(1500) },
    );
  });

  test('ranges are sorted, disjoint, within the world and within the budget', () => {
    fc.assert(
      fc.property(anArea, fc.integer({ min: 0, max: 10 }), aBudget, (area, length, most) => {
        const ranges = coverArea(area, length, most);
        expect(ranges.length).toBeGreaterThan(0);
        expect(ranges.length).toBeLessThanOrEqual(most);
        let end = -1;
        for (const { from, to } of ranges) {
          expect(from > end && to > from && to <= 32 ** length).toBe(true);
          end = to;
        }
      }),
      { numRuns: someOf(1500) },
    );
  });

  test('with enough budget it is exactly the cells of lengths 1 to 3 that overlap the area', () => {
    fc.assert(
      fc.property(anArea, fc.integer({ min: 1, max: 3 }), (area, length) => {
        const ranges = coverArea(area, length, 100_000);
        for (let z = 0; z < 32 ** length; z++) {
          const overlaps = areaOverlapsCell(area, cellBounds(fromZ(z, length)));
          if (overlaps !== holds(ranges, z)) expect.fail(`${fromZ(z, length)} overlaps: ${overlaps}`);
        }
      }),
      { numRuns: someOf(60) },
    );
  });

  test('no range is entirely outside, for any budget', () => {
    fc.assert(
      fc.property(anArea, fc.integer({ min: 1, max: 3 }), aBudget, (area, length, most) => {
        const exact = coverArea(area, length, 100_000);
        for (const { from, to } of coverArea(area, length, most)) {
          expect(exact.some((range) => range.from < to && from < range.to)).toBe(true);
        }
      }),
    );
  });

  test('the world is one range, a point is one cell', () => {
    const world = normalizeBounds('b', { west: -180, south: -90, east: 180, north: 90 });
    expect(coverArea(world, 10, 100)).toEqual([{ from: 0, to: 2 ** 50 }]);
    const point = normalizeBounds('b', { west: 0, south: 0, east: 0, north: 0 });
    expect(coverArea(point, 10, 100)).toEqual([{ from: toZ('7zzzzzzzzz'), to: toZ('7zzzzzzzzz') + 1 }]);
  });
});
