import fc from 'fast-check';
import { expect, test } from 'vitest';

import { cellCentroid, meanPosition } from '../../src/geo/cell-sums.js';
import { distance, EARTH_RADIUS } from '../../src/geo/distance.js';
import { center } from '../../src/geo/geohash.js';
import { latToY, lngToX, MERCATOR_LAT, xToLng, yToLat } from '../../src/geo/mercator.js';
import { aPoint } from './arbitraries.js';

test('a degree is a 360th of the circumference, along meridians and the equator, across the antimeridian and the poles', () => {
  const degree = (2 * Math.PI * EARTH_RADIUS) / 360;
  for (const [a, b, degrees] of [
    [{ lng: 10, lat: 0 }, { lng: 11, lat: 0 }, 1],
    [{ lng: 179.5, lat: 0 }, { lng: -179.5, lat: 0 }, 1],
    [{ lng: 0, lat: 89.5 }, { lng: 180, lat: 89.5 }, 1],
    [{ lng: 180, lat: 5 }, { lng: -180, lat: 5 }, 0],
    [{ lng: 12, lat: 90 }, { lng: -77, lat: 90 }, 0],
    [{ lng: 0, lat: 0 }, { lng: 180, lat: 0 }, 180],
  ] as const) {
    expect(distance(a, b)).toBeCloseTo(degrees * degree, 3);
  }
});

test('distance is symmetric, never NaN and never more than half the circumference', () => {
  fc.assert(
    fc.property(aPoint, aPoint, (a, b) => {
      const meters = distance(a, b);
      expect(meters).toBe(distance(b, a));
      expect(meters >= 0 && meters <= Math.PI * EARTH_RADIUS + 1e-6).toBe(true);
    }),
  );
});

test('Web Mercator survives a round trip, clamped at the edge of its square', () => {
  expect([lngToX(-180, 0), lngToX(180, 0), latToY(90, 0), latToY(-90, 0), latToY(0, 0)]).toEqual([0, 512, 0, 512, 256]);
  fc.assert(
    fc.property(aPoint, fc.double({ min: -2, max: 30, noNaN: true }), ({ lng, lat }, zoom) => {
      expect(xToLng(lngToX(lng, zoom), zoom)).toBeCloseTo(lng, 9);
      expect(yToLat(latToY(lat, zoom), zoom)).toBeCloseTo(Math.max(-MERCATOR_LAT, Math.min(MERCATOR_LAT, lat)), 9);
    }),
  );
});

test('a centroid is the mean position, or the center of an empty cell, and never outside the cell', () => {
  expect(meanPosition({ count: 2, sumLng: 30_000_000, sumLat: -2 })).toEqual({ lng: 15, lat: -0.000001 });
  expect(meanPosition({ count: 0, sumLng: 0, sumLat: 0 })).toBeUndefined();
  expect(cellCentroid('u4pr', { count: 0, sumLng: 0, sumLat: 0 })).toEqual(center('u4pr'));
  expect(cellCentroid('7zzz', { count: 1, sumLng: 1, sumLat: 1 })).toEqual({ lng: 0, lat: 0 });
});
