import type { CellSums } from '../geo/cell-sums.js';
import type { Place } from './place.js';

/**
 * How cells are stored: one item, a block, under the key of a parent cell has the sums of its 32 children. So a block
 * of length L has the cells of length L + 1, and the sum of its children is its own cell.
 */
export interface CellBlock {
  /** Geohash of the parent; '' for the whole collection. */
  readonly parent: string;
  /** The last stream batch that changed it; 0 for a block that was never written. */
  readonly batch: number;
  /** By the last character of the child's geohash; empty children are omitted. */
  readonly children: ReadonlyMap<string, CellSums>;
  /** Of the whole collection: see `SIZE_CHILD`. Omitted if nothing is known. */
  readonly size?: CellSums | undefined;
}

/**
 * The child of the block of a whole collection that is no cell: its count is the size of the markers in bytes, and `sumLng`
 * how many of them were measured. Earlier releases measured none.
 */
export const SIZE_CHILD = '$';

/** Under this name, sums of the finest cells and places have the size: earlier releases take it for a place, and skip it. */
export const SIZE_NAME = '[]';

/** A block with these sums, as far as they count something: later records of the stream subtract the others. */
export function cellBlock(parent: string, batch: number, sums: ReadonlyMap<string, CellSums>): CellBlock {
  const some = [...sums].filter(([child, { count }]) => count !== 0 && child !== SIZE_CHILD);
  const children = some.length === sums.size ? sums : new Map(some);
  return { parent, batch, children, size: sums.get(SIZE_CHILD) };
}

/** The sums of a block, its size included. */
export const sumsOfBlock = ({ children, size }: CellBlock): Map<string, CellSums> =>
  new Map(size ? [...children, [SIZE_CHILD, size]] : children);

/** The size of all markers in bytes; undefined if some were not measured. `sums` are those of the block of a whole collection. */
export function measuredBytes(sums: ReadonlyMap<string, CellSums>): number | undefined {
  let markers = 0;
  for (const [child, { count }] of sums) if (child !== SIZE_CHILD) markers += count;
  const { count = 0, sumLng = 0 } = sums.get(SIZE_CHILD) ?? {};
  return sumLng === markers ? count : undefined;
}

/**
 * The only child of a block that counts a place. It has a count but no sums; `placeParent` gives the block's parent.
 */
export const PLACE_CHILD = '';

/** The parent of the block that counts a place: the same text for the same names, and never a geohash. */
export const placeParent = (place: Place): string => JSON.stringify(place);

/** The place counted by a block, from its parent; undefined for a block of cells. */
export function placeOfParent(parent: string): Place | undefined {
  return parent.startsWith('[') ? (JSON.parse(parent) as Place) : undefined;
}

/** Blocks are stored for parents of length 0 to 4, so that cells of length 1 to 5 are read directly. */
export const LONGEST_BLOCK = 4;

/** Geohash length of the finest cells that are stored. */
export const FINEST_STORED = LONGEST_BLOCK + 1;
