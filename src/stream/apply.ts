import type { Clock } from '../clock.js';
import { type CellSums, NO_SUMS, addSums, isZero } from '../geo/cell-sums.js';
import type { Log } from '../log.js';
import type { BlockMemory } from './block-memory.js';
import type { CellChanges } from '../model/cell.js';
import type { BlockDelta, BlockName, BlockWrite, StoredBlock } from '../store/cell/blocks.js';
import type { CellsPort } from './ports.js';
import { pause } from './shared-state.js';

/** More suspects than this say nothing new. */
const MOST_SUSPECTS = 20;

/** What came of applying a batch. */
export interface Applied {
  /** Blocks that took part in this run; those that had the batch already are not among them. */
  readonly blocks: number;
  /** Some of the blocks that came to hold what no markers add up to. */
  readonly suspects: readonly BlockName[];
}

/** DynamoDB's own limit of keys in one read. */
const BLOCKS_AT_A_TIME = 100;
const CHUNKS_AT_A_TIME = 4;

/** The changes of all blocks, coarse ones first. */
export function blockChanges(changes: CellChanges): BlockDelta[] {
  const blocks = [...changes].flatMap(([scope, parents]) =>
    [...parents].map(([parent, deltas]) => ({ scope, parent, deltas })),
  );
  return blocks.sort((a, b) => a.parent.length - b.parent.length);
}

const ABSENT: StoredBlock = { batch: undefined, children: new Map() };

/** The write that brings a block, as it was read, to a batch. */
function writeOf(
  { scope, parent, deltas }: BlockDelta,
  { batch: seen, children }: StoredBlock,
  batch: number,
): BlockWrite {
  const sums = [...deltas].map(([child, delta]) => {
    return [child, addSums(children.get(child) ?? NO_SUMS, delta)] as const;
  });
  return { scope, parent, seen, batch, children: new Map(sums) };
}

/** The block once it was written. */
function writtenBlock({ children }: StoredBlock, write: BlockWrite): StoredBlock {
  const now = new Map([...children, ...write.children]);
  for (const [child, sums] of write.children) if (isZero(sums)) now.delete(child);
  return { batch: write.batch, children: now };
}

/** Whether no markers add up to this: fewer than none, or none that stand somewhere. */
export const isImpossible = ({ count, sumLng, sumLat }: CellSums) =>
  count < 0 || (count === 0 && (sumLng !== 0 || sumLat !== 0));

export interface ApplyOptions {
  readonly port: CellsPort;
  readonly clock: Clock;
  readonly signal: AbortSignal;
  readonly log: Log;
  /** Whether the work was ours a moment ago. While that is not known, nothing is written: the next heartbeat decides. */
  readonly holds: () => boolean;
  /** What this process knows of blocks; left out where all are to be read. */
  readonly memory?: BlockMemory | undefined;
}

/**
 * Brings every block of a batch to that batch, and resolves when all are known to be there. Each block remembers its last
 * batch and is written only as it was read, so it takes part once, whoever applies the batch and however often.
 */
export async function applyBatch(options: ApplyOptions, batch: number, changes: CellChanges): Promise<Applied> {
  const { port, clock, signal, log, holds, memory } = options;
  const blocks = blockChanges(changes);
  let written = 0;
  const suspects: BlockName[] = [];

  /** Blocks as they stand, or stood when this process wrote them. Where that failed it knows nothing: all are read. */
  async function find(names: readonly BlockName[], attempt: number): Promise<readonly StoredBlock[]> {
    const known = names.map((name) => (attempt === 0 ? memory?.take(name) : undefined));
    const missing = names.filter((_, index) => known[index] === undefined);
    // A read that lags is refused at the write, and then repeated as one that does not.
    const read = missing.length === 0 ? [] : await port.read(missing, attempt > 0);
    let next = 0;
    return known.map((block) => block ?? read[next++] ?? ABSENT);
  }

  async function applyChunk(chunk: readonly BlockDelta[]): Promise<void> {
    let left = chunk;
    for (let attempt = 0; left.length > 0; attempt += 1) {
      if (attempt > 0) await pause(clock, attempt, signal);
      signal.throwIfAborted();
      try {
        const stored = await find(left, attempt);
        const open = left.flatMap((change, index) => {
          const block = stored[index] ?? ABSENT;
          return (block.batch ?? 0) >= batch ? [] : [{ change, block, write: writeOf(change, block, batch) }];
        });
        if (open.length === 0) return;
        left = open.map(({ change }) => change);
        // A process that slept since it read may know blocks as absent that a recount has counted without them.
        if (!holds()) continue;
        const outcomes = await port.write(open.map(({ write }) => write));
        left = left.filter((_, index) => outcomes[index] !== 'written');
        for (const [index, { block, write }] of open.entries()) {
          if (outcomes[index] === 'written') memory?.remember(write, writtenBlock(block, write));
        }
        written += outcomes.filter((outcome) => outcome === 'written').length;
        const wrong = open.filter(({ write }) => [...write.children.values()].some(isImpossible));
        suspects.push(
          ...wrong.slice(0, MOST_SUSPECTS - suspects.length).map(({ write: { scope, parent } }) => ({ scope, parent })),
        );
      } catch (err) {
        // Whatever was done before it failed, the blocks themselves tell.
        log.warn({ err, batch, attempt }, 'blocks of cells could not be written and will be tried again');
      }
    }
  }

  let next = 0;
  async function worker(): Promise<void> {
    while (next < blocks.length) {
      const chunk = blocks.slice(next, (next += BLOCKS_AT_A_TIME));
      await applyChunk(chunk);
    }
  }
  await Promise.all(Array.from({ length: CHUNKS_AT_A_TIME }, worker));
  return { blocks: written, suspects };
}
