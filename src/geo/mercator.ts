import type { Point } from './bounds.js';

/** A position on the square of the Web Mercator world: x from the west, y from the north, both in px. */
export interface Pixel {
  readonly x: number;
  readonly y: number;
}

/** Where Web Mercator's square ends, in degrees of latitude: atan(sinh(pi)). */
export const MERCATOR_LAT = (Math.atan(Math.sinh(Math.PI)) * 180) / Math.PI;

/** The width and height of the world in px at a zoom level as in MapLibre: 512 at zoom 0. */
export const worldSize = (zoom: number): number => 512 * 2 ** zoom;

/** Px from the antimeridian to a longitude. */
export function lngToX(lng: number, zoom: number): number {
  return ((lng + 180) / 360) * worldSize(zoom);
}

/** The longitude at a distance of `x` px from the antimeridian. */
export function xToLng(x: number, zoom: number): number {
  return (x / worldSize(zoom)) * 360 - 180;
}

/** Px from the northern edge of the square down to a latitude, clamped to the square. */
export function latToY(lat: number, zoom: number): number {
  const sine = Math.sin((Math.max(-MERCATOR_LAT, Math.min(MERCATOR_LAT, lat)) * Math.PI) / 180);
  const share = 0.5 - Math.log((1 + sine) / (1 - sine)) / (4 * Math.PI);
  return Math.max(0, Math.min(1, share)) * worldSize(zoom);
}

/** The latitude at a distance of `y` px below the northern edge of the square. */
export function yToLat(y: number, zoom: number): number {
  return (Math.atan(Math.sinh(Math.PI * (1 - (2 * y) / worldSize(zoom)))) * 180) / Math.PI;
}

/** The pixel of a position. */
export function pixelOf({ lng, lat }: Point, zoom: number): Pixel {
  return { x: lngToX(lng, zoom), y: latToY(lat, zoom) };
}
