import fc from 'fast-check';
import { expect, test } from 'vitest';

import type { Position, ZoneGeometry } from '../../src/geo/antimeridian.js';
import { coarsened } from '../../src/geo/coarsen.js';
import { atOnce } from '../../src/geo/steps.js';
import { randomFrom } from '../support/random.js';
import { box } from '../support/shapes.js';
import { polygonsOf } from './zone-shapes.js';

const TOLERANCE = 0.35;
const coarse = (geometry: ZoneGeometry) => atOnce(coarsened(geometry, TOLERANCE));
const ringsOf = (geometry: ZoneGeometry) => polygonsOf(geometry).flat();
const square = (x: number, y: number, size: number) => box(x, y, x + size, y + size);

test('neighbors keep their common border, except near its ends', () => {
  fc.assert(
    fc.property(fc.integer(), (seed) => {
      const random = randomFrom(seed);
      const border = Array.from({ length: 2_000 }, (_, index): Position => [random() / 2, index / 100]);
      const [first, last] = [border[0]!, border.at(-1)!];
      const west = [[...border, [-9, last[1]], [-9, first[1]], first]] as Position[][];
      const east = [[...border.toReversed(), [9, first[1]], [9, last[1]], last]] as Position[][];
      const [left, right] = [west, east].map((rings) => {
        const ring = ringsOf(coarse({ type: 'Polygon', coordinates: rings }))[0] ?? [];
        return ring.filter(([lng, lat]) => Math.abs(lng) < 1 && lat > 1 && lat < 19).map(String);
      });
      expect(left?.length).toBeLessThan(200);
      expect(left?.toSorted()).toEqual(right?.toSorted());
    }),
    { numRuns: 30 },
  );
});

test('parts smaller than the tolerance are dropped, except for the largest', () => {
  const coordinates = [[square(0, 0, 5), square(1, 1, 0.1), square(2, 2, 1)], [square(10, 0, 0.2)], [square(20, 0, 1)]];
  expect(ringsOf(coarse({ type: 'MultiPolygon', coordinates }))).toHaveLength(3);
  const tiny = coarse({ type: 'MultiPolygon', coordinates: [[square(3, 3, 0.001)], [square(4, 4, 0.002)]] });
  expect(ringsOf(tiny)).toEqual([expect.arrayContaining([expect.arrayContaining([4])])]);
  expect(coarse({ type: 'LineString', coordinates: [[1, 1], [1.0001, 1]] }).coordinates).toHaveLength(2); // prettier-ignore
});
