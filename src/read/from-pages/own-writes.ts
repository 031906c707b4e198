import type { Keyspace } from '../../keys/keyspace.js';
import type { Collection } from '../../model/collection.js';
import { bytesOfMarker } from '../../model/memory.js';
import { orderedMarker } from '../../pages/ordered-marker.js';
import { following, isAtLeast, lifeOf, type RecentWrite } from '../../pages/recent-writes.js';
import { mapMarkerFromIndex } from '../../store/marker/marker-item.js';
import type { ConditionalChange } from '../../store/request/conditional-write.js';

/** A write of this process. */
export interface OwnWrite extends RecentWrite {
  /** When the marker was asked for, in milliseconds since 1970; NaN if that is unknown. */
  readonly createdAt?: number;
}

interface Kept extends OwnWrite {
  /** In milliseconds since 1970. */
  readonly at: number;
  /** When this process first wrote to this incarnation, as far as it remembers; in milliseconds since 1970. */
  readonly since: number;
  readonly bytes: number;
}

const WRITE_BYTES = 200;
/** A write is kept until pages include everything written this long after it: clocks differ, and streams lag. */
export const OWN_WRITES_MARGIN_MS = 3_000;
/** When pages include everything written this long after a write, their entries are of the same incarnation, or a later one. */
const SAME_LIFE_AFTER_MS = 1_000;
/** Maximum time for which a write is kept, and within which a creation is made or fails. */
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

  add(scope: string, writes: readonly OwnWrite[]): void {
    const kept = this.#scopes.get(scope) ?? new Map<string, Kept>();
    this.#scopes.set(scope, kept);
    for (const write of writes) {
      const known = kept.get(write.key);
      // Of writes at the same time, the answer to the former one may come later.
      if (known && !isAtLeast(write, known, true)) continue;
      // A marker created again under its key begins at version 1: pages may still have the former one.
      const mapVersion = Math.max(write.mapVersion, (write.life ? undefined : known?.mapVersion) ?? 0);
      const at = this.#wall();
      const since = known?.life && known.life.id === write.life?.id ? known.since : at;
      this.#forget(kept, write.key);
      const bytes = WRITE_BYTES + 2 * write.key.length + (write.entry ? bytesOfMarker(write.entry.marker) : 0);
      kept.set(write.key, { ...following(write, known), mapVersion, at, since, bytes });
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
    return this.#kept(scope, complete).map((write) => {
      const { life, since, createdAt = 0 } = write;
      const isYoung = life !== undefined && createdAt > complete - LONGEST_MS;
      const isNewer = isYoung && complete < since + SAME_LIFE_AFTER_MS;
      return isNewer ? { ...write, mapVersion: Infinity } : write;
    });
  }

  #kept(scope: string, complete: number): readonly Kept[] {
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
    return Array.from(this.#scopes.keys(), (scope) => [scope, this.#kept(scope, complete)]);
  }

  #forget(kept: Map<string, Kept>, key: string): void {
    this.#bytes -= kept.get(key)?.bytes ?? 0;
    kept.delete(key);
  }
}

/** A write as another process of this server has sent it: plain data. */
export const received = ({ entry, ...write }: OwnWrite): OwnWrite => ({
  ...write,
  entry: entry && orderedMarker(entry.marker),
});

/** The write given by a marker's images before and after; undefined if neither is a marker. */
export function ownWrite(
  keys: Keyspace,
  collection: Collection,
  { before, after }: ConditionalChange,
): OwnWrite | undefined {
  const is = after && mapMarkerFromIndex(keys, after, collection.key);
  const marker = is ?? (before && mapMarkerFromIndex(keys, before, collection.key));
  if (marker === undefined) return undefined;
  const { key, mapVersion } = marker;
  const { life, createdAt } = (is ? after : before) ?? {};
  const own = { key, mapVersion, entry: is && orderedMarker(is), life: lifeOf(life, mapVersion) };
  return { ...own, createdAt: Date.parse(String(createdAt)) };
}
