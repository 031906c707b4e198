import type { CellSums } from '../geo/cell-sums.js';
import { addTo, changedBlocks, type BlockChanges, type SumsByName } from '../model/cell-changes.js';
import { cellBlock, sumsOfBlock, type CellBlock } from '../model/cell.js';

/** What records of one batch of the stream change. */
export interface RecentSums {
  readonly batch: number;
  readonly sums: SumsByName;
}

interface Part {
  readonly batch: number;
  readonly blocks: BlockChanges;
}

/** Larger parts are not joined, which would hold up other requests. */
const JOINED_BLOCKS = 4_096;

function joined(a: BlockChanges, b: BlockChanges): BlockChanges {
  const all = new Map(a);
  for (const [parent, deltas] of b) {
    const children = new Map(all.get(parent));
    for (const [child, sums] of deltas) addTo(children, child, sums);
    all.set(parent, children);
  }
  return all;
}

/**
 * What blocks of cells may lack: of each batch, the changes that were published before it was applied. It never changes, so
 * that one request sees all blocks at one time.
 */
export class RecentCells {
  static readonly NONE = new RecentCells([]);
  readonly #parts: readonly Part[];

  private constructor(parts: readonly Part[]) {
    this.#parts = parts;
  }

  /** The number of blocks with changes, those of several parts several times. */
  get size(): number {
    return this.#parts.reduce((sum, { blocks }) => sum + blocks.size, 0);
  }

  /** These and later ones. */
  with(recent: readonly RecentSums[]): RecentCells {
    const parts = [...this.#parts];
    for (const { batch, sums } of recent) {
      let blocks = changedBlocks(sums);
      // So that a block is looked up in few parts, each change is joined with as many as there are before it.
      for (let last = parts.at(-1); last?.batch === batch; last = parts.at(-1)) {
        if (last.blocks.size > 2 * blocks.size || last.blocks.size + blocks.size > JOINED_BLOCKS) break;
        blocks = joined(last.blocks, blocks);
        parts.pop();
      }
      parts.push({ batch, blocks });
    }
    return new RecentCells(parts);
  }

  /** Without those of batches up to this one, which all blocks include. */
  after(batch: number): RecentCells {
    const left = this.#parts.filter((part) => part.batch > batch);
    return left.length === this.#parts.length ? this : new RecentCells(left);
  }

  /** Without those of this batch and later ones. */
  before(batch: number): RecentCells {
    return new RecentCells(this.#parts.filter((part) => part.batch < batch));
  }

  /** A block as it was read, with what it does not include yet. */
  over(block: CellBlock): CellBlock {
    let children: Map<string, CellSums> | undefined;
    for (const { batch, blocks } of this.#parts) {
      const deltas = batch > block.batch ? blocks.get(block.parent) : undefined;
      if (deltas === undefined) continue;
      children ??= sumsOfBlock(block);
      for (const [child, sums] of deltas) addTo(children, child, sums);
    }
    if (children === undefined) return block;
    return cellBlock(block.parent, block.batch, new Map([...children].filter(([, { count }]) => count > 0)));
  }

  /** The parents of blocks with changes. */
  parents(): ReadonlySet<string> {
    return new Set(this.#parts.flatMap(({ blocks }) => [...blocks.keys()]));
  }
}
