import { LRUCache } from 'lru-cache';

import type { Collection } from '../model/collection.js';
import { STALE_AFTER_MS } from '../model/limits.js';
import { bytesOfValue } from '../model/memory.js';

/** Collections by key, shared for a short time by all requests of a process: every field of a map needs one. */
export type CollectionCache = LRUCache<string, Collection>;

const MAX_BYTES = 4 * 1024 * 1024;
const ENTRY_BYTES = 300;

/**
 * Creates a cache whose entries expire after `STALE_AFTER_MS` of `now`. Missing collections are not cached.
 */
export function createCollectionCache({ now }: { readonly now: () => number }): CollectionCache {
  const sizeCalculation = (collection: Collection) => ENTRY_BYTES + bytesOfValue(collection);
  return new LRUCache({ maxSize: MAX_BYTES, sizeCalculation, ttl: STALE_AFTER_MS, ttlResolution: 0, perf: { now } });
}
