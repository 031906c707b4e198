import { canonicalLng, type Bounds, type Point } from './bounds.js';
import { cellBounds, center } from './geohash.js';

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

/** The mean position; undefined for a count of 0. */
export function meanPosition({ count, sumLng, sumLat }: CellSums): Point | undefined {
  if (count <= 0) return undefined;
  return { lng: sumLng / count / UNITS_PER_DEGREE + 0, lat: sumLat / count / UNITS_PER_DEGREE + 0 };
}

/** The mean position of a cell's markers, clamped to the cell; the cell's center if it has no markers. */
export function cellCentroid(geohash: string, sums: CellSums): Point {
  const mean = meanPosition(sums);
  if (!mean) return center(geohash);
  // Sums are rounded to millionths of a degree, several times the width of a cell of length 12.
  const { west, south, east, north } = cellBounds(geohash);
  return {
    lng: Math.min(east, Math.max(west, mean.lng)),
    lat: Math.min(north, Math.max(south, mean.lat)),
  };
}

/** The range that contains each of `count` values between `from` and `to`, given their sum in fixed-point units. */
function reach(sum: number, count: number, from: number, to: number): readonly [least: number, most: number] {
  // Each position is rounded to the nearest unit before it is added.
  const slack = count / UNITS_PER_DEGREE;
  const total = sum / UNITS_PER_DEGREE;
  return [Math.max(from, total - (count - 1) * to - slack), Math.min(to, total - (count - 1) * from + slack)];
}

/**
 * The bounding box that contains all markers of a cell, given their sums: for a single marker, its position. Never
 * larger than the cell, and exact to `count` millionths of a degree.
 */
export function markerBounds(geohash: string, { count, sumLng, sumLat }: CellSums): Bounds {
  const cell = cellBounds(geohash);
  const [west, east] = reach(sumLng, count, cell.west, cell.east);
  const [south, north] = reach(sumLat, count, cell.south, cell.north);
  return { west, south, east, north };
}
