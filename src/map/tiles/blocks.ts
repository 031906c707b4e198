import type { Area } from '../../geo/bounds.js';
import { coverArea, fromZ, LONGEST_Z, type ZRange } from '../../geo/geohash.js';
import { LONGEST_BLOCK } from '../../model/cell.js';

/** The blocks of cells on which an answer depends. */
export interface DecisiveBlocks {
  /** Names of them by which caches drop the answer: at most 50, each at most 68 characters. */
  readonly tags: readonly string[];
  /** As ranges of Z-order at length 10. */
  readonly ranges: readonly ZRange[];
}

const MOST_TAGS = 50;

/** The name of a block of cells, under a parent, for caches. */
export const tagOf = (collectionKey: string, parent: string): string =>
  parent === '' ? collectionKey : `${collectionKey}/${parent}`;

/** The finest blocks that cover an area, few enough to be named. */
export function decisiveBlocks(collectionKey: string, area: Area): DecisiveBlocks {
  const coverOf = (length: number) => coverArea(area, length, MOST_TAGS);
  const isFew = (length: number) => coverOf(length).reduce((sum, { from, to }) => sum + to - from, 0) <= MOST_TAGS;
  let length = LONGEST_BLOCK;
  while (length > 0 && !isFew(length)) length--;
  const ranges = coverOf(length);
  const size = 32 ** (LONGEST_Z - length);
  const parents = ranges.flatMap(({ from, to }) =>
    Array.from({ length: to - from }, (_, nth) => fromZ(from + nth, length)),
  );
  return {
    tags: parents.map((parent) => tagOf(collectionKey, parent)),
    ranges: ranges.map(({ from, to }) => ({ from: from * size, to: to * size })),
  };
}
