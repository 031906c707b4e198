import { sideKm } from './kernel.js';

/** What the colours of a heatmap mean: the same wherever the map is, as long as its cells have the same length. */
export interface Scale {
  /** Geohash length of the cells. */
  readonly length: number;
  /** Markers around a position, see `markersAround`, from which the colour is the strongest. */
  readonly top: number;
  /** Side in km of the square to which numbers on the legend refer. */
  readonly unitKm: number;
  /** Markers per such square, for one around a position. */
  readonly perUnit: number;
}

/** Even the densest spot is not in the strongest colour if it has fewer markers. */
const LEAST_TOP = 5;

/** The greatest of 1, 2 and 5 times a power of ten up to a number. */
function roundDown(value: number): number {
  const power = 10 ** Math.floor(Math.log10(value));
  return ([5, 2].find((each) => each * power <= value) ?? 1) * power;
}

/** The scale for cells of a geohash length, with this value where the collection is densest. */
export function scaleOf(length: number, densest: number): Scale {
  const side = sideKm(length);
  const unitKm = roundDown(side);
  const perUnit = (unitKm / side) ** 2;
  // The least round number from the densest on.
  const top = 1 / roundDown(1 / (Math.max(densest, LEAST_TOP) * perUnit));
  return { length, top: top / perUnit, unitKm, perUnit };
}

/** Where a value is between nothing and the top, 0 to 1: a cube root, as a few hundred times as much is common. */
export const shareOf = (value: number, top: number): number => Math.cbrt(Math.min(1, value / top));
/** The reverse of `shareOf`, for a top of 1. */
export const valueOfShare = (share: number): number => share ** 3;
