import { LRUCache } from 'lru-cache';

import type { BlockName, StoredBlock } from '../store/cell/blocks.js';

/**
 * Blocks as this process wrote them, so that they need not be read before they are written again. A block may be missing or
 * outdated: then the write is refused, and the block is read. What it holds of a version is always exactly that version,
 * and it never holds that a block does not exist.
 */
export interface BlockMemory {
  /** The block as it was written. It is forgotten until it is remembered again. */
  take(name: BlockName): StoredBlock | undefined;
  /** Remembers a block that is known to have been written like this, with all its children. */
  remember(name: BlockName, block: StoredBlock): void;
  /** Forgets everything: other processes may have written any block. */
  clear(): void;
}

const BLOCK_BYTES = 300;
const CHILD_BYTES = 120;
const MAX_BYTES = 48 * 1024 * 1024;

const nameOf = ({ scope, parent }: BlockName) => `${scope}\n${parent}`;

/** A memory of about so many bytes that evicts the blocks least recently written; for 0 bytes, one that holds nothing. */
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
      const block = blocks?.peek(nameOf(name));
      if (block !== undefined) blocks?.delete(nameOf(name));
      return block;
    },
    remember(name, block) {
      blocks?.set(nameOf(name), block);
    },
    clear() {
      blocks?.clear();
    },
  };
}
