import { CellportError } from '../errors.js';
import type { Area, Bounds, Point } from '../geo/bounds.js';
import type { Key } from '../keys/document-id.js';
import type { StoredGeometry } from '../model/marker.js';

/** The document of a marker, zone or collection in an engine. */
export interface SearchDocument {
  /** Key of its item in the entities table. */
  readonly key: Key;
  /** The scope of its collection. */
  readonly scope: string;
  /** Distinguishes it from earlier items under the same key; empty if its item has none. */
  readonly incarnation: string;
  /** Of two states of one incarnation, the one with the higher version is newer; with 0, the one that is written last. */
  readonly version: number;
  readonly name: string;
  /** Category, place and properties. */
  readonly rest: string;
  /** A box without extent for a marker; west > east if it crosses the antimeridian. Undefined for a collection. */
  readonly bounds: Bounds | undefined;
  /** The geometry of a zone. */
  readonly geometry?: StoredGeometry | undefined;
  /** Of equally good matches, the one with the higher number comes first; those without a number come last. */
  readonly rank: number | undefined;
}

/** The effect on the index of one record, or of one item read from the table. */
export type SearchChange =
  | { readonly type: 'put'; readonly document: SearchDocument }
  | { readonly type: 'remove'; readonly key: Key; readonly incarnation: string };

/** A search: documents with all the words, the last of which may be incomplete. */
export interface SearchQuery {
  /** In the form of `wordsOf`. Empty: everything in the area. */
  readonly words: readonly string[];
  /** Scopes of collections; undefined for all. */
  readonly scopes: readonly string[] | undefined;
  readonly area: Area | undefined;
  /** Orders by distance from here instead of by relevance and rank. */
  readonly near: Point | undefined;
  /** Whether names with typos are found even if many documents match, of which not all may be shown. */
  readonly typos?: boolean;
}

export interface SearchHit {
  readonly key: Key;
  /** That of its document. */
  readonly incarnation: string;
  /** From 0 to 1; never increases along the list. */
  readonly score: number;
  /** The position after which the next page starts: opaque, and stable while other documents are added and removed. */
  readonly position: string;
}

/** Which hits of a query are wanted. */
export interface HitsWanted {
  /** The position of the hit before the first one. */
  readonly after: string | undefined;
  readonly limit: number;
}

/** Answers searches in an index of documents. It only finds keys: the content of results is read from the table. */
export interface SearchReader {
  /** The last stored checkpoint; undefined for an empty index. */
  checkpoint(): Promise<string | undefined>;
  /** The first hits after a position. Throws the reason of `signal` once it is aborted. */
  search(query: SearchQuery, page: HitsWanted, signal?: AbortSignal): Promise<SearchHit[]>;
  /** Total number of hits. Throws the reason of `signal` once it is aborted. */
  count(query: SearchQuery, signal?: AbortSignal): Promise<number>;
  /** Whether a text is a valid position of a hit. */
  isPosition(text: string): boolean;
  close(): Promise<void>;
}

/** What answers a search. */
export type Searcher = Pick<SearchReader, 'search' | 'count' | 'isPosition'>;

/** Also writes the index. */
export interface SearchEngine extends SearchReader {
  /**
   * Applies changes in order, then stores the checkpoint, all or nothing. A state older than the known one changes
   * nothing; the same state updates its rank. Throws IndexFull.
   */
  write(changes: readonly SearchChange[], checkpoint: string): Promise<void>;
  /** Removes all documents and the checkpoint. */
  clear(): Promise<void>;
}

/** What a follower needs of an index. */
export type FollowedIndex = Pick<SearchEngine, 'checkpoint' | 'write' | 'clear'>;

/** The index cannot be read or written, because of its cause. */
export class IndexFault extends CellportError {
  constructor(cause: unknown) {
    super('UNAVAILABLE', 'the search index has a fault, see the log of the server; try again later', {}, { cause });
  }
}

/** The index has no room for a change; nothing of the batch was applied. */
export class IndexFull extends Error {
  override readonly name = 'IndexFull';
}

/** A server's search. */
export interface TextSearch {
  /** The engine that answers searches. Throws UNAVAILABLE with the reason while there is none. */
  open(): Searcher;
  readonly status: IndexStatus;
  /** Whether it finds the markers of the source with this scope. */
  hasRead(scope: string): boolean;
}

/** State of an index; it answers while it follows the stream. */
export interface IndexStatus {
  readonly state: 'building' | 'following' | 'failed';
  /** Number of items that the build has read so far. */
  readonly read: number;
  /** The reason for its failure; null if it has not failed. */
  readonly reason: string | null;
}
