import { LRUCache } from 'lru-cache';

import { type CellSums, NO_SUMS, addSums } from '../geo/cell-sums.js';
import { type CellBlock, type CellChanges, placeOfParent } from '../model/cell.js';

/** When a read began, so that its result does not replace later changes. */
export interface FillToken {
  readonly at: number;
  readonly generation: number;
}

/** Cell blocks shared by all requests of a process, kept current by the stream. */
export interface CellCache {
  /** The block under a parent cell (an empty one if none is stored), or undefined if that is not known. */
  get(scope: string, parent: string): CellBlock | undefined;
  /** To be called before a read whose blocks will be put. */
  begin(): FillToken;
  /** Adds a block found by a read. Returns the newest one known, which may be another. */
  put(scope: string, block: CellBlock, token: FillToken): CellBlock;
  /** Adds what a batch changed to the blocks that do not have it yet. To be called for every batch, in order. */
  applied(batch: number, changes: CellChanges): void;
  /** Clears the cache, reads under way included: for when another process starts or stops consuming the stream. */
  clear(): void;
}

export interface CellCacheOptions {
  /** 0 for no cache at all. */
  readonly maxBytes: number;
  /** Whether `applied` is called with every batch soon after it is written. While false, entries expire after two seconds. */
  readonly trusted: () => boolean;
  /** Milliseconds of a clock that never goes back. */
  readonly now: () => number;
}

const UNTRUSTED_MS = 2_000;
/** How long a read may be under way, or an eventually consistent one may lag, and still be recognized. */
const REMEMBERED_MS = 30_000;
const MOST_REMEMBERED = 100_000;
const BLOCK_BYTES = 200;
const CHILD_BYTES = 120;

interface Entry {
  readonly block: CellBlock;
  readonly filledAt: number;
}

const nameOf = (scope: string, parent: string) => `${scope}\n${parent}`;
const bytesOf = ({ block }: Entry, name: string) => BLOCK_BYTES + 2 * name.length + CHILD_BYTES * block.children.size;

/** The children with a batch's changes added; those without markers or sums are omitted. */
function added(children: CellBlock['children'], deltas: ReadonlyMap<string, CellSums>): CellBlock['children'] {
  const sums = new Map(children);
  for (const [child, delta] of deltas) {
    const sum = addSums(sums.get(child) ?? NO_SUMS, delta);
    if (sum.count === 0) sums.delete(child);
    else sums.set(child, sum);
  }
  return sums;
}

/**
 * A cache of cell blocks with a bound in bytes.
 *
 * A read that began before a batch was applied, or an eventually consistent one that lags behind it, finds blocks without
 * that batch. Such a block must not be cached, as no later batch would correct it. So the last batch of each changed block
 * is remembered for longer than any read takes, and a block that is older than that is used once but not kept.
 */
export function createCellCache({ maxBytes, trusted, now }: CellCacheOptions): CellCache {
  const entries = maxBytes > 0 ? new LRUCache<string, Entry>({ maxSize: maxBytes, sizeCalculation: bytesOf }) : null;
  /** Least batch that a block must have to be kept, and when it was learned; the oldest first. */
  const changed = new Map<string, { readonly batch: number; readonly at: number }>();
  /** Reads that began before this cannot be checked: the changes to check them against were evicted. */
  let blindUntil = -Infinity;
  let generation = 0;

  function remember(name: string, batch: number): void {
    const at = now();
    changed.delete(name);
    changed.set(name, { batch, at });
    for (const [oldest, known] of changed) {
      const old = at - known.at > REMEMBERED_MS;
      if (!old && changed.size <= MOST_REMEMBERED) break;
      if (!old) blindUntil = known.at + UNTRUSTED_MS;
      changed.delete(oldest);
    }
  }

  function mayKeep(name: string, block: CellBlock, token: FillToken): boolean {
    return (
      token.generation === generation &&
      now() - token.at < REMEMBERED_MS &&
      token.at > blindUntil &&
      block.batch >= (changed.get(name)?.batch ?? 0)
    );
  }

  return {
    get(scope, parent) {
      const entry = entries?.get(nameOf(scope, parent));
      if (!entry) return undefined;
      return trusted() || now() - entry.filledAt < UNTRUSTED_MS ? entry.block : undefined;
    },
    begin: () => ({ at: now(), generation }),
    put(scope, block, token) {
      if (!entries) return block;
      const name = nameOf(scope, block.parent);
      const known = entries.peek(name);
      if (known && known.block.batch > block.batch) return known.block;
      if (mayKeep(name, block, token)) entries.set(name, { block, filledAt: token.at });
      return block;
    },
    applied(batch, changes) {
      if (!entries) return;
      for (const [scope, blocks] of changes) {
        for (const [parent, deltas] of blocks) {
          // Counts of places are not cached.
          if (placeOfParent(parent) !== undefined) continue;
          const name = nameOf(scope, parent);
          remember(name, batch);
          const known = entries.peek(name);
          if (!known || known.block.batch >= batch) continue;
          const block = { parent, batch, children: added(known.block.children, deltas) };
          entries.set(name, { ...known, block });
        }
      }
    },
    clear() {
      generation++;
      entries?.clear();
      changed.clear();
    },
  };
}
