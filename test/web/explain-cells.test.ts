import fc from 'fast-check';
import { expect, test } from 'vitest';

import { cellBounds, fromZ, toZ } from '../../src/geo/geohash.js';
import { cellsOf, outlineOf } from '../../web/map/explain/cells.js';

/** Two geohashes of the same length, in order. */
const aRange = fc.integer({ min: 1, max: 10 }).chain((length) =>
  fc.tuple(fc.integer({ min: 0, max: 32 ** length - 1 }), fc.integer({ min: 0, max: 2_000 })).map(([from, more]) => ({
    first: fromZ(from, length),
    last: fromZ(Math.min(32 ** length - 1, from + more), length),
  })),
);

type Ring = readonly (readonly [number, number])[];

/** Twice the area of a ring, positive if it is counterclockwise. */
function area(ring: Ring): number {
  // Relative to its first corner, because rounding would dominate for a small ring far from the origin.
  const [[x0, y0] = [0, 0]] = ring;
  const corners = ring.map(([x, y]) => [x - x0, y - y0] as const);
  return corners
    .slice(1)
    .reduce((sum, [x, y], at) => sum + (corners[at]?.[0] ?? 0) * y - x * (corners[at]?.[1] ?? 0), 0);
}

/** By ray casting to the east. */
const isInside = (ring: Ring, lng: number, lat: number) =>
  ring.slice(1).filter(([x, y], at) => {
    const [, y0 = 0] = ring[at] ?? [];
    return x > lng && Math.min(y, y0) <= lat && lat < Math.max(y, y0);
  }).length % 2 === 1; // prettier-ignore

test('a range consists of few rectangles, which together are exactly its cells', () => {
  fc.assert(
    fc.property(aRange, fc.double({ min: 0, max: 1, noNaN: true }), ({ first, last }, at) => {
      const rects = cellsOf({ first, last });
      expect(rects.length).toBeLessThanOrEqual(10 * first.length);
      const [from, to] = [toZ(first), toZ(last)];
      const holding = (z: number) => {
        const cell = cellBounds(fromZ(z, first.length));
        const [lng, lat] = [(cell.west + cell.east) / 2, (cell.south + cell.north) / 2];
        return rects.filter(({ west, south, east, north }) => west < lng && lng < east && south < lat && lat < north)
          .length;
      };
      for (const z of [from, to, from + Math.floor((to - from) * at)]) expect(holding(z)).toBe(1);
      if (from > 0) expect(holding(from - 1)).toBe(0);
      if (to < 32 ** first.length - 1) expect(holding(to + 1)).toBe(0);
    }),
  );
});

test('the outline of a range contains its rectangles, and nothing else', () => {
  fc.assert(
    fc.property(aRange, (range) => {
      const rects = cellsOf(range);
      const rings = outlineOf(rects);
      const whole = rects.reduce((sum, { west, south, east, north }) => sum + 2 * (east - west) * (north - south), 0);
      const areas = rings.map(area);
      expect(areas.every((each) => each > 0)).toBe(true);
      expect(areas.reduce((a, b) => a + b, 0) / whole).toBeCloseTo(1, 6);
      for (const { west, south, east, north } of rects) {
        const [lng, lat] = [(west + east) / 2, (south + north) / 2];
        expect(rings.filter((ring) => isInside(ring, lng, lat))).toHaveLength(1);
      }
      // Every corner is a turn, except where a ring starts.
      for (const ring of rings) expect(ring.at(0)).toEqual(ring.at(-1));
    }),
  );
});

test('the globe is one rectangle', () => {
  const globe = [{ west: -180, south: -90, east: 180, north: 90 }];
  expect(cellsOf({ first: '', last: '' })).toEqual(globe);
  expect(cellsOf({ first: '00', last: 'zz' })).toEqual(globe);
  expect(outlineOf(globe)).toHaveLength(1);
});
