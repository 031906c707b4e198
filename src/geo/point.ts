import { badInput } from '../errors.js';

/** A position on the sphere in degrees: lng -180..180 (both name the same meridian), lat -90..90. */
export interface Point {
  readonly lng: number;
  readonly lat: number;
}

/**
 * The canonical longitude used in index keys, ranges and comparisons: -180 <= lng < 180, never -0. Positions keep the
 * longitude they were given; only derived values are canonical.
 */
export function canonicalLng(lng: number): number {
  return lng === 180 ? -180 : lng + 0;
}

/**
 * Validates a client's point. Throws BAD_USER_INPUT naming `field`.lng or `field`.lat if one is not finite or out of
 * range, with a hint if the two may be swapped.
 */
export function readPoint(field: string, lng: unknown, lat: unknown): Point {
  if (typeof lng !== 'number' || !(lng >= -180 && lng <= 180)) {
    throw badInput(`${field}.lng`, lng, 'a longitude from -180 to 180 degrees');
  }
  if (typeof lat !== 'number' || !(lat >= -90 && lat <= 90)) {
    const swapped = typeof lat === 'number' && Math.abs(lat) <= 180 && Math.abs(lng) <= 90;
    throw badInput(
      `${field}.lat`,
      lat,
      `a latitude from -90 to 90 degrees${swapped ? ' (are lng and lat swapped?)' : ''}`,
    );
  }
  return { lng: lng + 0, lat: lat + 0 };
}
