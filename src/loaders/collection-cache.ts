import { LRUCache } from 'lru-cache';

import type { Collection } from '../model/collection.js';
import { STALE_AFTER_MS } from '../model/limits.js';
import { bytesOfValue } from '../model/memory.js';

const MAX_BYTES = 4 * 1024 * 1024;
const ENTRY_BYTES = 300;

interface Kept {
  /** Null if this server has deleted it. */
  readonly collection: Collection | null;
  readonly at: number;
}

/**
 * Collections by key, shared by all requests of a process for `STALE_AFTER_MS` of `now`: every field of a map needs one.
 * Missing ones are not cached, but those that this server has deleted.
 */
export class CollectionCache {
  readonly now: () => number;
  readonly #kept: LRUCache<string, Kept>;

  constructor({ now }: { readonly now: () => number }) {
    const sizeCalculation = ({ collection }: Kept) => ENTRY_BYTES + (collection ? bytesOfValue(collection) : 0);
    this.now = now;
    this.#kept = new LRUCache({
      maxSize: MAX_BYTES,
      sizeCalculation,
      ttl: STALE_AFTER_MS,
      ttlResolution: 0,
      perf: { now },
    });
  }

  /** Undefined if it is not known; null if it is known that there is none. */
  get(key: string): Collection | null | undefined {
    return this.#kept.get(key)?.collection;
  }

  /** Adds a collection as this server has just written it, or as of a read that began at a time of `now`. */
  set(key: string, collection: Collection | null, began?: number): void {
    const at = began ?? this.now();
    const known = this.#kept.get(key);
    // It may have been written, or read again, since a read began; and of two writes, the later one may be told first.
    const isNewer = (known?.collection?.version ?? 0) > (collection?.version ?? Infinity);
    const isOld = began === undefined ? isNewer : known !== undefined && known.at >= began;
    if (!isOld) this.#kept.set(key, { collection, at }, { start: at });
  }
}
