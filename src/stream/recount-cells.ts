import { NO_SUMS } from '../geo/cell-sums.js';
import type { CellChanges } from '../model/cell.js';
import type { BlockDelta, BlockName, BlockWrite, StoredBlock } from '../store/cell/blocks.js';
import { type ApplyOptions, blockChanges, writeBlocks } from './apply.js';

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

const nameOf = ({ scope, parent }: BlockName) => `${scope}/${parent}`;

/**
 * Brings every block, including those without markers, to the counted sums and to a batch. With `checkOnly` it only
 * compares them.
 */
export async function replaceCells(
  options: ApplyOptions,
  { counted, stored }: CountedCells,
  batch: number,
  checkOnly: boolean,
): Promise<ComparedBlocks> {
  const wanted = new Map<string, BlockDelta>();
  for (const name of stored) wanted.set(nameOf(name), { ...name, deltas: new Map() });
  for (const block of blockChanges(counted)) wanted.set(nameOf(block), block);
  const drifted = new Map<string, BlockName>();
  const replace = (block: BlockDelta, found: StoredBlock): BlockWrite | undefined => {
    if ((found.batch ?? 0) >= batch && !checkOnly) return undefined;
    const write = replacementOf(block, found, batch);
    const { scope, parent } = block;
    if (differs(write)) drifted.set(nameOf(block), { scope, parent });
    return checkOnly ? undefined : write;
  };
  await writeBlocks({ ...options, consistent: true }, [...wanted.values()], replace);
  return { blocks: wanted.size, drifted: [...drifted.values()] };
}

/** The write that leaves a block with the counted sums and nothing else. */
function replacementOf({ scope, parent, deltas }: BlockDelta, found: StoredBlock, batch: number): BlockWrite {
  return { scope, parent, found, next: { batch, children: deltas } };
}

function differs({ found, next }: BlockWrite): boolean {
  const children = new Set([...found.children.keys(), ...next.children.keys()]);
  return [...children].some((child) => {
    const [a, b] = [found.children.get(child) ?? NO_SUMS, next.children.get(child) ?? NO_SUMS];
    return a.count !== b.count || a.sumLng !== b.sumLng || a.sumLat !== b.sumLat;
  });
}
