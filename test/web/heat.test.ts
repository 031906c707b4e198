import { expect, test } from 'vitest';

import type { MapCell } from '../../src/client/public.js';
import { cellBounds, encode } from '../../src/geo/geohash.js';
import { lengthAt, levelOf, markersAround, sideKm } from '../../web/map/heat/kernel.js';
import { scaleOf } from '../../web/map/heat/scale.js';

/** Cells of 4 characters with a marker in the middle of each, around a position. */
function field(lng: number, lat: number): MapCell[] {
  const steps = Array.from({ length: 41 }, (_, step) => step - 20);
  return steps.flatMap((row) =>
    steps.map((column) => {
      const centroid = { lng: ((lng + 540 + (column * 360) / 1024) % 360) - 180, lat: lat + (row * 180) / 1024 };
      const geohash = encode(centroid, 4);
      return { geohash, precision: 4, bounds: cellBounds(geohash), centroid, count: 7 };
    }),
  );
}

test.each([
  [10, 0],
  [10, 60],
  [180, -45],
])(
  'in a large field of equal cells around %d, %d every position has the same value, which follows from one cell',
  (lng, lat) => {
    const cells = field(lng, lat);
    const expected = levelOf(7, lat);
    for (const shift of [0, 0.1, 0.17]) {
      const found = markersAround(cells, { lng: lng + shift, lat: lat + shift / 2 });
      expect(Math.abs(found / expected - 1)).toBeLessThan(0.2);
    }
  },
);

test('a value is the number of markers per square of the size in the legend', () => {
  // One marker for each cell at the equator, 39.1 by 19.6 km.
  const value = levelOf(1, 0);
  const { unitKm, perUnit, top } = scaleOf(4, value);
  expect(unitKm).toBe(20);
  expect(sideKm(4)).toBeGreaterThanOrEqual(unitKm);
  expect(value * perUnit).toBeCloseTo(unitKm ** 2 / (39.14 * 19.57), 2);
  expect(top).toBeGreaterThanOrEqual(value);
  expect([1, 2, 5]).toContain(Number((top * perUnit).toPrecision(6)));
});

test('cells are 16 to 91 px at every zoom', () => {
  for (let zoom = 0; zoom <= 20; zoom += 1) {
    const length = lengthAt(zoom);
    const side = (sideKm(length) / sideKm(1)) * 64 * 2 ** zoom;
    expect([zoom, length, side >= 15.99 && side < 91]).toEqual([zoom, length, true]);
  }
});
