import type { ZRange } from '../../geo/ranges.js';
import type { Budget } from '../../loaders/budget.js';
import type { Collection } from '../../model/collection.js';
import type { MapMarker } from '../../model/marker.js';
import type { CursorPosition } from '../cursor.js';

/** A marker and its position in the order of its collection. */
export interface OrderedMarker {
  readonly cursorPosition: CursorPosition;
  readonly marker: MapMarker;
}

/** Where to look for the markers of a collection, and what that may take. */
export interface MarkerSearch {
  readonly collection: Collection;
  /** Ranges of Z-order (of geohashes of length 10) that hold everything searched for: sorted, disjoint. */
  readonly cover: readonly ZRange[];
  readonly budget: Budget;
}

/** What a search has found. */
export interface QueryResult {
  /** In order, each marker once: of several copies the newest. */
  readonly found: readonly OrderedMarker[];
  /** Where the next page resumes if the budget ended this one; undefined if it did not. */
  readonly resumeAfter: CursorPosition | undefined;
  /** Whether nothing is left to read. */
  readonly ended: boolean;
}

/** Markers that follow one another in the order of a collection, as far as they are searched for. */
export interface Part {
  /** In order. Markers beside the search may be among them, and some of earlier parts again. */
  readonly markers: readonly OrderedMarker[];
  /** Whether markers of earlier parts are among them, as they may have been missed there. */
  readonly again: boolean;
  /** All markers up to here were in this part or an earlier one. */
  readonly upTo: CursorPosition;
  /** Whether nothing is left to read. */
  readonly ended: boolean;
}

/** Reads a search in order, part by part. */
export interface MarkerSource {
  /** The part after a position, about as long as what is wanted; undefined if the budget does not pay for any. */
  next(after: CursorPosition, wanted: number): Promise<Part | undefined>;
}
