import type { Area, Bounds } from '../geo/bounds.js';
import type { Point } from '../geo/point.js';
import type { Key } from '../keys/document-id.js';
import type { StoredGeometry } from '../model/zone.js';

/** What an engine keeps of a marker, a zone or a collection. */
export interface SearchDocument {
  /** Of its item in the entities table. */
  readonly key: Key;
  /** Its collection, as keys name it. */
  readonly scope: string;
  /** Distinguishes it from earlier items under the same key; empty if its item does not say. */
  readonly incarnation: string;
  /** Of two states of one incarnation, the one with the higher version is newer. */
  readonly version: number;
  readonly name: string;
  /** Category, place and properties. */
  readonly rest: string;
  /** A box of no size for a marker; west > east across the antimeridian. Undefined for a collection. */
  readonly bounds: Bounds | undefined;
  /** Of a zone. */
  readonly geometry?: StoredGeometry | undefined;
  /** Of two that match equally well, the one with the higher number comes first; one without a number comes last. */
  readonly rank: number | undefined;
}

/** What one record, or one item read from the table, does to the index. */
export type SearchChange =
  | { readonly type: 'put'; readonly document: SearchDocument }
  | { readonly type: 'remove'; readonly key: Key; readonly incarnation: string };

/** What is searched for: documents with all the words, the last of which may be the beginning of one. */
export interface SearchQuery {
  /** As `wordsOf` gives them. Empty: everything in the area. */
  readonly words: readonly string[];
  /** Collections as keys name them; undefined for all. */
  readonly scopes: readonly string[] | undefined;
  readonly area: Area | undefined;
  /** Orders by distance from here instead of by relevance and rank. */
  readonly near: Point | undefined;
}

export interface SearchHit {
  readonly key: Key;
  /** From 0 to 1, never rising along the list. */
  readonly score: number;
  /** Where the next page begins after this hit: opaque, and stable while other documents come and go. */
  readonly position: string;
}

/** An index of documents. It only finds keys: what is shown is read from the table. */
export interface SearchEngine {
  /**
   * Applies changes in their order, then stores the checkpoint, all or nothing. A state that is older than what is known of
   * an item changes nothing; the same state changes its rank. Throws IndexFull.
   */
  write(changes: readonly SearchChange[], checkpoint: string): Promise<void>;
  /** The last checkpoint that was stored; undefined for an empty index. */
  checkpoint(): Promise<string | undefined>;
  /** Removes all documents and the checkpoint. */
  clear(): Promise<void>;
  /** The first hits after a position. */
  search(
    query: SearchQuery,
    page: { readonly after: string | undefined; readonly limit: number },
  ): Promise<SearchHit[]>;
  /** How many hits there are in all. */
  count(query: SearchQuery): Promise<number>;
  /** Whether a text is a position that a hit may have. */
  isPosition(text: string): boolean;
  close(): Promise<void>;
}

/** The part of an engine that answers. */
export type SearchReader = Omit<SearchEngine, 'write' | 'clear'>;

/** The index has no room for a change; nothing of the batch was applied. */
export class IndexFull extends Error {
  override readonly name = 'IndexFull';
}

/** The search of a server. */
export interface TextSearch {
  /** The engine that answers. Throws UNAVAILABLE with the reason while none can. */
  open(): SearchReader;
  readonly status: IndexStatus;
}

/** How far an index is; it answers while it follows. */
export interface IndexStatus {
  readonly state: 'building' | 'following' | 'failed';
  /** Items that the build has read so far. */
  readonly read: number;
  /** Why it failed. */
  readonly reason: string | null;
}
