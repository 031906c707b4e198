import fc from 'fast-check';
import { expect, test } from 'vitest';

import { canonicalLng } from '../../src/geo/bounds.js';
import { addSums, markerBounds, sumsOf } from '../../src/geo/cell-sums.js';
import { cellBounds, encode } from '../../src/geo/geohash.js';
import { aPoint } from './arbitraries.js';

/** A position and others of its cell, including some on its edges. */
const aCrowd = fc
  .tuple(aPoint, fc.integer({ min: 1, max: 12 }))
  .map(([point, length]) => ({ point: { lng: canonicalLng(point.lng), lat: point.lat }, length }))
  .chain(({ point, length }) => {
    const geohash = encode(point, length);
    const { west, south, east, north } = cellBounds(geohash);
    const within = (from: number, to: number) =>
      fc.oneof(fc.constantFrom(from, to), fc.double({ min: from, max: to, noNaN: true }));
    return fc
      .array(fc.record({ lng: within(west, east), lat: within(south, north) }), { maxLength: 6 })
      .map((others) => ({ geohash, positions: [point, ...others.filter((one) => encode(one, length) === geohash)] }));
  });

test('the sums of a cell bound the positions of its markers, and locate a single one to a millionth of a degree', () => {
  fc.assert(
    fc.property(aCrowd, ({ geohash, positions }) => {
      const sums = positions.map((position) => sumsOf(position)).reduce(addSums);
      const { west, south, east, north } = markerBounds(geohash, sums);
      for (const { lng, lat } of positions) {
        const canonical = canonicalLng(lng);
        expect(west <= canonical && canonical <= east && south <= lat && lat <= north).toBe(true);
      }
      if (positions.length === 1) expect(Math.max(east - west, north - south)).toBeLessThan(3e-6);
      const cell = cellBounds(geohash);
      expect(cell.west <= west && east <= cell.east && cell.south <= south && north <= cell.north).toBe(true);
    }),
    { numRuns: 5_000 },
  );
});
