import { normalizeBounds, type Area, type Bounds } from './bounds.js';
import { latBits, lngBits } from './geohash.js';
import { latToY, lngToX, worldSize, xToLng, yToLat, type Pixel } from './mercator.js';

/** The required distance between clusters. */
export interface Spacing {
  readonly zoom: number;
  /** In px at this zoom, more than 0. */
  readonly distance: number;
}

/** Number of half windows by which a pass shifts the windows to the east and to the south. */
export interface Shift {
  readonly x: 0 | 1;
  readonly y: 0 | 1;
}

export const UNSHIFTED: Shift = { x: 0, y: 0 };

/**
 * Windows are at least two distances wide. So each of these shifts separates some pairs of positions that are closer
 * than one distance, but no pair is separated by all four.
 */
export const PASSES: readonly Shift[] = [UNSHIFTED, { x: 1, y: 0 }, { x: 1, y: 1 }, { x: 0, y: 1 }];

/** Number of crumbs in the width of a window. Even, so that shifted windows also consist of whole crumbs. */
const CRUMBS = 16;

/**
 * Individually drawn markers depend on clusters up to this many distances away: half a distance from either cluster to
 * its markers, and a third between the markers.
 */
const REACH = 4 / 3 + 0.01;

/** Sums are rounded to millionths of a degree, so a mean may lie this many degrees outside its cell. */
const ROUNDING = 1e-6;

/** A division of the Mercator world into windows, independent of viewports. */
export interface Windows {
  readonly spacing: Spacing;
  /** Number of windows around the world. */
  readonly count: number;
  /** Their width and height in px. */
  readonly side: number;
}

export function windowsOf(spacing: Spacing): Windows {
  const world = worldSize(spacing.zoom);
  const count = Math.max(1, Math.floor(world / (2 * spacing.distance)));
  return { spacing, count, side: world / count };
}

const modulo = (value: number, size: number) => value - Math.floor(value / size) * size;

/** The window of a pass that contains a pixel. */
export function windowAt({ count, side }: Windows, shift: Shift, { x, y }: Pixel): number {
  const column = Math.floor(modulo(x / side - shift.x / 2, count));
  // The southern edge of the square, where all markers beyond it are, is in the last row.
  const row = Math.min(count - 1 + shift.y, Math.floor(y / side + shift.y / 2));
  // Rounding may return the divisor itself as a remainder.
  return row * count + Math.min(count - 1, column);
}

/** The longitude of the western edge of a window, -180 or more. */
export function westOf({ count }: Windows, shift: Shift, window: number): number {
  return (((window % count) + shift.x / 2) / count) * 360 - 180;
}

/** An unshifted window and its neighbors on all sides, without duplicates. */
export function windowsAround({ count }: Windows, window: number): ReadonlySet<number> {
  const column = window % count;
  const around = [-1, 0, 1].flatMap((down) =>
    [-1, 0, 1].map((right) => window - column + down * count + ((column + right + count) % count)),
  );
  return new Set(around);
}

/** The crumb that contains a pixel: a square whose cells are merged before anything else. */
export function crumbAt({ count, side }: Windows, { x, y }: Pixel): number {
  return Math.floor((CRUMBS * y) / side) * CRUMBS * count + Math.floor((CRUMBS * x) / side);
}

/** Widens an interval to whole windows of a pass. */
const widen = ([from, to]: readonly [number, number], shift: 0 | 1): readonly [number, number] => [
  Math.floor(from - shift / 2) + shift / 2,
  Math.floor(to - shift / 2) + 1 + shift / 2,
];

/**
 * The interval on which the clusters of another one depend: each pass may move a marker of the interval into another
 * window, and each earlier pass has determined the content of that window.
 */
function dependence(interval: readonly [number, number], axis: 'x' | 'y', reach: number): readonly [number, number] {
  const shifts = PASSES.map((shift) => shift[axis]);
  const [from, to] = shifts.reduce(widen, interval);
  return shifts.reduceRight(widen, [from - reach, to + reach]);
}

/**
 * The area whose cells of `precision` are needed so that all clusters with a cell in the given area are the same as if
 * computed from all cells of the world.
 */
export function clusterArea({ bounds }: Area, precision: number, spacing: Spacing): Area {
  const windows = windowsOf(spacing);
  const { zoom, distance } = spacing;
  const { count, side } = windows;
  // A cell that overlaps the area may have its mean outside, but within the cell.
  const byLng = 360 / 2 ** lngBits(precision) + ROUNDING;
  const byLat = 180 / 2 ** latBits(precision) + ROUNDING;
  const reach = (REACH * distance) / side;
  const eastern = bounds.east < bounds.west ? bounds.east + 360 : bounds.east;
  const rowOf = (lat: number) => Math.min(count - 1 / CRUMBS, latToY(lat, zoom) / side);
  const rows = [rowOf(bounds.north + byLat), rowOf(bounds.south - byLat)] as const;
  const columns = [lngToX(bounds.west - byLng, zoom) / side, lngToX(eastern + byLng, zoom) / side] as const;
  const [west, east] = dependence(columns, 'x', reach);
  const [north, south] = dependence(rows, 'y', reach);
  const wide: Bounds = {
    west: xToLng(west * side, zoom) - ROUNDING,
    east: xToLng(east * side, zoom) + ROUNDING,
    north: north <= 0 ? 90 : yToLat(north * side, zoom) + ROUNDING,
    south: south >= count ? -90 : yToLat(south * side, zoom) - ROUNDING,
  };
  return normalizeBounds('bounds', east - west >= count ? { ...wide, west: -180, east: 180 } : wide);
}
