import { isDeepStrictEqual } from 'node:util';

import { NO_SUMS } from '../../geo/cell-sums.js';
import { measuredBytes, SIZE_CHILD } from '../../model/cell.js';
import {
  ABSENT_BLOCK,
  type BlockDelta,
  type BlockName,
  type BlockWrite,
  type StoredBlock,
} from '../../store/cell/blocks.js';
import { writeBlocks, type ApplyOptions } from '../cells/apply.js';

/** The result of comparing all blocks. */
export interface ComparedBlocks {
  readonly blocks: number;
  /** Blocks that differed from the markers. */
  readonly drifted: readonly BlockName[];
}

/** Identifies a block. */
export const nameOfBlock = ({ scope, parent }: BlockName) => `${scope}/${parent}`;

/** A block without markers. */
export const emptyBlock = (name: BlockName): BlockDelta => ({ ...name, deltas: new Map() });

/** Brings every block to the counted sums and to a batch, while the next ones are counted. */
export class CellReplacement {
  readonly #options: ApplyOptions;
  readonly #batch: number;
  readonly #stored: ReadonlyMap<string, BlockName>;
  /** Stored blocks that have not been counted. */
  readonly #left: Map<string, BlockName>;
  readonly #drifted = new Map<string, BlockName>();
  #blocks = 0;
  #writing: Promise<unknown> = Promise.resolve();
  #isStopped = false;

  /** `stored` are the existing blocks, with or without markers. */
  constructor(options: ApplyOptions, stored: readonly BlockName[], batch: number) {
    this.#stored = new Map(stored.map((name) => [nameOfBlock(name), name]));
    this.#left = new Map(this.#stored);
    this.#batch = batch;
    // Others need not be read: the write of a block that exists after all is rejected.
    const take = (name: BlockName) => (this.#stored.has(nameOfBlock(name)) ? undefined : ABSENT_BLOCK);
    this.#options = { ...options, consistent: true, memory: { take, put: () => undefined } };
  }

  /** Replaces these blocks, of which each is named once, after the ones before. A failure is thrown by `end`. */
  replace(blocks: readonly BlockDelta[]): void {
    for (const block of blocks) this.#left.delete(nameOfBlock(block));
    this.#blocks += blocks.length;
    const write = async () => {
      if (!this.#isStopped) await writeBlocks(this.#options, blocks, (block, found) => this.#writeOf(block, found));
    };
    this.#writing = this.#writing.then(write);
    this.#writing.catch(() => undefined);
  }

  /** Replaces all other blocks, which have no markers; resolves once everything is written. */
  async end(): Promise<ComparedBlocks> {
    this.replace([...this.#left.values()].map(emptyBlock));
    await this.#writing;
    return { blocks: this.#blocks, drifted: [...this.#drifted.values()] };
  }

  /** Begins no more writes; resolves once none is in progress. */
  async stop(): Promise<void> {
    this.#isStopped = true;
    await this.#writing.catch(() => undefined);
  }

  #writeOf({ scope, parent, deltas }: BlockDelta, found: StoredBlock): BlockWrite | undefined {
    if ((found.batch ?? 0) >= this.#batch) return undefined;
    if (differs(found.children, deltas)) this.#drifted.set(nameOfBlock({ scope, parent }), { scope, parent });
    // The block has the counted sums then, and nothing else.
    return { scope, parent, found, next: { batch: this.#batch, children: deltas } };
  }
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
