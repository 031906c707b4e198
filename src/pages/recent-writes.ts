import { compareBytes } from '../keys/byte-order.js';
import { shardOf } from '../keys/shard.js';
import { firstFrom, type OrderedMarker } from './ordered-marker.js';
import type { RecentSums } from './recent-cells.js';

/** Which incarnation of a marker was written. */
export interface WrittenLife {
  /** A hash of the incarnation's ID. */
  readonly id: number;
  /** The marker's map version in it. */
  readonly mapVersion: number;
  /** The last ones that are known to have ended before. */
  readonly former: readonly number[];
}

/** The incarnation of a marker with an ID; undefined if it has none. */
export function lifeOf(life: unknown, mapVersion: number, ended?: unknown): WrittenLife | undefined {
  if (typeof life !== 'string') return undefined;
  const former = typeof ended === 'string' && ended !== life ? [hashOf(ended)] : [];
  return { id: hashOf(life), mapVersion, former };
}

const hashOf = (text: string) => shardOf(text, 2 ** 32);

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

/** Whether a write is at least as new as another one to the same marker; `ifUnknown` where that does not follow from both. */
export function isAtLeast({ life: one, entry }: RecentWrite, other: RecentWrite, ifUnknown: boolean): boolean {
  if (one === undefined || other.life === undefined) return ifUnknown;
  const { id, mapVersion, former } = other.life;
  if (one.id !== id) return !former.includes(one.id) && (one.former.includes(id) || ifUnknown);
  // A deletion does not raise the version.
  return one.mapVersion > mapVersion || (one.mapVersion === mapVersion && (entry === undefined || !!other.entry));
}

const MOST_FORMER = 8;

/** A write that follows others to the same marker. */
export function following(write: RecentWrite, known: RecentWrite | undefined): RecentWrite {
  const { life } = write;
  if (life === undefined || known?.life === undefined) return write;
  const ids = [...known.life.former, known.life.id, ...life.former].filter((id) => id !== life.id);
  return ids.length === 0 ? write : { ...write, life: { ...life, former: [...new Set(ids)].slice(-MOST_FORMER) } };
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
        const known = newest.get(write.key);
        const last = following(write, known);
        // A marker that is created again under its key begins at version 1, while pages may still have the former one.
        const mapVersion = Math.max(write.mapVersion, known?.mapVersion ?? 0);
        const one = mapVersion === last.mapVersion ? last : { ...last, mapVersion };
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
      const { mapVersion, life } = write;
      // Pages and what is laid over them may not include yet what replaces every version.
      const isNewer = life && known?.life ? mapVersion === Infinity : mapVersion >= (known?.mapVersion ?? 0);
      return known === undefined || isAtLeast(write, known, isNewer);
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
