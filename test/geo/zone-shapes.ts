import fc from 'fast-check';

import type { ZoneGeometry } from '../../src/geo/antimeridian.js';

type Xy = readonly [number, number];

/**
 * Whether a position is in a polygon or on its edge, by the sum of the angles under which its rings are seen: written
 * from the definition, over raw coordinates, independently of the code under test. `near` reports positions so close to
 * an edge that rounding may decide.
 */
export function windingContains(
  polygons: readonly (readonly (readonly Xy[])[])[],
  [x, y]: Xy,
): { readonly inside: boolean; readonly near: boolean } {
  let near = false;
  const inside = polygons.some((rings) => {
    let total = 0;
    rings.forEach((ring, nth) => {
      let winding = 0;
      for (let i = 1; i < ring.length; i++) {
        const [ax, ay] = ring[i - 1]!;
        const [bx, by] = ring[i]!;
        const cross = (bx - ax) * (y - ay) - (x - ax) * (by - ay);
        const length = Math.hypot(bx - ax, by - ay);
        const beside = x >= Math.min(ax, bx) - 1e-9 && x <= Math.max(ax, bx) + 1e-9;
        const level = y >= Math.min(ay, by) - 1e-9 && y <= Math.max(ay, by) + 1e-9;
        if (beside && level && Math.abs(cross) <= 1e-9 * Math.max(1, length)) near = true;
        if (ay <= y && by > y && cross > 0) winding += 1;
        if (ay > y && by <= y && cross < 0) winding -= 1;
      }
      if (nth === 0) total = winding === 0 ? 0 : 1;
      else if (winding !== 0) total = 0;
    });
    return total === 1;
  });
  return { inside, near };
}

/** The polygons of a geometry of any type. */
export function polygonsOf(geometry: ZoneGeometry): readonly (readonly (readonly Xy[])[])[] {
  if (geometry.type === 'Polygon') return [geometry.coordinates];
  return geometry.type === 'MultiPolygon' ? geometry.coordinates : [];
}

/** Sizes from a street to the globe. */
const size = fc.oneof(
  fc.double({ min: 0.0001, max: 0.05, noNaN: true }),
  fc.double({ min: 0.05, max: 3, noNaN: true }),
  fc.double({ min: 3, max: 60, noNaN: true }),
);

/** A star around a center, and a smaller one in it: rings that do not cross themselves, with continuous longitudes. */
export const starWithHole = fc
  .record({
    lng: fc.oneof(fc.double({ min: -180, max: 180, noNaN: true }), fc.constantFrom(-180, 180, 179.9, 0, 90, 45, 11.25)),
    lat: fc.oneof(fc.double({ min: -80, max: 80, noNaN: true }), fc.constantFrom(0, 45, -45, 5.625)),
    size,
    radii: fc.array(fc.double({ min: 0.2, max: 1, noNaN: true }), { minLength: 3, maxLength: 20 }),
  })
  .map(({ lng, lat, size: reach, radii }) => {
    const high = Math.min(reach, 89 - Math.abs(lat));
    const ringOf = (scale: number): Xy[] => {
      const ring = radii.map((radius, index): Xy => {
        const angle = (2 * Math.PI * index) / radii.length;
        return [lng + scale * reach * radius * Math.cos(angle), lat + scale * high * radius * Math.sin(angle)];
      });
      return [...ring, ring[0]!];
    };
    return { ring: ringOf(1), hole: ringOf(1 / 10) };
  });

export const star = starWithHole.map(({ ring }) => ring);

/** Locates a position relative to a ring within -180..180, by testing every edge. */
export function bruteRing(ring: readonly Xy[], x: number, y: number): 'in' | 'on' | 'out' {
  let inside = false;
  for (let i = 1; i < ring.length; i++) {
    const [ax, ay] = ring[i - 1]!;
    const [bx, by] = ring[i]!;
    const cross = (bx - ax) * (y - ay) - (by - ay) * (x - ax);
    const between = (x - ax) * (x - bx) <= 0 && (y - ay) * (y - by) <= 0;
    if (cross === 0 && between) return 'on';
    if (ay > y !== by > y && cross > 0 === by > ay) inside = !inside;
  }
  return inside ? 'in' : 'out';
}
