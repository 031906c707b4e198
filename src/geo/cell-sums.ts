import { canonicalLng, type Point } from './point.js';

/**
 * The number of markers in a geohash cell and the sums of their positions: integers in millionths of a degree, because
 * floats would drift, with longitude 180 counted as -180. The centroid is sum / count / 1e6.
 */
export interface CellSums {
  readonly count: number;
  readonly sumLng: number;
  readonly sumLat: number;
}

/** A non-empty cell. */
export interface Cell extends CellSums {
  readonly geohash: string;
}

export const NO_SUMS: CellSums = { count: 0, sumLng: 0, sumLat: 0 };

/** Fixed-point units in a degree. */
export const UNITS_PER_DEGREE = 1_000_000;

/** The amounts that one marker adds to its cells. Adding 0 turns -0 into 0, so that equal sums compare as equal. */
export function sumsOf({ lng, lat }: Point): CellSums {
  return {
    count: 1,
    sumLng: Math.round(canonicalLng(lng) * UNITS_PER_DEGREE) + 0,
    sumLat: Math.round(lat * UNITS_PER_DEGREE) + 0,
  };
}

export function addSums(a: CellSums, b: CellSums): CellSums {
  return { count: a.count + b.count, sumLng: a.sumLng + b.sumLng, sumLat: a.sumLat + b.sumLat };
}

/** Whether a cell can be removed: one without markers is kept while its sums are not zero. */
export const isZero = ({ count, sumLng, sumLat }: CellSums): boolean => count === 0 && sumLng === 0 && sumLat === 0;
