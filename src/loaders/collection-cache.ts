import { LRUCache } from 'lru-cache';

import type { Collection } from '../model/collection.js';

/** Collections by key, shared by all requests of a process for a short time: every field of a map needs one. */
export type CollectionCache = LRUCache<string, Collection>;

const MOST = 1_000;
const FRESH_MS = 2_000;

/** A cache whose entries expire after two seconds of `now`, in milliseconds. Missing collections are not cached. */
export function createCollectionCache({ now }: { readonly now: () => number }): CollectionCache {
  return new LRUCache({ max: MOST, ttl: FRESH_MS, ttlResolution: 0, perf: { now } });
}
