import { LRUCache } from 'lru-cache';

import type { Collection } from '../model/collection.js';

/** Collections shared by all requests of a process for a short time: every field of a map needs one. */
export interface CollectionCache {
  get(key: string): Collection | undefined;
  put(collection: Collection): void;
  forget(key: string): void;
}

const MOST = 1_000;
const FRESH_MS = 2_000;

/** A cache whose entries expire after two seconds of `now`, in milliseconds. Missing collections are not cached. */
export function createCollectionCache({ now }: { readonly now: () => number }): CollectionCache {
  const entries = new LRUCache<string, { readonly collection: Collection; readonly at: number }>({ max: MOST });
  return {
    get(key) {
      const entry = entries.get(key);
      return entry && now() - entry.at < FRESH_MS ? entry.collection : undefined;
    },
    put(collection) {
      entries.set(collection.key, { collection, at: now() });
    },
    forget(key) {
      entries.delete(key);
    },
  };
}
