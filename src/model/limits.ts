/** The limits of one request, with their defaults. All are settings, see docs/configuration.md for their names. */
export const DEFAULT_LIMITS = {
  /** Maximum of `first` and `limit`, and of the number of IDs in `nodes`. */
  maxFirst: 5_000,
  /** Levels of fields in a document, except for introspection, which graphql-js limits itself. */
  maxDepth: 12,
  maxAliases: 200,
  /** Fields and fragment spreads of a document, counted each time a fragment is used. */
  maxFields: 1_000,
  /** Tokens of a document: names, numbers, brackets. */
  maxTokens: 8_000,
  /** Total number of objects in the lists of a response, nested lists multiplied. */
  maxNodes: 100_000,
  maxBodyBytes: 4 * 1024 * 1024,
  /** Size of a document in bytes; its variables may take up the rest of the body. */
  maxDocumentBytes: 64 * 1024,
  /** Size of an answer in bytes. */
  maxAnswerBytes: 32 * 1024 * 1024,
  /** Milliseconds from the arrival of a request, with its body, to its response; time in line counts. */
  deadlineMs: 10_000,
  /** Query calls of one page, or of one field without pages. */
  queryCalls: 64,
  /** Items that one page, or one field without pages, may read or return. */
  itemsPerField: 20_000,
  /** Maximum gzipped size in bytes of a geometry that is stored in the zone's item. */
  inlineGeometryBytes: 32 * 1024,
  /** Query calls for readings in one request: one per marker, or per bucket. */
  readingQueries: 1_000,
  /** Read units of one operation, a write unit counting as five; 0 for a quarter of the budget of its principal. */
  maxRequestUnits: 0,
  /** Maximum number of concurrent subscriptions of all clients of a server, and of connections. */
  subscriptions: 10_000,
  subscriptionsPerConnection: 100,
  /** Maximum number of connections of one address, and of its WebSockets that are not acknowledged yet. */
  connectionsPerAddress: 2_000,
  handshakesPerAddress: 128,
  /** New WebSockets of one address. */
  socketsPerMinute: 6_000,
};

/** The limits by name; take only the part you need: `Pick<Limits, 'maxFirst'>`. */
export type Limits = { readonly [Name in keyof typeof DEFAULT_LIMITS]: number };

/** Default cache size of a process, in MB. */
export const DEFAULT_CACHE_MB = 64;

/** Default limit of the search index, in MB on disk. */
export const DEFAULT_SEARCH_MB = 1024;

/** Maximum prefix length and write shards of a collection. Each shard of a prefix costs a map a Query call. */
export const LAYOUT_LIMITS = { prefixLength: 6, writeShards: 32 } as const;

/**
 * How old an answer may be while changes are not followed, in milliseconds: cached collections and cells, and pages,
 * whose consumer must have been at the stream's end within this time.
 */
export const STALE_AFTER_MS = 2_000;
