import { type Area, type Bounds, areaOverlapsCell, normalizeBounds } from './bounds.js';
import type { Cell } from './cell-sums.js';
import { meanPosition } from './centroid.js';
import { cellBounds, center, latBits, lngBits } from './geohash.js';
import { latToY, lngToX, worldSize, xToLng, yToLat } from './mercator.js';
import type { Point } from './point.js';
import type { Steps } from './steps.js';

/** Cells that are grouped in one step. */
const STEP = 512;

/** Neighbouring cells that a map draws as one circle. */
export interface Cluster {
  /** The mean position of all markers in it. */
  readonly position: Point;
  /** The bounding box of its cells. */
  readonly bounds: Bounds;
  readonly count: number;
  /** In the order of their geohashes. */
  readonly cells: readonly Cell[];
}

/**
 * The squares into which cells are grouped: a fixed grid over the Mercator world, `size` px wide at this zoom, counted
 * from the antimeridian and the north. Which square a cell belongs to does not depend on the viewport.
 */
export interface ClusterGrid {
  readonly zoom: number;
  /** In px, more than 0. */
  readonly size: number;
}

const columnAt = (lng: number, { zoom, size }: ClusterGrid) => Math.floor(lngToX(lng, zoom) / size);
const rowAt = (lat: number, { zoom, size }: ClusterGrid) => Math.floor(latToY(lat, zoom) / size);

/** The name of the grid square that contains a position; unique within the grid. */
export function clusterSquare({ lng, lat }: Point, grid: ClusterGrid): string {
  return `${columnAt(lng, grid)}/${rowAt(lat, grid)}`;
}

/**
 * The area whose cells of `precision` are needed so that `clusterCells` sees all cells of every cluster in the given
 * area: the area, widened by half a cell to include the centers of all cells that overlap it, then to whole squares.
 */
export function gridArea({ bounds }: Area, precision: number, grid: ClusterGrid): Area {
  const { zoom, size } = grid;
  const halfLng = 180 / 2 ** lngBits(precision);
  const halfLat = 90 / 2 ** latBits(precision);
  const east = bounds.east < bounds.west ? bounds.east + 360 : bounds.east;
  // Squares are counted from the antimeridian and the last one is narrower, so each side is wrapped before rounding.
  const squareEdge = (lng: number, more: 0 | 1) => {
    const turns = Math.floor((lng + 180) / 360);
    const edge = Math.min((columnAt(lng - 360 * turns, grid) + more) * size, worldSize(zoom));
    return xToLng(edge, zoom) + 360 * turns;
  };
  const north = rowAt(bounds.north + halfLat, grid) * size;
  const south = (rowAt(bounds.south - halfLat, grid) + 1) * size;
  return normalizeBounds('bounds', {
    west: squareEdge(bounds.west - halfLng, 0),
    east: squareEdge(east + halfLng, 1),
    north: north <= 0 ? 90 : yToLat(north, zoom),
    south: south >= worldSize(zoom) ? -90 : yToLat(south, zoom),
  });
}

/**
 * Groups cells (of one precision, without duplicates, at least all of `gridArea`) into clusters by the squares that
 * contain their centers, and returns those with a cell that overlaps the area, ordered by their first geohash. A square
 * yields the same cluster for every area.
 */
export function* clusterCells(area: Area, cells: Iterable<Cell>, grid: ClusterGrid): Steps<Cluster[]> {
  const squares = new Map<string, Cell[]>();
  let steps = 0;
  for (const cell of cells) {
    if (++steps % STEP === 0) yield;
    if (cell.count <= 0) continue;
    const square = clusterSquare(center(cell.geohash), grid);
    const gathered = squares.get(square);
    if (gathered) gathered.push(cell);
    else squares.set(square, [cell]);
  }
  const clusters: Cluster[] = [];
  for (const gathered of squares.values()) {
    if ((steps += gathered.length) % STEP < gathered.length) yield;
    if (gathered.some(({ geohash }) => areaOverlapsCell(area, cellBounds(geohash)))) clusters.push(clusterOf(gathered));
  }
  return clusters.sort((a, b) => byGeohash(a.cells[0], b.cells[0]));
}

function byGeohash(a: Cell | undefined, b: Cell | undefined): number {
  return (a?.geohash ?? '') < (b?.geohash ?? '') ? -1 : 1;
}

/** The cluster of one or more cells. */
function clusterOf(gathered: readonly Cell[]): Cluster {
  const cells = gathered.toSorted(byGeohash);
  const edges = cells.map(({ geohash }) => cellBounds(geohash));
  const sums = { count: 0, sumLng: 0, sumLat: 0 };
  for (const cell of cells) {
    sums.count += cell.count;
    sums.sumLng += cell.sumLng;
    sums.sumLat += cell.sumLat;
  }
  const position = meanPosition(sums);
  if (!position) throw new Error('a cluster has at least one marker');
  return {
    position,
    bounds: {
      west: Math.min(...edges.map(({ west }) => west)),
      south: Math.min(...edges.map(({ south }) => south)),
      east: Math.max(...edges.map(({ east }) => east)),
      north: Math.max(...edges.map(({ north }) => north)),
    },
    count: sums.count,
    cells,
  };
}
