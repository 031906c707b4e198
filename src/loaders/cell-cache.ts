import { addSums, NO_SUMS, type CellSums } from '../geo/cell-sums.js';
import { PackedSums } from '../geo/packed-cluster.js';
import type { CellChanges } from '../model/cell-changes.js';
import { placeOfParent, type CellBlock } from '../model/cell.js';
import { STALE_AFTER_MS } from '../model/limits.js';
import { FollowedCache, type FillToken } from './followed-cache.js';

// Measured, besides its name.
const EMPTY_BYTES = 190;
const BLOCK_BYTES = 290;
const CHILD_BYTES = 28;

/** Most blocks that maps look for are empty. */
const NO_CHILDREN = new PackedSums(new Map());

/** Identifies a block in the cache. */
export const blockName = (scope: string, parent: string) => `${scope}\n${parent}`;

/** The children with a batch's changes added; those without markers and sums are omitted. */
function added(children: CellBlock['children'], deltas: ReadonlyMap<string, CellSums>): CellBlock['children'] {
  const sums = new Map(children);
  for (const [child, delta] of deltas) {
    const sum = addSums(sums.get(child) ?? NO_SUMS, delta);
    if (sum.count === 0) sums.delete(child);
    else sums.set(child, sum);
  }
  return new PackedSums(sums);
}

/** Cell blocks by `blockName`, shared by all requests of a process; empty blocks if none are stored. */
export class CellCache extends FollowedCache<CellBlock> {
  protected override readonly untrustedMs = STALE_AFTER_MS;

  protected override bytesOf({ children }: CellBlock, name: string): number {
    const bytes = children.size === 0 ? EMPTY_BYTES : BLOCK_BYTES + CHILD_BYTES * children.size;
    return bytes + 2 * name.length;
  }

  protected override versionOf({ batch }: CellBlock): number {
    return batch;
  }

  override put(name: string, block: CellBlock, token: FillToken): CellBlock {
    const { children } = block;
    if (children instanceof PackedSums) return super.put(name, block, token);
    return super.put(name, { ...block, children: children.size === 0 ? NO_CHILDREN : new PackedSums(children) }, token);
  }

  /** Adds a batch's changes to the blocks that do not include it yet. Call for every batch, in order. */
  applied(batch: number, changes: CellChanges): void {
    for (const [scope, blocks] of changes) {
      for (const [parent, deltas] of blocks) {
        // Counts of places are not cached.
        if (placeOfParent(parent) !== undefined) continue;
        const update = ({ children }: CellBlock) => ({ parent, batch, children: added(children, deltas) });
        this.changed(blockName(scope, parent), batch, update);
      }
    }
  }
}
