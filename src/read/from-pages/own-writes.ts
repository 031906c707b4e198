import type { Keyspace } from '../../keys/keyspace.js';
import type { Collection } from '../../model/collection.js';
import { bytesOfMarker } from '../../model/memory.js';
import { orderedMarker } from '../../pages/ordered-marker.js';
import type { RecentWrite } from '../../pages/recent-writes.js';
import { mapMarkerFromIndex } from '../../store/marker/marker-item.js';
import type { ConditionalChange } from '../../store/request/conditional-write.js';

interface Kept extends RecentWrite {
  /** In milliseconds since 1970. */
  readonly at: number;
  readonly bytes: number;
}

const WRITE_BYTES = 200;
/** A write is kept until pages include everything written this long after it: clocks differ, and streams lag. */
export const OWN_WRITES_MARGIN_MS = 3_000;
/** Maximum time for which a write is kept. */
const LONGEST_MS = 60_000;
const MOST_BYTES = 16 * 1024 * 1024;

/**
 * Recent writes of this process that pages may lack: users who edit a map see the edit in the next answer of the same
 * server.
 */
export class OwnWrites {
  readonly #wall: () => number;
  /** By scope and key; oldest first within a scope. */
  readonly #scopes = new Map<string, Map<string, Kept>>();
  #bytes = 0;

  /** `wall`: milliseconds since 1970. */
  constructor(wall: () => number) {
    this.#wall = wall;
  }

  add(scope: string, writes: readonly RecentWrite[]): void {
    const kept = this.#scopes.get(scope) ?? new Map<string, Kept>();
    this.#scopes.set(scope, kept);
    for (const write of writes) {
      // A marker created again under its key begins at version 1: pages may still have the former one.
      const mapVersion = Math.max(write.mapVersion, kept.get(write.key)?.mapVersion ?? 0);
      this.#forget(kept, write.key);
      const bytes = WRITE_BYTES + 2 * write.key.length + (write.entry ? bytesOfMarker(write.entry.marker) : 0);
      kept.set(write.key, { ...write, mapVersion, at: this.#wall(), bytes });
      this.#bytes += bytes;
    }
    // Beyond this, a map shows the writes once pages include them.
    if (this.#bytes > MOST_BYTES) {
      this.#scopes.clear();
      this.#bytes = 0;
    }
  }

  /** The writes that pages may lack. They include everything written by `complete`, in milliseconds since 1970. */
  of(scope: string, complete: number): readonly RecentWrite[] {
    const kept = this.#scopes.get(scope);
    if (!kept) return [];
    const now = this.#wall();
    for (const [key, { at }] of kept) {
      if (at + OWN_WRITES_MARGIN_MS > complete && now - at < LONGEST_MS) break;
      this.#forget(kept, key);
    }
    if (kept.size === 0) this.#scopes.delete(scope);
    return [...kept.values()];
  }

  /** The same of all collections, by scope. */
  all(complete: number): (readonly [scope: string, writes: readonly RecentWrite[]])[] {
    return Array.from(this.#scopes.keys(), (scope) => [scope, this.of(scope, complete)]);
  }

  #forget(kept: Map<string, Kept>, key: string): void {
    this.#bytes -= kept.get(key)?.bytes ?? 0;
    kept.delete(key);
  }
}

/** A write as another process of this server has sent it: plain data. */
export const received = ({ entry, ...write }: RecentWrite): RecentWrite => ({
  ...write,
  entry: entry && orderedMarker(entry.marker),
});

/** The write given by a marker's images before and after; undefined if neither is a marker. */
export function ownWrite(
  keys: Keyspace,
  collection: Collection,
  { before, after }: ConditionalChange,
): RecentWrite | undefined {
  const is = after && mapMarkerFromIndex(keys, after, collection.key);
  if (is) return { key: is.key, mapVersion: is.mapVersion, entry: orderedMarker(is) };
  const was = before && mapMarkerFromIndex(keys, before, collection.key);
  return was && { key: was.key, mapVersion: was.mapVersion, entry: undefined };
}
