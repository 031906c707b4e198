import type { Area } from '../../geo/bounds.js';
import { coverArea, fromZ, LONGEST_Z, type ZRange } from '../../geo/geohash.js';
import { LONGEST_BLOCK } from '../../model/cell.js';
import { requireCollection, type MapContext } from '../../read/context.js';

/** The blocks of cells on which an answer depends. */
export interface DecisiveBlocks {
  /** Names of them, and of all that contains them, by which caches drop the answer: at most 50, each at most 68 characters. */
  readonly tags: readonly string[];
  /** As ranges of Z-order at length 10. */
  readonly ranges: readonly ZRange[];
}

/** CloudFront keeps 50 tags, and three are not of blocks. */
const MOST_BLOCKS = 47;

/** The tag of every answer. No collection has this scope. */
export const EVERYTHING = 'cellport:all';

/** The tag of a block of cells, under a parent. That of all answers about a collection is its scope. */
const tagOf = (scope: string, parent: string): string => `${scope}/${parent}`;

/** The tag of what shows a collection's zones. */
export const zonesTag = (scope: string): string => tagOf(scope, 'zones');

/** The tags of what depends on all markers of a collection, and its settings. Throws NOT_FOUND. */
export async function tagsOfAll(context: MapContext, key: string): Promise<readonly string[]> {
  const scope = context.keys.scope(await requireCollection(context, key));
  return [EVERYTHING, scope, tagOf(scope, '')];
}

/** The tags of the blocks that have a cell. */
export const tagsAbove = (scope: string, cell: string): string[] =>
  Array.from({ length: LONGEST_BLOCK + 1 }, (_, length) => tagOf(scope, cell.slice(0, length)));

/** The finest blocks that cover an area, few enough to be named. */
export function decisiveBlocks(scope: string, area: Area): DecisiveBlocks {
  const coverOf = (length: number) => coverArea(area, length, MOST_BLOCKS);
  const isFew = (length: number) => coverOf(length).reduce((sum, { from, to }) => sum + to - from, 0) <= MOST_BLOCKS;
  let length = LONGEST_BLOCK;
  while (length > 0 && !isFew(length)) length--;
  const ranges = coverOf(length);
  const size = 32 ** (LONGEST_Z - length);
  const parents = ranges.flatMap(({ from, to }) =>
    Array.from({ length: to - from }, (_, nth) => fromZ(from + nth, length)),
  );
  return {
    tags: [EVERYTHING, scope, ...parents.map((parent) => tagOf(scope, parent))],
    ranges: ranges.map(({ from, to }) => ({ from: from * size, to: to * size })),
  };
}
