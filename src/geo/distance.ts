import { type Point, canonicalLng } from './point.js';

/** The mean radius of the Earth, which Cellport takes for a sphere, in metres (IUGG). */
export const EARTH_RADIUS = 6_371_008.8;

const RADIANS = Math.PI / 180;

/** 0 at a pole, where the cosine itself leaves a remainder by which two names of the pole would differ. */
const cosine = (lat: number) => (Math.abs(lat) === 90 ? 0 : Math.cos(lat * RADIANS));

/**
 * Great-circle distance in metres, by the haversine formula. It holds for near points, where the law of cosines loses
 * its digits, over poles and across the antimeridian; nearly opposite points are off by some
 * decimetres. Two names of one position (the poles, the antimeridian) are at the same distance from any other.
 */
export function distance(a: Point, b: Point): number {
  const byLat = Math.sin(((b.lat - a.lat) * RADIANS) / 2);
  const byLng = Math.sin(((canonicalLng(b.lng) - canonicalLng(a.lng)) * RADIANS) / 2);
  const chord = byLat * byLat + cosine(a.lat) * cosine(b.lat) * byLng * byLng;
  return 2 * EARTH_RADIUS * Math.asin(Math.min(1, Math.sqrt(chord)));
}
