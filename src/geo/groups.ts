import type { Bounds, Point } from './bounds.js';
import { UNITS_PER_DEGREE, type Cell, type CellSums } from './cell-sums.js';
import { cellBounds } from './geohash.js';
import { pixelOf, type Pixel } from './mercator.js';

const TURN = 360;

/** Cells being merged, with the mean position of their markers in px. */
export interface Group extends CellSums, Pixel {
  /** Longitude of that position; exceeds 180 if the group is moved beside another one, across the antimeridian. */
  readonly lng: number;
  /** The first geohash of its cells. */
  readonly first: string;
  /** A cell, or the groups that were merged: lists of cells are made once, when all are merged. */
  readonly content: Cell | readonly Group[];
  /** Number of turns around the globe, to the east, by which its content is moved. */
  readonly turns: number;
}

/** The mean position of the markers of a cell or a group. */
export function meanOf({ sumLng, sumLat, count }: CellSums): Point {
  return { lng: sumLng / count / UNITS_PER_DEGREE + 0, lat: sumLat / count / UNITS_PER_DEGREE + 0 };
}

type Content = Pick<Group, 'first' | 'content' | 'turns'>;

function groupOf(
  count: number,
  sumLng: number,
  sumLat: number,
  zoom: number,
  { first, content, turns }: Content,
): Group {
  const mean = meanOf({ count, sumLng, sumLat });
  const { x, y } = pixelOf(mean, zoom);
  return { count, sumLng, sumLat, x, y, lng: mean.lng, first, content, turns };
}

/** The group of a single cell, on a map of this zoom. */
export function ofCell(cell: Cell, zoom: number): Group {
  const group = groupOf(cell.count, cell.sumLng, cell.sumLat, zoom, { first: cell.geohash, content: cell, turns: 0 });
  // Sums are rounded: markers just west of the antimeridian are on it, like those at -180.
  return group.lng >= 180 ? turned(group, -1, zoom) : group;
}

/** The same group, moved whole turns around the globe to the east. */
export function turned(group: Group, turns: number, zoom: number): Group {
  const { count, sumLng, sumLat, first } = group;
  const moved = sumLng + turns * TURN * UNITS_PER_DEGREE * count;
  return groupOf(count, moved, sumLat, zoom, { first, content: [group], turns });
}

/** Merges at least one group. */
export function join(groups: readonly [Group, ...Group[]], zoom: number): Group {
  let [{ first }] = groups;
  let count = 0;
  let sumLng = 0;
  let sumLat = 0;
  for (const group of groups) {
    count += group.count;
    sumLng += group.sumLng;
    sumLat += group.sumLat;
    if (group.first < first) first = group.first;
  }
  return groupOf(count, sumLng, sumLat, zoom, { first, content: groups, turns: 0 });
}

export const byFirstCell = (a: Group, b: Group): number => (a.first < b.first ? -1 : 1);

/** A cell of a group, and the number of turns by which the group has moved it. */
interface MovedCell {
  readonly cell: Cell;
  readonly turns: number;
}

function movedCells(group: Group): readonly MovedCell[] {
  const cells: MovedCell[] = [];
  const open: { readonly group: Group; readonly turns: number }[] = [{ group, turns: 0 }];
  for (let next = open.pop(); next; next = open.pop()) {
    const { content } = next.group;
    const turns = next.turns + next.group.turns;
    if ('geohash' in content) cells.push({ cell: content, turns });
    else for (const each of content) open.push({ group: each, turns });
  }
  return cells;
}

/** The cells of a group, sorted by geohash. */
export const cellsOf = (group: Group): Cell[] =>
  movedCells(group)
    .map(({ cell }) => cell)
    .sort((a, b) => (a.geohash < b.geohash ? -1 : 1));

/** The bounding box of a group's cells; west is greater than east if it crosses the antimeridian. */
export function boundsOf(group: Group): Bounds {
  const box = { west: Infinity, east: -Infinity, south: Infinity, north: -Infinity };
  for (const { cell, turns } of movedCells(group)) {
    const { west, east, south, north } = cellBounds(cell.geohash);
    box.west = Math.min(box.west, west + turns * TURN);
    box.east = Math.max(box.east, east + turns * TURN);
    box.south = Math.min(box.south, south);
    box.north = Math.max(box.north, north);
  }
  const { west, east, south, north } = box;
  if (east - west >= TURN) return { west: -180, east: 180, south, north };
  return { west: west < -180 ? west + TURN : west, east: east > 180 ? east - TURN : east, south, north };
}
