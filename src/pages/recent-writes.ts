import { compareBytes } from '../keys/byte-order.js';
import { firstFrom, type OrderedMarker } from './ordered-marker.js';
import type { RecentSums } from './recent-cells.js';

/** Which incarnation of a marker was written, by when it was created (ms since 1970), and its map version then. */
export interface WrittenLife {
  readonly createdAt: number;
  readonly mapVersion: number;
}

/** A write to a marker that pages may lack. */
export interface RecentWrite {
  readonly key: string;
  /** At least the map version of every page entry that this write replaces. */
  readonly mapVersion: number;
  /** Undefined if the marker was deleted. */
  readonly entry: OrderedMarker | undefined;
  /** Undefined if it is unknown, as in what an earlier release has published. */
  readonly life?: WrittenLife | undefined;
}

/** Whether a write is at least as new as another one to the same marker; `unknown` counts if their incarnations are not known. */
export function isAtLeast(one: RecentWrite, other: RecentWrite, unknown = one.mapVersion >= other.mapVersion): boolean {
  if (one.life === undefined || other.life === undefined) return unknown;
  if (one.life.createdAt !== other.life.createdAt) return one.life.createdAt > other.life.createdAt;
  // A deletion does not raise the version.
  const isDeletion = (write: RecentWrite) => (write.entry === undefined ? 1 : 0);
  const later = one.life.mapVersion - other.life.mapVersion;
  return later > 0 || (later === 0 && isDeletion(one) >= isDeletion(other));
}

/** Writes of one batch of the stream, of one marker the last one last. */
export interface RecentBatch {
  readonly batch: number;
  readonly writes: readonly RecentWrite[];
}

/** What is published together: writes, and what those of each batch change in the counts. */
export interface RecentPart extends RecentBatch {
  readonly sums: readonly RecentSums[];
}

interface Kept extends RecentBatch {
  /** The entries in their order. */
  readonly entries: readonly OrderedMarker[];
  /** When the first of them expires, in milliseconds since 1970; Infinity if none does. */
  readonly firstExpiry: number;
}

const expiryOf = ({ marker: { expiresAt = Infinity } }: OrderedMarker) => expiresAt;

/**
 * The writes that a collection's pages may lack, of each marker the last one. It never changes, so that one search sees a
 * marker that moves meanwhile neither twice nor never.
 */
export class RecentWrites {
  static readonly NONE = new RecentWrites([], new Map());
  readonly #parts: readonly Kept[];
  readonly #newest: ReadonlyMap<string, RecentWrite>;

  private constructor(parts: readonly Kept[], newest: ReadonlyMap<string, RecentWrite>) {
    this.#parts = parts;
    this.#newest = newest;
  }

  get size(): number {
    return this.#newest.size;
  }

  /** These and later ones. */
  with(parts: readonly RecentBatch[]): RecentWrites {
    const newest = new Map(this.#newest);
    const kept = parts.map(({ batch, writes }): Kept => {
      const added = writes.map((write) => {
        // A marker that is created again under its key begins at version 1, while pages may still have the former one.
        const mapVersion = Math.max(write.mapVersion, newest.get(write.key)?.mapVersion ?? 0);
        const one = mapVersion === write.mapVersion ? write : { ...write, mapVersion };
        newest.set(one.key, one);
        return one;
      });
      const entries = added.flatMap(({ entry }) => entry ?? []);
      entries.sort((a, b) => compareBytes(a.position, b.position));
      const firstExpiry = entries.reduce((first, entry) => Math.min(first, expiryOf(entry)), Infinity);
      return { batch, writes: added, entries, firstExpiry };
    });
    return new RecentWrites([...this.#parts, ...kept], newest);
  }

  /** These and others in no particular order, of which only those count that are at least as new. */
  including(writes: readonly RecentWrite[]): RecentWrites {
    const newer = writes.filter((write) => {
      const known = this.get(write.key);
      return known === undefined || isAtLeast(write, known);
    });
    const inOrder = newer.sort((a, b) => a.mapVersion - b.mapVersion);
    return inOrder.length === 0 ? this : this.with([{ batch: Infinity, writes: inOrder }]);
  }

  /** Without those of batches up to this one, which pages include. */
  after(batch: number): RecentWrites {
    const stale = this.#parts.filter((part) => part.batch <= batch);
    if (stale.length === 0) return this;
    const newest = new Map(this.#newest);
    for (const { writes } of stale) {
      for (const write of writes) if (newest.get(write.key) === write) newest.delete(write.key);
    }
    return new RecentWrites(
      this.#parts.filter((part) => part.batch > batch),
      newest,
    );
  }

  /** Without entries that have expired by a time in milliseconds since 1970, as if they were deleted. */
  alive(now: number): RecentWrites {
    const isOver = ({ entry }: RecentWrite) => entry !== undefined && expiryOf(entry) <= now;
    if (this.#parts.every(({ firstExpiry }) => firstExpiry > now)) return this;
    const parts = this.#parts.map(({ batch, writes }) => {
      return { batch, writes: writes.map((write) => (isOver(write) ? { ...write, entry: undefined } : write)) };
    });
    return RecentWrites.NONE.with(parts);
  }

  get(key: string): RecentWrite | undefined {
    return this.#newest.get(key);
  }

  values(): Iterable<RecentWrite> {
    return this.#newest.values();
  }

  /** The entries of last writes at or after a position and before another one, or the end; in order only within a part. */
  between(from: string, to: string | undefined): OrderedMarker[] {
    return this.#parts.flatMap(({ entries }) => {
      const end = to === undefined ? entries.length : firstFrom(entries, to);
      return entries
        .slice(firstFrom(entries, from), end)
        .filter((entry) => this.#newest.get(entry.marker.key)?.entry === entry);
    });
  }
}
