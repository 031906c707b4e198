import type { Area } from '../geo/bounds.js';
import { coverArea, toZ, type ZRange } from '../geo/geohash.js';
import { CELL_SUFFIX_LENGTH } from '../keys/declarations.js';
import { LONGEST_BLOCK } from '../model/cell.js';
import { HEAVY_BLOCKS } from '../model/read-cost.js';
import { byPartition, joinPieces } from './join.js';

/** Which cell blocks to read, as ranges of parent cells. */
export interface BlockPlan {
  /** Geohash length of the parents. */
  readonly length: number;
  /** Sorted, disjoint, each within one partition. */
  readonly ranges: readonly ZRange[];
}

/**
 * Maximum number of block ranges into which an area is cut before they are joined; those of a viewport are not joined.
 */
const FINENESS = 64;

/** A plan for sorted pieces with at most `most` ranges, unless they lie in more partitions. */
function planOf(length: number, pieces: readonly ZRange[], most = Infinity): BlockPlan {
  const size = 32 ** Math.min(CELL_SUFFIX_LENGTH, length);
  const apart = [...byPartition(pieces, size)].flatMap((group) => group.pieces);
  return { length, ranges: joinPieces(apart, size, { heavy: HEAVY_BLOCKS, most }) };
}

/**
 * The blocks with all cells of a precision (1 to 5) that overlap an area, as the ranges that are cheapest to read:
 * blocks are small, so a gap of a few costs less than another Query.
 */
export function planBlocks(area: Area, precision: number): BlockPlan {
  const length = precision - 1;
  if (length < 0 || length > LONGEST_BLOCK) throw new Error(`there are no blocks of cells of length ${precision}`);
  return planOf(length, coverArea(area, length, FINENESS));
}

/** The blocks under these parents, which have one length and are in order, in at most `most` ranges if possible. */
export function planBlocksUnder(parents: readonly string[], most: number): BlockPlan {
  const pieces = parents.map((parent) => ({ from: toZ(parent), to: toZ(parent) + 1 }));
  return planOf(parents[0]?.length ?? 0, pieces, most);
}
