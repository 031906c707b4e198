import { LRUCache } from 'lru-cache';

import type { BlockName, StoredBlock } from '../store/cell/blocks.js';

/**
 * Blocks as this process wrote them, so that they need not be read before they are written again. It may know less than
 * there is, and an older version of a block: then the write is refused, and the block is read. It never knows a version
 * with another content than that version has, and never that there is no block.
 */
export interface BlockMemory {
  /** The block as it was written, which is forgotten until it is known to be written again. */
  take(name: BlockName): StoredBlock | undefined;
  /** Takes in a block of which it is known that it was written like this, all its children with it. */
  remember(name: BlockName, block: StoredBlock): void;
  /** Forgets everything: others may have written all of it. */
  clear(): void;
}

const BLOCK_BYTES = 300;
const CHILD_BYTES = 120;
const MAX_BYTES = 48 * 1024 * 1024;

const nameOf = ({ scope, parent }: BlockName) => `${scope}\n${parent}`;

/** A memory of about so many bytes, those blocks first forgotten that were not written for longest; none for 0 bytes. */
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
