/** The limits of one request, with their defaults. All are settings: docs/configuration.md has their names. */
export const DEFAULT_LIMITS = {
  /** The greatest `first` and `limit`, and the most IDs of `nodes`. */
  maxFirst: 5_000,
  /** Levels of fields in a document. Introspection does not count: graphql-js bounds that itself. */
  maxDepth: 12,
  maxAliases: 200,
  /** Fields and fragment spreads of a document, counted each time a fragment is used. */
  maxFields: 1_000,
  /** Tokens of a document: names, numbers, brackets. */
  maxTokens: 8_000,
  /** Objects that the lists of a response may add up to, nested lists multiplied. */
  maxNodes: 100_000,
  maxBodyBytes: 4 * 1024 * 1024,
  /** Bytes of a document: its variables may fill the rest of the body. */
  maxDocumentBytes: 64 * 1024,
  /** Bytes of an answer. */
  maxAnswerBytes: 32 * 1024 * 1024,
  /** Milliseconds from the head of a request to its response. */
  deadlineMs: 10_000,
  /** Query calls of one page, or of one field without pages. */
  rangesPerPage: 64,
  /** Items that one page, or one field without pages, reads or returns. */
  itemsPerField: 20_000,
  /** Gzipped bytes of a zone's geometry up to which it is stored in the zone's item. */
  inlineGeometryBytes: 32 * 1024,
  /** Query calls for readings in one request: one for each marker, or for each bucket. */
  readingQueries: 1_000,
  /** Subscriptions of all clients of a server at once, and connections likewise. */
  subscriptions: 10_000,
  subscriptionsPerConnection: 100,
};

/** A limit for each of these; take the part you need: `Pick<Limits, 'maxFirst'>`. */
export type Limits = { readonly [Name in keyof typeof DEFAULT_LIMITS]: number };

/** Default size of the caches of a process, in MB. */
export const DEFAULT_CACHE_MB = 64;

/** Default limit of the search index, in MB on disk. */
export const DEFAULT_SEARCH_MB = 1024;
