import { LRUCache } from 'lru-cache';

import type { BlockName, StoredBlock } from '../../store/cell/blocks.js';

const BLOCK_BYTES = 300;
const CHILD_BYTES = 120;
const MAX_BYTES = 48 * 1024 * 1024;

const blockKey = ({ scope, parent }: BlockName) => `${scope}\n${parent}`;

/**
 * Blocks as this process wrote them, so that they need not be read before they are written again. A block may be
 * missing or outdated: then the write is rejected, and the block is read. A remembered version of a block is always
 * exact, and the absence of a block is never remembered.
 */
export class CellMemory {
  readonly #blocks: LRUCache<string, StoredBlock> | undefined;

  /** Creates a memory of about `maxBytes` that evicts the least recently written blocks; with 0 it stores nothing. */
  constructor(maxBytes = MAX_BYTES) {
    if (maxBytes <= 0) return;
    this.#blocks = new LRUCache({
      maxSize: maxBytes,
      sizeCalculation: ({ children }, name) => BLOCK_BYTES + 2 * name.length + CHILD_BYTES * children.size,
    });
  }

  /** Takes out a block as it was written. It is unknown until it is put again. */
  take(name: BlockName): StoredBlock | undefined {
    const block = this.#blocks?.peek(blockKey(name));
    if (block !== undefined) this.#blocks?.delete(blockKey(name));
    return block;
  }

  /** Remembers a block that is known to have been written like this, with all its children. */
  put(name: BlockName, block: StoredBlock): void {
    this.#blocks?.set(blockKey(name), block);
  }

  /** Other processes may have written any block. */
  clear(): void {
    this.#blocks?.clear();
  }
}
