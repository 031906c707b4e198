import fc from 'fast-check';

import { normalizeBounds, type Area, type Bounds, type Point } from '../../src/geo/bounds.js';

/** Next to a bisection line, rounding may put a position on the wrong side. */
const aLine = (span: number) =>
  fc
    .integer({ min: 1, max: 30 })
    .chain((bits) => fc.integer({ min: 0, max: 2 ** bits }).map((line) => (line * 2 * span) / 2 ** bits - span));
const anOffset = fc.constantFrom(0, 0, 5e-324, -5e-324, 1e-20, -1e-20, 1e-14, -1e-14, 1e-9, -1e-9);
const clampTo = (span: number) => (value: number) => Math.max(-span, Math.min(span, value));
const aDegree = (span: number) =>
  fc.oneof(
    fc.double({ min: -span, max: span, noNaN: true }),
    fc.tuple(aLine(span), anOffset).map(([line, offset]) => clampTo(span)(line + offset)),
    fc.constantFrom(0, -0, span, -span, 5e-324, -5e-324, 1e-20, -1e-20),
  );

export const aLng = aDegree(180);
export const aLat = aDegree(90);
export const aPoint: fc.Arbitrary<Point> = fc.record({ lng: aLng, lat: aLat });

const ordered = (bounds: Bounds): Bounds => ({
  ...bounds,
  south: Math.min(bounds.south, bounds.north),
  north: Math.max(bounds.south, bounds.north),
});

/**
 * Rectangles of every kind: any corners (including across the antimeridian), from the world down to a square meter, a
 * point or a line.
 */
const aRectangle: fc.Arbitrary<Bounds> = fc.oneof(
  fc.record({ west: aLng, south: aLat, east: aLng, north: aLat }).map(ordered),
  fc
    .tuple(aPoint, fc.double({ min: -5, max: 2.5, noNaN: true }), fc.double({ min: -5, max: 2, noNaN: true }))
    .map(([{ lng, lat }, wide, high]) => ({ west: lng, south: lat, east: lng + 10 ** wide, north: lat + 10 ** high })),
  aPoint.map(({ lng, lat }) => ({ west: lng, south: lat, east: lng, north: lat })),
  fc.tuple(aLng, aLat, aLat).map(([lng, a, b]) => ordered({ west: lng, south: a, east: lng, north: b })),
  fc.constantFrom(
    { west: -180, south: -90, east: 180, north: 90 },
    { west: -180, south: 12.1, east: 180, north: 12.9 },
    { west: -180, south: 80, east: 180, north: 85 },
    { west: 170, south: -10, east: 180, north: 10 },
    { west: -180, south: -10, east: -170, north: 10 },
    { west: 180, south: -90, east: 180, north: 90 },
    { west: 0, south: 90, east: 0, north: 90 },
  ),
);

export const anArea: fc.Arbitrary<Area> = aRectangle.map((bounds) => normalizeBounds('bounds', bounds));

/** Positions likely to be on the area's edges or just beside them, or anywhere in it. */
export function pointsNear(area: Area): fc.Arbitrary<Point> {
  return fc.constantFrom(...area.parts).chain(({ west, south, east, north }) =>
    fc.record({
      lng: fc
        .oneof(
          fc.double({ min: west, max: east, noNaN: true }),
          fc.tuple(fc.constantFrom(west, east), anOffset).map(([edge, offset]) => edge + offset),
        )
        .map(clampTo(180)),
      lat: fc
        .oneof(
          fc.double({ min: south, max: north, noNaN: true }),
          fc.tuple(fc.constantFrom(south, north), anOffset).map(([edge, offset]) => edge + offset),
        )
        .map(clampTo(90)),
    }),
  );
}
