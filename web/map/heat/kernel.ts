import type { MapCell } from '../../../src/client/public.js';

/**
 * Standard deviation of the kernel relative to the mean side of a cell: lower values show the grid, higher ones blur
 * the picture.
 */
const SPREAD = 0.5;
/** Beyond this latitude (78 degrees) the kernel no longer grows with the map's scale. */
const LEAST_COSINE = 0.2;
const EQUATOR_KM = 40_075;

/** Width of the world at zoom 0. */
export const WORLD_PX = 512;
/**
 * Minimum mean side of cells in px. The sides for two lengths differ by a factor of the root of 32, so the maximum is
 * 90 px.
 */
const LEAST_SIDE = 16;
const LONGEST = 12;

/** The geometric mean of a cell's sides at the equator, on a map whose world is 1 wide. */
function sideOf(length: number): number {
  const [columns, rows] = [2 ** Math.ceil((5 * length) / 2), 2 ** Math.floor((5 * length) / 2)];
  return Math.sqrt((1 / columns) * (0.5 / rows));
}

/** The geohash length of cells at a zoom: finer cells cost more reads, coarser ones blur the picture. */
export function lengthAt(zoom: number): number {
  let length = 1;
  while (length < LONGEST && sideOf(length + 1) * WORLD_PX * 2 ** zoom >= LEAST_SIDE) length += 1;
  return length;
}

/** Mercator's scale factor at a latitude. Kernels grow with it, so that they cover the same area on the ground. */
const stretchAt = (lat: number) => 1 / Math.max(LEAST_COSINE, Math.cos((lat * Math.PI) / 180));

/** The standard deviation of a cell's kernel, on a map whose world is 1 wide. */
export const deviationOf = ({ geohash, centroid }: MapCell): number =>
  SPREAD * sideOf(geohash.length) * stretchAt(centroid.lat);

/** Side of a square with the area of a kernel, relative to the side of a cell at the equator. */
const KERNEL_SIDES = Math.sqrt(2 * Math.PI) * SPREAD;
/** Side in km of the square over which a kernel of cells of this length spreads one marker. */
export const sideKm = (length: number): number => KERNEL_SIDES * sideOf(length) * EQUATOR_KM;

/** The value of `markersAround` inside a large field of cells that all have as many markers as one at this latitude. */
export const levelOf = (count: number, lat: number): number => count * KERNEL_SIDES ** 2 * stretchAt(lat);

/** Web Mercator coordinates, on a map whose world is 1 wide. */
function project({ lng, lat }: MapCell['centroid']): readonly [x: number, y: number] {
  const sine = Math.sin((lat * Math.PI) / 180);
  return [lng / 360, Math.log((1 + sine) / (1 - sine)) / (4 * Math.PI)];
}

/** The number of markers around a position: each cell is weighted by the distance to its centroid. */
export function markersAround(cells: readonly MapCell[], position: MapCell['centroid']): number {
  const [x, y] = project(position);
  return cells.reduce((sum, cell) => {
    const [cellX, cellY] = project(cell.centroid);
    const across = Math.abs(x - cellX) % 1;
    const [dx, dy] = [Math.min(across, 1 - across), y - cellY];
    return sum + cell.count * Math.exp(-(dx ** 2 + dy ** 2) / (2 * deviationOf(cell) ** 2));
  }, 0);
}
