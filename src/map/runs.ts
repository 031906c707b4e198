import { LONGEST_Z, toZ } from '../geo/geohash.js';
import type { ZRange } from '../geo/ranges.js';
import type { Cell, CellBlock } from '../model/cell.js';
import type { Collection } from '../model/collection.js';
import type { MapContext } from './context.js';
import { joinPieces } from './pieces.js';

/** Markers that cost as much to read for nothing as another Query. */
const QUERY_IN_MARKERS = 24;
/** Blocks that cost as much to read for nothing as another Query. */
const QUERY_IN_BLOCKS = 8;
const BLOCK_RANGES = 12;
/** Characters of a cell's geohash that stand in its sort key. */
const SUFFIX_LENGTH = 3;

/** The markers' places that a cell stands for. */
export function cellRange({ geohash }: Pick<Cell, 'geohash'>): ZRange {
  const hash = geohash.slice(0, LONGEST_Z);
  const size = 32 ** (LONGEST_Z - hash.length);
  return { from: toZ(hash) * size, to: (toZ(hash) + 1) * size };
}

/** How many markers stand between two places, by cells (disjoint, of any lengths) that none of them is cut by. */
export function countsBetween(cells: readonly Cell[]): (from: number, to: number) => number {
  const ranges = cells.map((cell) => ({ ...cellRange(cell), count: cell.count })).sort((a, b) => a.from - b.from);
  const sums = [0];
  for (const { count } of ranges) sums.push((sums.at(-1) ?? 0) + count);
  const before = (place: number) => {
    let low = 0;
    let high = ranges.length;
    while (low < high) {
      const middle = (low + high) >> 1;
      if ((ranges[middle]?.from ?? 0) < place) low = middle + 1;
      else high = middle;
    }
    return sums[low] ?? 0;
  };
  return (from, to) => before(to) - before(from);
}

/** The ranges in which to read these pieces of a collection, given what is known to stand between them. */
export function markerRuns(
  pieces: readonly ZRange[],
  known: readonly Cell[],
  { prefixLength }: Collection,
  most: number,
): ZRange[] {
  const partition = 32 ** (LONGEST_Z - prefixLength);
  return joinPieces(pieces, { partition, weight: countsBetween(known), price: QUERY_IN_MARKERS, most });
}

/** The blocks under these parents (of one length, in order), read in few ranges; undefined where it takes too many. */
export async function blocksUnder(
  { loaders, keys, limits }: MapContext,
  collection: Collection,
  parents: readonly string[],
): Promise<CellBlock[] | undefined> {
  const length = parents[0]?.length;
  if (length === undefined) return [];
  const ranges = joinPieces(
    parents.map((parent) => ({ from: toZ(parent), to: toZ(parent) + 1 })),
    {
      partition: 32 ** Math.min(SUFFIX_LENGTH, length),
      weight: (from, to) => to - from,
      price: QUERY_IN_BLOCKS,
      most: BLOCK_RANGES,
    },
  );
  if (ranges.length > limits.rangesPerPage) return undefined;
  const asked = new Set(parents);
  const plan = { length, ranges };
  const blocks = await loaders.blocks.load({ scope: keys.scope(collection), plan, maxCalls: limits.rangesPerPage });
  return blocks?.filter(({ parent }) => asked.has(parent));
}
