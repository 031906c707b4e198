import type { Area } from '../geo/bounds.js';
import type { ZRange } from '../geo/ranges.js';
import { coverArea } from '../geo/ranges.js';
import { LONGEST_BLOCK } from '../model/cell.js';

/** Which cell blocks to read: ranges of parent cells. */
export interface BlockPlan {
  /** Geohash length of the parents. */
  readonly length: number;
  /** Sorted, disjoint, each within one partition. */
  readonly ranges: readonly ZRange[];
}

/** Characters of a cell's geohash that stand in its sort key; those before them name its partition. */
const SUFFIX = 3;

/** The blocks that hold all cells of a precision (1 to 5) that overlap an area. */
export function planBlocks(area: Area, precision: number): BlockPlan {
  const length = precision - 1;
  if (length < 0 || length > LONGEST_BLOCK) throw new Error(`there are no blocks of cells of length ${precision}`);
  const partition = 32 ** Math.min(SUFFIX, length);
  const ranges: ZRange[] = [];
  for (const { from, to } of coverArea(area, length, 4)) {
    for (let start = from; start < to;) {
      const end = Math.min(to, (Math.floor(start / partition) + 1) * partition);
      ranges.push({ from: start, to: end });
      start = end;
    }
  }
  return { length, ranges };
}
