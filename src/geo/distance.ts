import { canonicalLng, type Point } from './bounds.js';

/** The mean radius of the Earth, which Cellport treats as a sphere, in meters (IUGG). */
export const EARTH_RADIUS = 6_371_008.8;

const RADIANS = Math.PI / 180;

/** Exactly 0 at a pole, where Math.cos is not, so that all longitudes denote the same point. */
const cosine = (lat: number) => (Math.abs(lat) === 90 ? 0 : Math.cos(lat * RADIANS));

/**
 * Great-circle distance in meters by the haversine formula. It is accurate for close points, where the law of cosines
 * loses digits, over the poles and across the antimeridian; for nearly antipodal points its error is a few decimeters.
 * All coordinates of the same position (a pole, the antimeridian) give the same distance.
 */
export function distance(a: Point, b: Point): number {
  const byLat = Math.sin(((b.lat - a.lat) * RADIANS) / 2);
  const byLng = Math.sin(((canonicalLng(b.lng) - canonicalLng(a.lng)) * RADIANS) / 2);
  const chord = byLat * byLat + cosine(a.lat) * cosine(b.lat) * byLng * byLng;
  return 2 * EARTH_RADIUS * Math.asin(Math.min(1, Math.sqrt(chord)));
}
