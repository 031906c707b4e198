import type { Place } from './place.js';

/**
 * What is known of the markers in one geohash cell. The sums are integers in millionths of a degree (floats would drift)
 * of the canonical positions (longitude 180 counts as -180); sum / count / 1e6 is the centroid.
 */
export interface Figures {
  readonly count: number;
  readonly sumLng: number;
  readonly sumLat: number;
}

/** A cell that holds markers, with its figures. */
export interface Cell extends Figures {
  readonly geohash: string;
}

/**
 * How cells are stored: one item, a block, under the key of a parent cell holds the figures of its 32 children. A block
 * of length L therefore answers for cells of length L + 1, and its own figures are the sum of its children's.
 */
export interface CellBlock {
  /** Geohash of the parent: '' for the whole collection. */
  readonly parent: string;
  /** The last batch of the stream that changed it; 0 for a block that was never written. */
  readonly batch: number;
  /** By the child's last character; children without markers are left out. */
  readonly children: ReadonlyMap<string, Figures>;
}

/**
 * The only child of a block that counts one place: its figures are a count, and no sums. Such a block has the place itself
 * for a parent, as `placeParent` writes it.
 */
export const PLACE_CHILD = '';

/** The parent of the block that counts a place, as text: one for the same names, and never a geohash. */
export const placeParent = (place: Place): string => JSON.stringify(place);

/** The place that a block counts, by its parent; undefined for a block of cells. */
export function placeOfParent(parent: string): Place | undefined {
  return parent.startsWith('[') ? (JSON.parse(parent) as Place) : undefined;
}

/** Blocks are stored for parents of length 0 to 4, so that cells of length 1 to 5 are read as they stand. */
export const LONGEST_BLOCK = 4;

/** Fixed-point units in a degree, for the sums of positions. */
export const UNITS_PER_DEGREE = 1_000_000;
