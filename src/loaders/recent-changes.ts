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

/** Changes of the last while, to tell a read that lags behind them from one that does not. */
export interface RecentChanges {
  add(partition: string, change: EntryChange): void;
  /** Whether a read that began at `begunAt` found no marker as it was before a change, and all that is to be told is known. */
  agree(partition: string, found: Found, begunAt: number): boolean;
  clear(): void;
}

export interface RecentChangesOptions {
  /** Milliseconds of a clock that never goes back. */
  readonly now: () => number;
  /** For how long changes have to be remembered. */
  readonly lagMs: number;
}

/** How an entry has to stand in a read that does not lag. */
interface Change {
  /** Undefined where it was taken away. */
  readonly version: number | undefined;
  /** The newest version that ever stood here: what is beyond it is news that the stream will bring. */
  readonly newest: number;
}

/** By partition and sort key. */
type Changes = Map<string, Map<string, Change>>;

const MOST = 50_000;

function stands({ version, newest }: Change, entry: Entry | undefined): boolean {
  if (!entry) return version === undefined;
  const { mapVersion } = entry.marker;
  // Version 0 is of writers that count none: whether it is the newest cannot be told.
  return mapVersion > newest || (mapVersion === version && version > 0);
}

/** Two ages of changes, of which the elder is forgotten when the younger is as old as changes have to be remembered. */
export function createRecentChanges({ now, lagMs }: RecentChangesOptions): RecentChanges {
  let young: Changes = new Map();
  let old: Changes = new Map();
  let youngSince = now();
  let count = 0;
  /** Reads that began before this would have to be checked against what was forgotten too early. */
  let blindUntil = -Infinity;

  function grow(): void {
    const at = now();
    if (at - youngSince < lagMs && count < MOST) return;
    if (count >= MOST) blindUntil = youngSince + lagMs;
    old = young;
    young = new Map();
    youngSince = at;
    count = 0;
  }

  return {
    add(partition, { sortKey, mapVersion, entry }) {
      grow();
      const changes = young.get(partition) ?? new Map<string, Change>();
      young.set(partition, changes);
      const before = changes.get(sortKey) ?? old.get(partition)?.get(sortKey);
      if (!changes.has(sortKey)) count++;
      changes.set(sortKey, {
        version: entry ? mapVersion : undefined,
        newest: Math.max(mapVersion, before?.newest ?? 0),
      });
    },
    agree(partition, { from, until, markers }, begunAt) {
      grow();
      if (begunAt < blindUntil || now() - begunAt >= lagMs) return false;
      const byKey = new Map<string, Entry>();
      for (const age of [old, young]) {
        const changes = age.get(partition);
        if (!changes) continue;
        if (byKey.size === 0) for (const marker of markers) byKey.set(marker.sortKey, marker);
        for (const [sortKey, change] of changes) {
          if (age === old && young.get(partition)?.has(sortKey)) continue;
          const inside = compareBytes(from, sortKey) <= 0 && compareBytes(sortKey, until) < 0;
          if (inside && !stands(change, byKey.get(sortKey))) return false;
        }
      }
      return true;
    },
    clear() {
      young = new Map();
      old = new Map();
      youngSince = now();
      count = 0;
    },
  };
}
