import type { Cell } from '../../geo/cell-sums.js';
import { LONGEST_Z, toZ } from '../../geo/geohash.js';
import type { ZRange } from '../../geo/ranges.js';
import { CELL_SUFFIX_LENGTH } from '../../keys/declarations.js';
import type { CellBlock } from '../../model/cell.js';
import type { Collection } from '../../model/collection.js';
import type { BlockPlan } from '../../plan/blocks.js';
import { climbBeyond } from '../../plan/density.js';
import type { MapContext } from '../context.js';
import { joinPieces } from './pieces.js';

/** Markers that cost as much to read for nothing as another Query. */
const QUERY_IN_MARKERS = 24;
/** Blocks that cost as much to read for nothing as another Query. */
const QUERY_IN_BLOCKS = 8;
const BLOCK_RANGES = 12;

/** The markers' places that a cell stands for. */
export function cellRange({ geohash }: Pick<Cell, 'geohash'>): ZRange {
  const hash = geohash.slice(0, LONGEST_Z);
  const size = 32 ** (LONGEST_Z - hash.length);
  return { from: toZ(hash) * size, to: (toZ(hash) + 1) * size };
}

/**
 * The ranges in which to read these pieces of a collection, given cells (disjoint, of any lengths, in order or not) and
 * the plan of the blocks that tell of all there are.
 */
export function markerRuns(
  pieces: readonly ZRange[],
  cells: readonly Cell[],
  { length, ranges }: BlockPlan,
  { prefixLength }: Collection,
  most: number,
): ZRange[] {
  const partition = 32 ** (LONGEST_Z - prefixLength);
  const block = 32 ** (LONGEST_Z - length);
  const steps = cells.map((cell) => ({ ...cellRange(cell), rise: cell.count })).sort((a, b) => a.from - b.from);
  const before = climbBeyond(
    steps,
    ranges.map(({ from, to }) => ({ from: from * block, to: to * block })),
  );
  const weight = (from: number, to: number) => before(to) - before(from);
  return joinPieces(pieces, { partition, weight, price: QUERY_IN_MARKERS, most });
}

/** Blocks, and the most Query calls that reading them took. */
export interface ReadBlocks {
  readonly blocks: readonly CellBlock[];
  readonly calls: number;
}

/** The blocks under these parents (of one length, in order), read in few ranges; undefined where it takes too many. */
export async function blocksUnder(
  { loaders, keys, limits }: MapContext,
  collection: Collection,
  parents: readonly string[],
): Promise<ReadBlocks | undefined> {
  const length = parents[0]?.length;
  if (length === undefined) return { blocks: [], calls: 0 };
  const ranges = joinPieces(
    parents.map((parent) => ({ from: toZ(parent), to: toZ(parent) + 1 })),
    {
      partition: 32 ** Math.min(CELL_SUFFIX_LENGTH, length),
      weight: (from, to) => to - from,
      price: QUERY_IN_BLOCKS,
      most: BLOCK_RANGES,
    },
  );
  if (ranges.length > limits.rangesPerPage) return undefined;
  const asked = new Set(parents);
  const plan = { length, ranges };
  const blocks = await loaders.blocks.load({ scope: keys.scope(collection), plan, maxCalls: limits.rangesPerPage });
  return blocks && { blocks: blocks.filter(({ parent }) => asked.has(parent)), calls: ranges.length };
}
