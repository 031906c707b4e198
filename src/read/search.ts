import type { ZRange } from '../geo/geohash.js';
import type { Key } from '../keys/document-id.js';
import type { Keyspace } from '../keys/keyspace.js';
import type { Budget } from '../loaders/budget.js';
import type { BudgetedRange, ReadFigures } from '../loaders/range-loader.js';
import type { Collection } from '../model/collection.js';
import type { Limits } from '../model/limits.js';
import type { Marker } from '../model/marker.js';
import type { OrderedMarker } from '../pages/ordered-marker.js';
import type { PlannedRead } from '../pages/plan-reads.js';
import type { RecentWrites } from '../pages/recent-writes.js';
import type { ScopedCollection } from '../plan/explain.js';
import type { Turn } from '../scheduling/turns.js';
import type { MarkerReference } from '../store/marker/markers.js';
import type { Traced } from '../tracing.js';
import type { CursorPosition } from './cursor.js';
import type { IndexedMarkers } from './from-index/index-loader.js';
import type { KnownDirectory } from './from-pages/directory-reader.js';

/** A search of a geo index. */
export interface IndexSearch {
  readonly collection: ScopedCollection;
  /** Z-order ranges (of geohashes of length 10) that contain everything searched for: sorted, disjoint. */
  readonly cover: readonly ZRange[];
  readonly budget: Budget;
}

/** Where to search for a collection's markers, and the budget for it. */
export interface MarkerSearch extends IndexSearch {
  readonly collection: Collection;
}

/** The pages of one collection, as one request sees them. Their reads throw PagesGone or UnknownPageFormat. */
export interface SearchedPages {
  readonly traced?: Traced | undefined;
  /** Writes that pages may lack: those of this process, and those that the consumer has published. */
  readonly recent: RecentWrites;
  /** The key of the page with a begin. */
  keyOf(begin: string): Key;
  /** The directory for sorted, disjoint ranges of Z-order at length 10, as far as it takes for so many markers. */
  directory(cover: readonly ZRange[], markers: number, budget: Budget): Promise<KnownDirectory>;
  /**
   * Makes planned reads, for an answer within a cover if there is one. `earlier` are those made for the same answer
   * before; `again` is whether their pages were read again, `distinct` whether all pages are of one moment.
   */
  read(
    reads: readonly PlannedRead[],
    earlier: readonly PlannedRead[],
    budget: Budget,
    cover?: readonly ZRange[],
  ): Promise<{ readonly entries: readonly OrderedMarker[]; readonly again: boolean; readonly distinct: boolean }>;
}

/** The context of a search; one per request. */
export interface SearchContext {
  readonly loaders: {
    readonly figures: ReadFigures;
    readonly traced?: Traced | undefined;
    readonly pages: {
      open(collection: Collection): Promise<SearchedPages | undefined>;
      giveUp(collection: Collection, error: unknown): void;
    };
    readonly index: { load(collection: Collection, request: BudgetedRange): Promise<IndexedMarkers> };
    readonly markers: { load(name: MarkerReference): Promise<Marker | null> };
  };
  readonly keys: Keyspace;
  readonly limits: Limits;
  /** Await between steps of long work. */
  readonly turn: Turn;
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
  /** Whether no marker is in it twice, or in another part that says the same. */
  readonly distinct: boolean;
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
