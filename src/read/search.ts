import type { ZRange } from '../geo/ranges.js';
import type { Budget } from '../loaders/budget.js';
import type { Collection } from '../model/collection.js';
import type { OrderedMarker } from '../pages/ordered-marker.js';
import type { CursorPosition } from './cursor.js';

/** Where to search for a collection's markers, and the budget for it. */
export interface MarkerSearch {
  readonly collection: Collection;
  /** Z-order ranges (of geohashes of length 10) that contain everything searched for: sorted, disjoint. */
  readonly cover: readonly ZRange[];
  readonly budget: Budget;
}

/** The result of a search. */
export interface QueryResult {
  /** In order, each marker once: of several copies the newest. */
  readonly found: readonly OrderedMarker[];
  /** Where the next page resumes if the budget ended this one; otherwise undefined. */
  readonly resumeAfter: CursorPosition | undefined;
  /** Whether nothing is left to read. */
  readonly ended: boolean;
}

/** A stretch of a collection's markers, limited to the search. */
export interface FoundPart {
  /** In order. May include markers outside the search, and some of earlier parts again. */
  readonly markers: readonly OrderedMarker[];
  /** Whether markers of earlier parts are included, because they may have been missed there. */
  readonly again: boolean;
  /** All markers up to this position were in this part or an earlier one. */
  readonly upTo: CursorPosition;
  /** Whether nothing is left to read. */
  readonly ended: boolean;
}

/** Reads a search in order, part by part. */
export interface MarkerSource {
  /** The part after a position, about as long as wanted; undefined if the budget does not cover any. */
  next(after: CursorPosition, wanted: number): Promise<FoundPart | undefined>;
}
