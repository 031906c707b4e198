import type { Action } from '../model/grant.js';
import type { MarkerFilterInput } from '../read/filter.js';

/** What a server that has Cellport inside is asked: whether the sender of a request may do this with a collection. */
export interface AuthorizationQuestion {
  /** Null for calls of your own code, such as `markers.upsert`. */
  readonly request: { readonly headers: Readonly<Record<string, unknown>> } | null;
  readonly action: Action;
  /** A key; `*` with `admin`: all of them, and what the server tells of itself. */
  readonly collection: string;
}

/** True for all of its markers, or those that match a filter. */
export type Authorization = boolean | { readonly where: MarkerFilterInput };

/**
 * Answers at once: it is asked several times for a request, and again for each event of a subscription, whose filter stays
 * that of its beginning.
 */
export type Authorize = (question: AuthorizationQuestion) => Authorization;
