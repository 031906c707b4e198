import type { Point } from './point.js';

/** The mean radius of the Earth, which Cellport takes for a sphere, in metres (IUGG). */
export const EARTH_RADIUS = 6_371_008.8;

const RADIANS = Math.PI / 180;

/**
 * Great-circle distance in metres, by the haversine formula. It holds for near points, where the law of cosines loses
 * its digits, over poles and across the antimeridian; nearly opposite points are off by some metres.
 */
export function distance(a: Point, b: Point): number {
  const byLat = Math.sin(((b.lat - a.lat) * RADIANS) / 2);
  const byLng = Math.sin(((b.lng - a.lng) * RADIANS) / 2);
  const chord = byLat * byLat + Math.cos(a.lat * RADIANS) * Math.cos(b.lat * RADIANS) * byLng * byLng;
  return 2 * EARTH_RADIUS * Math.asin(Math.min(1, Math.sqrt(chord)));
}
