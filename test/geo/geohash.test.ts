import fc from 'fast-check';
import ngeohash from 'ngeohash';
import { describe, expect, test } from 'vitest';

import { areaContains, areaOverlapsCell, canonicalLng, normalizeBounds } from '../../src/geo/bounds.js';
import {
  cellBounds,
  center,
  columnOf,
  coverArea,
  encode,
  fromZ,
  GEOHASH_ALPHABET,
  readGeohash,
  rowOf,
  toZ,
  type ZRange,
} from '../../src/geo/geohash.js';
import { someOf } from '../support/rounds.js';
import { anArea, aPoint, pointsNear } from './arbitraries.js';

const aLength = fc.integer({ min: 1, max: 12 });
const aGeohash = (max: number) =>
  fc.string({ unit: fc.constantFrom(...Array.from(GEOHASH_ALPHABET)), minLength: 1, maxLength: max });

describe('geohash', () => {
  test('a point on the edge between two cells belongs to the western or southern one', () => {
    expect(encode({ lng: 0, lat: 0 }, 6)).toBe('7zzzzz');
    expect(encode({ lng: 5e-324, lat: 1e-20 }, 6)).toBe('s00000');
    expect(encode({ lng: -0, lat: -0 }, 6)).toBe('7zzzzz');
  });

  test('a position has the geohash that the library ngeohash gives, even next to cell edges', () => {
    fc.assert(
      fc.property(aPoint, aLength, ({ lng, lat }, length) => {
        expect(encode({ lng, lat }, length)).toBe(ngeohash.encode(lat, canonicalLng(lng), length));
      }),
      { numRuns: 5000 },
    );
  });

  test('180 is indexed as -180', () => {
    expect(encode({ lng: 180, lat: 10 }, 8)).toBe(encode({ lng: -180, lat: 10 }, 8));
  });

  test('encode(center(h)) = h, and a cell contains its center', () => {
    fc.assert(fc.property(aGeohash(12), (geohash) => encode(center(geohash), geohash.length) === geohash));
  });

  test('a longer geohash of a point starts with its shorter ones', () => {
    fc.assert(
      fc.property(aPoint, aLength, aLength, (point, a, b) => {
        expect(encode(point, Math.max(a, b)).startsWith(encode(point, Math.min(a, b)))).toBe(true);
      }),
    );
  });

  test('a position is in exactly the half-open cell that it is encoded to', () => {
    fc.assert(
      fc.property(aPoint, aLength, (point, length) => {
        const lng = canonicalLng(point.lng);
        const { west, south, east, north } = cellBounds(encode(point, length));
        expect((west < lng || west === -180) && lng <= east).toBe(true);
        expect((south < point.lat || south === -90) && point.lat <= north).toBe(true);
      }),
      { numRuns: 2000 },
    );
  });

  test('column and row of a position are those of its cell, even next to cell edges', () => {
    fc.assert(
      fc.property(aPoint, aLength, (point, length) => {
        const lng = canonicalLng(point.lng);
        const { west, south, east, north } = cellBounds(encode(point, length));
        expect(columnOf(lng, length)).toBe((west + 180) / (east - west));
        expect(rowOf(point.lat, length)).toBe((south + 90) / (north - south));
      }),
      { numRuns: 5000 },
    );
  });

  test('fromZ(toZ(h)) = h, and Z-order is byte order', () => {
    fc.assert(fc.property(aGeohash(10), (geohash) => fromZ(toZ(geohash), geohash.length) === geohash));
    fc.assert(
      fc.property(aPoint, aPoint, (a, b) => {
        const [first, second] = [encode(a, 10), encode(b, 10)];
        expect(Math.sign(toZ(first) - toZ(second))).toBe(first < second ? -1 : first > second ? 1 : 0);
      }),
    );
  });

  test('children partition their parent; the empty geohash is the world', () => {
    expect(cellBounds('')).toEqual({ west: -180, south: -90, east: 180, north: 90 });
    const size = ({ west, south, east, north }: ReturnType<typeof cellBounds>) => (east - west) * (north - south);
    const children = Array.from(GEOHASH_ALPHABET, (character) => `u4${character}`);
    expect(children.reduce((sum, child) => sum + size(cellBounds(child)), 0)).toBe(size(cellBounds('u4')));
  });

  test('upper case is accepted; anything else is rejected with the name of the field', () => {
    expect(readGeohash('geohash', 'U4PRUY')).toBe('u4pruy');
    for (const value of ['', 'a', 'u4i', 'ul', 'uo', 'u4pruydqqvjx1', 'u 4', '\u212a', 4, null, undefined]) {
      expect(() => readGeohash('geohash', value)).toThrow(
        /geohash must be a geohash: 1 to 12 characters of 0123456789bcd/,
      );
    }
  });
});

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
