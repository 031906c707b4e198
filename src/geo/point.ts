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
 * The same meridian within -180..180, of which both ends are kept as given; never -0. Exact: neither the remainder nor
 * the addition rounds.
 */
export function wrapLng(lng: number): number {
  if (lng >= -180 && lng <= 180) return lng + 0;
  const rest = lng % 360;
  if (rest > 180) return rest - 360;
  return rest < -180 ? rest + 360 : rest + 0;
}

/**
 * A client's point, its longitude wrapped. Throws BAD_USER_INPUT naming `field`.lng or `field`.lat if one is not finite
 * or the latitude is out of range, with a hint if the two may be swapped.
 */
export function readPoint(field: string, lng: unknown, lat: unknown): Point {
  if (typeof lng !== 'number' || !Number.isFinite(lng)) {
    throw badInput(`${field}.lng`, lng, 'a finite number of degrees; beyond -180 to 180, it is wrapped');
  }
  if (typeof lat !== 'number' || !(lat >= -90 && lat <= 90)) {
    const swapped = typeof lat === 'number' && Math.abs(lat) <= 180 && Math.abs(lng) <= 90;
    throw badInput(
      `${field}.lat`,
      lat,
      `a latitude from -90 to 90 degrees${swapped ? ' (are lng and lat swapped?)' : ''}`,
    );
  }
  return { lng: wrapLng(lng), lat: lat + 0 };
}
