import { cellBounds, center } from './geohash.js';
import type { Point } from './point.js';

/** A count of positions with their sums, integers in millionths of a degree. */
export interface PositionSums {
  readonly count: number;
  readonly sumLng: number;
  readonly sumLat: number;
}

const UNITS_PER_DEGREE = 1_000_000;

/** The mean position; undefined where there is none to take it of. */
export function meanPosition({ count, sumLng, sumLat }: PositionSums): Point | undefined {
  if (count <= 0) return undefined;
  return { lng: sumLng / count / UNITS_PER_DEGREE + 0, lat: sumLat / count / UNITS_PER_DEGREE + 0 };
}

/** The mean position of a cell's markers, never outside the cell; its center where it has none. */
export function cellCentroid(geohash: string, sums: PositionSums): Point {
  const mean = meanPosition(sums);
  if (!mean) return center(geohash);
  // Sums are rounded to millionths of a degree, which in a cell of length 12 is a few times its width.
  const { west, south, east, north } = cellBounds(geohash);
  return {
    lng: Math.min(east, Math.max(west, mean.lng)),
    lat: Math.min(north, Math.max(south, mean.lat)),
  };
}
