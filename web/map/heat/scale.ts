import { sideKm } from './kernel.js';

/** The meaning of a heatmap's colors: the same everywhere on the map for cells of the same length. */
export interface Scale {
  /** Geohash length of the cells. */
  readonly length: number;
  /** Value of `markersAround` from which the color is strongest. */
  readonly top: number;
  /** Side in km of the square to which the legend's numbers refer. */
  readonly unitKm: number;
  /** Markers per square for a `markersAround` value of 1. */
  readonly perUnit: number;
}

/** Minimum top of a scale: collections below it never reach the strongest color. */
const LEAST_TOP = 5;

/** The largest of 1, 2 and 5 times a power of ten that does not exceed a number. */
function roundDown(value: number): number {
  const power = 10 ** Math.floor(Math.log10(value));
  return ([5, 2].find((each) => each * power <= value) ?? 1) * power;
}

/** The scale for cells of a geohash length; `densest` is the value where the collection is densest. */
export function scaleOf(length: number, densest: number): Scale {
  const side = sideKm(length);
  const unitKm = roundDown(side);
  const perUnit = (unitKm / side) ** 2;
  // The smallest round number not below the densest value.
  const top = 1 / roundDown(1 / (Math.max(densest, LEAST_TOP) * perUnit));
  return { length, top: top / perUnit, unitKm, perUnit };
}

/**
 * The share of a value in the scale, 0 to 1. A cube root, because values commonly differ by a factor of several
 * hundred.
 */
export const shareOf = (value: number, top: number): number => Math.cbrt(Math.min(1, value / top));
/** The inverse of `shareOf`, for a top of 1. */
export const valueOfShare = (share: number): number => share ** 3;
