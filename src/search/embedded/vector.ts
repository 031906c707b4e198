import { middleOf, type Bounds, type Point } from '../../geo/bounds.js';
import { EARTH_RADIUS } from '../../geo/distance.js';

const RADIANS = Math.PI / 180;

/**
 * A position as a unit vector: straight-line distances have the same order as great-circle distances, without special
 * cases.
 */
export interface Vector {
  readonly x: number;
  readonly y: number;
  readonly z: number;
}

/** The vector of a point, or of the center of a box. */
export function vectorOf(place: Point | Bounds): Vector {
  const { lng, lat } = 'lng' in place ? place : middleOf(place);
  const around = Math.cos(lat * RADIANS);
  return { x: around * Math.cos(lng * RADIANS), y: around * Math.sin(lng * RADIANS), z: Math.sin(lat * RADIANS) };
}

/** The square of the straight-line distance between two unit vectors that are this many meters apart on the globe. */
export const chordOf = (meters: number): number =>
  4 * Math.sin(Math.min(Math.PI / 2, meters / (2 * EARTH_RADIUS))) ** 2;

/** The inverse of `chordOf`, in meters. */
export const metersOf = (chord: number): number => 2 * EARTH_RADIUS * Math.asin(Math.min(1, Math.sqrt(chord) / 2));
