import { compareBytes } from '../keys/byte-order.js';
import type { EntryChange } from '../store/marker/entry-changes.js';

interface Entry {
  readonly sortKey: string;
  readonly marker: { readonly mapVersion: number };
}

/** What a read found of a partition: all markers from one sort key up to below another. */
interface Found {
  readonly from: string;
  readonly until: string;
  readonly markers: readonly Entry[];
}

export interface RecentChangesOptions {
  /** Milliseconds of a clock that never goes back. */
  readonly now: () => number;
  /** How long changes must be remembered. */
  readonly lagMs: number;
}

/** What a read that does not lag finds of an entry. */
interface Change {
  /** Undefined if it was removed. */
  readonly version: number | undefined;
  /** The newest version so far: newer ones will arrive through the stream. */
  readonly newest: number;
}

/** By partition and sort key. */
type Changes = Map<string, Map<string, Change>>;

const MOST = 50_000;

function isCurrent({ version, newest }: Change, entry: Entry | undefined): boolean {
  if (!entry) return version === undefined;
  const { mapVersion } = entry.marker;
  // Version 0 is from writers that do not count versions: it may or may not be the newest.
  return mapVersion > newest || (mapVersion === version && version > 0);
}

/**
 * Changes of the last seconds, to recognize reads that lag behind them. They are kept in two ages, of
 * which the older is dropped when the younger reaches the age for which changes must be remembered.
 */
export class RecentChanges {
  readonly #options: RecentChangesOptions;
  #young: Changes = new Map();
  #old: Changes = new Map();
  #youngSince: number;
  #count = 0;
  /** Reads that began before this cannot be checked: the changes to check them against were evicted. */
  #blindUntil = -Infinity;

  constructor(options: RecentChangesOptions) {
    this.#options = options;
    this.#youngSince = options.now();
  }

  add(partition: string, { sortKey, mapVersion, entry }: EntryChange): void {
    this.#age();
    const changes = this.#young.get(partition) ?? new Map<string, Change>();
    this.#young.set(partition, changes);
    const before = changes.get(sortKey) ?? this.#old.get(partition)?.get(sortKey);
    if (!changes.has(sortKey)) this.#count++;
    const newest = Math.max(mapVersion, before?.newest ?? 0);
    changes.set(sortKey, { version: entry ? mapVersion : undefined, newest });
  }

  /** Whether a read that began at `begunAt` found no marker as it was before a change, as far as changes are remembered. */
  agree(partition: string, { from, until, markers }: Found, begunAt: number): boolean {
    this.#age();
    if (begunAt < this.#blindUntil || this.#options.now() - begunAt >= this.#options.lagMs) return false;
    const young = this.#young.get(partition);
    const old = this.#old.get(partition);
    if (!young && !old) return true;
    const byKey = new Map(markers.map((marker) => [marker.sortKey, marker]));
    for (const changes of [old, young]) {
      for (const [sortKey, change] of changes ?? []) {
        if (changes === old && young?.has(sortKey)) continue;
        const inside = compareBytes(from, sortKey) <= 0 && compareBytes(sortKey, until) < 0;
        if (inside && !isCurrent(change, byKey.get(sortKey))) return false;
      }
    }
    return true;
  }

  clear(): void {
    this.#young = new Map();
    this.#old = new Map();
    this.#youngSince = this.#options.now();
    this.#count = 0;
  }

  #age(): void {
    const { now, lagMs } = this.#options;
    const at = now();
    if (at - this.#youngSince < lagMs && this.#count < MOST) return;
    if (this.#count >= MOST) this.#blindUntil = this.#youngSince + lagMs;
    this.#old = this.#young;
    this.#young = new Map();
    this.#youngSince = at;
    this.#count = 0;
  }
}
