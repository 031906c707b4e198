import type { Area } from '../geo/bounds.js';
import { type ZRange, coverArea } from '../geo/ranges.js';
import { CELL_SUFFIX_LENGTH } from '../keys/declarations.js';
import { LONGEST_BLOCK } from '../model/cell.js';
import { joinPieces } from './join.js';
import { byPartition } from './partition.js';

/** Which cell blocks to read: ranges of parent cells. */
export interface BlockPlan {
  /** Geohash length of the parents. */
  readonly length: number;
  /** Sorted, disjoint, each within one partition. */
  readonly ranges: readonly ZRange[];
}

/** Ranges of blocks that an area is cut into before they are joined: those of a viewport come out as they are. */
const FINENESS = 64;

/** What reading a block costs, in markers: 600 bytes against 170, were every block there. */
const MARKERS_A_BLOCK = 3;

/**
 * The blocks that hold all cells of a precision (1 to 5) that overlap an area, as the ranges that cost least to read:
 * blocks are small, so a gap of a few costs less than a further Query.
 */
export function planBlocks(area: Area, precision: number): BlockPlan {
  const length = precision - 1;
  if (length < 0 || length > LONGEST_BLOCK) throw new Error(`there are no blocks of cells of length ${precision}`);
  const ranges: ZRange[] = [];
  for (const { pieces } of byPartition(coverArea(area, length, FINENESS), 32 ** Math.min(CELL_SUFFIX_LENGTH, length))) {
    for (const { from, to } of joinPieces(pieces, (z) => z * MARKERS_A_BLOCK)) ranges.push({ from, to });
  }
  return { length, ranges };
}
