import { LRUCache } from 'lru-cache';

import type { BlockName, StoredBlock } from '../../store/cell/blocks.js';

/**
 * Blocks as this process wrote them, so that they need not be read before they are written again. A block may be
 * missing or outdated: then the write is rejected, and the block is read. A remembered version of a block is always
 * exact, and the absence of a block is never remembered.
 */
export interface BlockMemory {
  /** Takes out a block as it was written. It is unknown until it is remembered again. */
  take(name: BlockName): StoredBlock | undefined;
  /** Remembers a block that is known to have been written like this, with all its children. */
  remember(name: BlockName, block: StoredBlock): void;
  /** Clears the memory: other processes may have written any block. */
  clear(): void;
}

const BLOCK_BYTES = 300;
const CHILD_BYTES = 120;
const MAX_BYTES = 48 * 1024 * 1024;

const blockKey = ({ scope, parent }: BlockName) => `${scope}\n${parent}`;

/** Creates a memory of about `maxBytes` that evicts the least recently written blocks; with 0 it stores nothing. */
export function createBlockMemory(maxBytes = MAX_BYTES): BlockMemory {
  const blocks =
    maxBytes <= 0
      ? undefined
      : new LRUCache<string, StoredBlock>({
          maxSize: maxBytes,
          sizeCalculation: ({ children }, name) => BLOCK_BYTES + 2 * name.length + CHILD_BYTES * children.size,
        });
  return {
    take(name) {
      const block = blocks?.peek(blockKey(name));
      if (block !== undefined) blocks?.delete(blockKey(name));
      return block;
    },
    remember(name, block) {
      blocks?.set(blockKey(name), block);
    },
    clear() {
      blocks?.clear();
    },
  };
}
