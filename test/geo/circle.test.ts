import fc from 'fast-check';
import { expect, test } from 'vitest';

import { areaContains, type Point } from '../../src/geo/bounds.js';
import { circleArea, greatestDistance, HALF_AROUND, leastDistance, ringRelation } from '../../src/geo/circle.js';
import { coverShape } from '../../src/geo/cover.js';
import { distance, EARTH_RADIUS } from '../../src/geo/distance.js';
import { cellBounds, encode, LONGEST_Z, toZ } from '../../src/geo/geohash.js';
import { someOf } from '../support/rounds.js';
import { aLat, aLng, aPoint } from './arbitraries.js';

const aRadius = fc.oneof(
  fc.double({ min: -2, max: 7.3, noNaN: true }).map((power) => Math.min(HALF_AROUND, 10 ** power)),
  fc.constantFrom(0, 1, 50_000, 1_000_000, HALF_AROUND / 2, HALF_AROUND),
);

/** The destination from a point in a direction, computed with vectors rather than the distance formula. */
function from({ lng, lat }: Point, meters: number, bearing: number): Point {
  const rad = Math.PI / 180;
  const angle = meters / EARTH_RADIUS;
  const sine = Math.sin(lat * rad) * Math.cos(angle) + Math.cos(lat * rad) * Math.sin(angle) * Math.cos(bearing);
  const y = Math.sin(bearing) * Math.sin(angle) * Math.cos(lat * rad);
  const x = Math.cos(angle) - Math.sin(lat * rad) * sine;
  const east = lng + Math.atan2(y, x) / rad;
  return { lng: ((east + 540) % 360) - 180, lat: Math.asin(Math.max(-1, Math.min(1, sine))) / rad };
}

const aBearing = fc.double({ min: 0, max: 2 * Math.PI, noNaN: true });
const aPlace = fc.tuple(aPoint, aRadius, fc.double({ min: 0, max: 1, noNaN: true }), aBearing);

test('every position within a radius is in its bounding box, across poles and the antimeridian too', () => {
  fc.assert(
    fc.property(aPlace, ([center, radius, share, bearing]) => {
      const point = from(center, radius * share, bearing);
      if (distance(center, point) > radius) return;
      expect(areaContains(circleArea(center, radius), point)).toBe(true);
    }),
    { numRuns: someOf(3000) },
  );
  const at = (lat: number, radius: number) => circleArea({ lng: 179, lat }, radius).bounds;
  expect(at(0, 111_000)).toMatchObject({ west: expect.closeTo(178, 1), east: expect.closeTo(180, 1) });
  expect(at(0, 300_000)).toMatchObject({ west: expect.closeTo(176.3, 1), east: expect.closeTo(-178.3, 1) });
  expect(at(89.9, 50_000)).toMatchObject({ west: -180, east: 180, north: 90 });
});

test('positions in a cell are between its minimum and maximum distance, and both are tight', () => {
  const aShare = fc.oneof(fc.double({ min: 0, max: 1, noNaN: true }), fc.constantFrom(0, 1));
  fc.assert(
    fc.property(aPoint, aPoint, fc.integer({ min: 1, max: 9 }), aShare, aShare, (center, near, length, x, y) => {
      const cell = cellBounds(encode(near, length));
      const least = leastDistance(center, cell);
      const greatest = greatestDistance(center, cell);
      const at = (u: number, v: number) =>
        distance(center, {
          lng: cell.west + u * (cell.east - cell.west),
          lat: cell.south + v * (cell.north - cell.south),
        });
      const meters = at(x, y);
      expect(meters > least - 0.5 && meters < greatest + 0.5).toBe(true);
      // Samples along the edge and across the cell come close to both.
      let nearest = Infinity;
      let farthest = 0;
      for (let u = 0; u <= 1; u += 1 / 16) {
        for (let v = 0; v <= 1; v += 1 / 16) {
          nearest = Math.min(nearest, at(u, v));
          farthest = Math.max(farthest, at(u, v));
        }
      }
      const step = ((cell.north - cell.south + cell.east - cell.west) / 16) * 111_200;
      expect(nearest - least < step + 0.5 && greatest - farthest < step + 0.5).toBe(true);
    }),
    { numRuns: someOf(1500) },
  );
});

test('every position of a ring is in its cover, which stays within the budget', () => {
  let apart = 0;
  fc.assert(
    fc.property(
      aPlace,
      fc.double({ min: 0, max: 1, noNaN: true }),
      fc.constantFrom(1, 8, 256),
      (place, inner, most) => {
        const [center, radius, share, bearing] = place;
        const least = radius * inner;
        const ranges = coverShape(ringRelation(center, least, radius), most);
        expect(ranges.length <= most && ranges.length > 0).toBe(true);
        expect(ranges.every(({ from: start, to }, index) => start < to && (ranges[index - 1]?.to ?? -1) < start)).toBe(
          true,
        );
        const point = from(center, least + share * (radius - least), bearing);
        const meters = distance(center, point);
        if (meters < least || meters > radius) return;
        const z = toZ(encode(point, LONGEST_Z));
        expect(ranges.some((range) => range.from <= z && z < range.to)).toBe(true);
        if (!ranges.some((range) => range.from <= 0 && 0 < range.to)) apart++;
      },
    ),
    { numRuns: 1500 },
  );
  expect(apart).toBeGreaterThan(300);
});

test('the cover of a circle is as fine as the budget allows: little of it is outside', () => {
  const center = { lng: 13.4, lat: 52.5 };
  const area = (radius: number, most: number) =>
    coverShape(ringRelation(center, 0, radius), most).reduce((sum, { from: start, to }) => sum + to - start, 0);
  const square = coverShape(ringRelation(center, 0, 10_000), 1).reduce(
    (sum, { from: start, to }) => sum + to - start,
    0,
  );
  expect(area(10_000, 256) / area(10_000, 20_000)).toBeLessThan(1.15);
  expect(square / area(10_000, 256)).toBeGreaterThan(2);
});

test('distances are equal for equivalent coordinates of a position', () => {
  fc.assert(
    fc.property(aPoint, aLng, aLat, (center, lng, lat) => {
      expect(distance(center, { lng: 180, lat })).toBe(distance(center, { lng: -180, lat }));
      expect(distance(center, { lng, lat: 90 })).toBe(distance(center, { lng: 0, lat: 90 }));
      expect(distance({ lng, lat: -90 }, center)).toBe(distance({ lng: 0, lat: -90 }, center));
    }),
  );
});
