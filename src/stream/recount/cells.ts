import { isDeepStrictEqual } from 'node:util';

import { NO_SUMS } from '../../geo/cell-sums.js';
import type { CellChanges } from '../../model/cell-changes.js';
import { measuredBytes, SIZE_CHILD } from '../../model/cell.js';
import {
  ABSENT_BLOCK,
  type BlockDelta,
  type BlockName,
  type BlockWrite,
  type StoredBlock,
} from '../../store/cell/blocks.js';
import { blockChanges, writeBlocks, type ApplyOptions } from '../cells/apply.js';

/** The result of comparing all blocks. */
export interface ComparedBlocks {
  readonly blocks: number;
  /** Blocks that differed from the markers. */
  readonly drifted: readonly BlockName[];
}

/** The expected content of the blocks. */
export interface CountedCells {
  readonly counted: CellChanges;
  /** The existing blocks, with or without markers. */
  readonly stored: readonly BlockName[];
}

/** Identifies a block. */
export const nameOfBlock = ({ scope, parent }: BlockName) => `${scope}/${parent}`;

/** All blocks with their counted sums, by `nameOfBlock`; those without markers have none. */
export function countedBlocks({ counted, stored }: CountedCells): Map<string, BlockDelta> {
  const blocks = new Map<string, BlockDelta>();
  for (const name of stored) blocks.set(nameOfBlock(name), { ...name, deltas: new Map() });
  for (const block of blockChanges(counted)) blocks.set(nameOfBlock(block), block);
  return blocks;
}

/** Brings every block, including those without markers, to the counted sums and to a batch. */
export async function replaceCells(options: ApplyOptions, cells: CountedCells, batch: number): Promise<ComparedBlocks> {
  const wanted = countedBlocks(cells);
  const listed = new Set(cells.stored.map(nameOfBlock));
  const drifted = new Map<string, BlockName>();
  const replace = (block: BlockDelta, found: StoredBlock): BlockWrite | undefined => {
    if ((found.batch ?? 0) >= batch) return undefined;
    const { scope, parent, deltas } = block;
    if (differs(found.children, deltas)) drifted.set(nameOfBlock(block), { scope, parent });
    // The block has the counted sums then, and nothing else.
    return { scope, parent, found, next: { batch, children: deltas } };
  };
  // Others need not be read: the write of a block that exists after all is rejected.
  const take = (name: BlockName) => (listed.has(nameOfBlock(name)) ? undefined : ABSENT_BLOCK);
  const memory = { take, put: () => undefined };
  await writeBlocks({ ...options, consistent: true, memory }, [...wanted.values()], replace);
  return { blocks: wanted.size, drifted: [...drifted.values()] };
}

/** Whether a block has other sums than it should; a size that is not known to be exact is no difference. */
export function differs(found: StoredBlock['children'], wanted: StoredBlock['children']): boolean {
  const isMeasured = measuredBytes(found) !== undefined;
  return [...new Set([...found.keys(), ...wanted.keys()])].some(
    (child) =>
      (isMeasured || child !== SIZE_CHILD) &&
      !isDeepStrictEqual(found.get(child) ?? NO_SUMS, wanted.get(child) ?? NO_SUMS),
  );
}
