import type { CellSums } from '../geo/cell-sums.js';
import { PackedSums } from '../geo/packed-cluster.js';
import { addTo, type CellChanges } from '../model/cell-changes.js';
import { cellBlock, placeOfParent, sumsOfBlock, type CellBlock } from '../model/cell.js';
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

/** A block with a batch's changes added; children without markers are omitted. */
function added(block: CellBlock, batch: number, deltas: ReadonlyMap<string, CellSums>): CellBlock {
  const sums = sumsOfBlock(block);
  for (const [child, delta] of deltas) addTo(sums, child, delta);
  const next = cellBlock(block.parent, batch, sums);
  return { ...next, children: new PackedSums(next.children) };
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
        this.changed(blockName(scope, parent), batch, (block) => added(block, batch, deltas));
      }
    }
  }
}
