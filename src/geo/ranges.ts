import type { Area, Bounds } from './bounds.js';
import { columnOf, latBits, lngBits, LONGEST_Z, rowOf, toZ } from './geohash.js';

/** Positions in Z-order among the geohashes of one length: `from <= z < to`. */
export interface ZRange {
  readonly from: number;
  readonly to: number;
}

/** The Z-order positions of a cell at length 10; for a smaller cell, those of the enclosing cell of length 10. */
export function cellRange(geohash: string): ZRange {
  const hash = geohash.slice(0, LONGEST_Z);
  const size = 32 ** (LONGEST_Z - hash.length);
  return { from: toZ(hash) * size, to: (toZ(hash) + 1) * size };
}

/** Columns and rows of cells, all four bounds included. */
interface Box {
  readonly west: number;
  readonly south: number;
  readonly east: number;
  readonly north: number;
}

function boxOf(part: Bounds, length: number): Box {
  return {
    west: columnOf(part.west, length),
    south: rowOf(part.south, length),
    east: columnOf(part.east, length),
    north: rowOf(part.north, length),
  };
}

/** The boxes at `depth` bits, fewer than `length` has. */
function coarsen(boxes: readonly Box[], length: number, depth: number): Box[] {
  const columns = lngBits(length) - Math.ceil(depth / 2);
  const rows = latBits(length) - Math.floor(depth / 2);
  return boxes.map(({ west, south, east, north }) => ({
    west: west >> columns,
    south: south >> rows,
    east: east >> columns,
    north: north >> rows,
  }));
}

/** The number of cells on the rim of a box. */
function rim({ west, south, east, north }: Box): number {
  const wide = east - west + 1;
  const high = north - south + 1;
  return wide <= 2 || high <= 2 ? wide * high : 2 * (wide + high) - 4;
}

/**
 * The ranges of geohashes of `length` (at most 10) that cover an area: every cell of that length with a position in the
 * area is in one of them, and no range lies entirely outside. They are sorted, disjoint and not adjacent. There are at
 * most `most` of them; if necessary, they extend beyond the area.
 *
 * The world is halved by longitude and latitude in turn, like the bits of a geohash. The depth follows from the budget:
 * every run of Z-order within a box contains a cell of the box's rim (follow the run to its end at the boundary of a
 * half: the last cell and the next one share an edge, and the next one is outside), so there are never more ranges than
 * rim cells.
 */
export function coverArea(area: Area, length: number, most: number): ZRange[] {
  const finest = area.parts.map((part) => boxOf(part, length));
  let depth = 5 * length;
  let boxes = finest;
  while (depth > 0 && boxes.reduce((sum, box) => sum + rim(box), 0) > most) {
    depth--;
    boxes = coarsen(finest, length, depth);
  }

  const size = 2 ** (5 * length - depth);
  const ranges: { from: number; to: number }[] = [];
  /** Adds the cells in the boxes that share the first `taken` bits, `z`; (west, south) is the first of these cells. */
  const visit = (taken: number, z: number, west: number, south: number) => {
    const left = depth - taken;
    const columns = Math.ceil(depth / 2) - Math.ceil(taken / 2);
    const rows = left - columns;
    const east = west + 2 ** columns - 1;
    const north = south + 2 ** rows - 1;
    let touched = false;
    let inside = false;
    for (const box of boxes) {
      if (box.west > east || box.east < west || box.south > north || box.north < south) continue;
      touched = true;
      inside ||= box.west <= west && east <= box.east && box.south <= south && north <= box.north;
    }
    if (!touched) return;
    if (inside || left === 0) {
      const from = z * 2 ** left * size;
      const to = (z + 1) * 2 ** left * size;
      const last = ranges.at(-1);
      if (last?.to === from) last.to = to;
      else ranges.push({ from, to });
      return;
    }
    const byLng = taken % 2 === 0;
    visit(taken + 1, z * 2, west, south);
    visit(taken + 1, z * 2 + 1, byLng ? west + 2 ** (columns - 1) : west, byLng ? south : south + 2 ** (rows - 1));
  };
  visit(0, 0, 0, 0);
  return ranges;
}

/** The intersection of two lists of ranges, each sorted and disjoint. */
export function intersect(a: readonly ZRange[], b: readonly ZRange[]): ZRange[] {
  const common: ZRange[] = [];
  let i = 0;
  let j = 0;
  for (;;) {
    const one = a[i];
    const other = b[j];
    if (!one || !other) return common;
    const from = Math.max(one.from, other.from);
    const to = Math.min(one.to, other.to);
    if (from < to) common.push({ from, to });
    if (one.to < other.to) i++;
    else j++;
  }
}
