/** What one request may ask for. All of them are settings; docs/configuration.md has their names and defaults. */
export interface Limits {
  /** The greatest `first` and `limit`, and the most ids of `nodes`. */
  readonly maxFirst: number;
  /** Fields inside fields. Introspection does not count: graphql-js bounds that itself. */
  readonly maxDepth: number;
  readonly maxAliases: number;
  /** Fields and fragment spreads, counted as often as fragments are used. */
  readonly maxFields: number;
  /** Tokens of the document: names, numbers, brackets. */
  readonly maxTokens: number;
  /** Objects that the lists of an answer may add up to, lists in lists multiplied. */
  readonly maxNodes: number;
  readonly maxBodyBytes: number;
  /** Milliseconds from the request's head to its answer. */
  readonly deadlineMs: number;
  /** The ceiling of Query calls of one page, and of one field that has no pages. */
  readonly rangesPerPage: number;
  /** The most bytes of a zone's geometry, gzipped, that stay in its item. */
  readonly inlineGeometryBytes: number;
  /** The ceiling of markers that one field reads. */
  readonly itemsPerField: number;
  /** Query calls for readings that one request may make: one a marker, or one a bucket. */
  readonly readingQueries: number;
  /** Subscriptions of all clients of this server at once, and as many connections. */
  readonly subscriptions: number;
  /** Subscriptions on one WebSocket. */
  readonly subscriptionsPerConnection: number;
}

/** Limits for a server that nobody has configured. */
export const DEFAULT_LIMITS: Limits = {
  maxFirst: 5_000,
  maxDepth: 12,
  maxAliases: 200,
  maxFields: 1_000,
  maxTokens: 8_000,
  maxNodes: 100_000,
  maxBodyBytes: 4 * 1024 * 1024,
  deadlineMs: 10_000,
  rangesPerPage: 64,
  inlineGeometryBytes: 32 * 1024,
  itemsPerField: 20_000,
  readingQueries: 1_000,
  subscriptions: 10_000,
  subscriptionsPerConnection: 100,
};
