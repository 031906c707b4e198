import { LRUCache } from 'lru-cache';

import type { Collection } from '../model/collection.js';

/** Collections by key, shared for a short time by all requests of a process: every field of a map needs one. */
export type CollectionCache = LRUCache<string, Collection>;

const MOST = 1_000;
const FRESH_MS = 2_000;

/**
 * Creates a cache whose entries expire after two seconds of `now`, in milliseconds. Missing collections are not cached.
 */
export function createCollectionCache({ now }: { readonly now: () => number }): CollectionCache {
  return new LRUCache({ max: MOST, ttl: FRESH_MS, ttlResolution: 0, perf: { now } });
}
