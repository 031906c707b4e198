import { addSums, isZero, NO_SUMS, type CellSums } from '../../geo/cell-sums.js';
import type { CellChanges } from '../../model/cell-changes.js';
import { SIZE_CHILD } from '../../model/cell.js';
import { REQUEST_LIMITS } from '../../model/dynamodb-limits.js';
import {
  ABSENT_BLOCK,
  type BlockDelta,
  type BlockName,
  type BlockWrite,
  type StoredBlock,
} from '../../store/cell/blocks.js';
import { chunks, mapConcurrently, processAll } from '../../store/request/pacing.js';
import type { CellsPort, LeasedWork } from '../ports.js';
import type { CellMemory } from './memory.js';

/** The result of applying a batch. */
export interface Applied {
  /** Number of blocks written in this run, without those that already included the batch. */
  readonly blocks: number;
  /** Number of these that did not exist before. */
  readonly created: number;
  /** Some of the blocks whose sums have become impossible. */
  readonly suspects: readonly BlockName[];
}

const CHUNKS_AT_A_TIME = 4;
/** More suspects than this are not needed. */
const MOST_SUSPECTS = 20;

/** The changes of all blocks, coarse ones first. */
export function blockChanges(changes: CellChanges): BlockDelta[] {
  const blocks = [...changes].flatMap(([scope, parents]) =>
    [...parents].map(([parent, deltas]) => ({ scope, parent, deltas })),
  );
  return blocks.sort((a, b) => a.parent.length - b.parent.length);
}

/** The write that brings a block, as read, to a batch; undefined if it already includes the batch. */
function additionTo({ scope, parent, deltas }: BlockDelta, found: StoredBlock, batch: number): BlockWrite | undefined {
  if ((found.batch ?? 0) >= batch) return undefined;
  const children = new Map(found.children);
  for (const [child, delta] of deltas) {
    const sums = addSums(children.get(child) ?? NO_SUMS, delta);
    if (isZero(sums)) children.delete(child);
    else children.set(child, sums);
  }
  return { scope, parent, found, next: { batch, children } };
}

/**
 * Whether the sums of a child are impossible: a count below zero, or a position without markers. A size is not exact before
 * all markers were measured.
 */
export const isImpossible = ([child, sums]: readonly [string, CellSums]): boolean =>
  child !== SIZE_CHILD && (sums.count < 0 || (sums.count === 0 && !isZero(sums)));

export interface ApplyOptions extends LeasedWork {
  readonly port: CellsPort;
  /** Blocks that this process knows; omitted to read all of them. */
  readonly memory?: Pick<CellMemory, 'take' | 'put'> | undefined;
  /** Whether the first read of a block must be consistent. */
  readonly consistent?: boolean;
}

/**
 * Brings every block of a batch to that batch, and resolves when all are known to include it. Each block remembers its
 * last batch and is written only if it has not changed since it was read, so it gets the batch exactly once, however
 * often and by whichever process it is applied.
 */
export async function applyToCells(options: ApplyOptions, batch: number, changes: CellChanges): Promise<Applied> {
  const written = await writeBlocks(options, blockChanges(changes), (delta, found) => additionTo(delta, found, batch));
  const suspects = written
    .filter(({ found, next }) =>
      [...next.children].some((one) => one[1] !== found.children.get(one[0]) && isImpossible(one)),
    )
    .slice(0, MOST_SUSPECTS)
    .map(({ scope, parent }) => ({ scope, parent }));
  const created = written.filter(({ found }) => found.batch === undefined).length;
  return { blocks: written.length, created, suspects };
}

/**
 * Writes the result of `writeOf` for each block as read, which is undefined once a block needs no write. Resolves with
 * all writes made when every block is known to be written.
 */
export async function writeBlocks<T extends BlockName>(
  options: ApplyOptions,
  blocks: readonly T[],
  writeOf: (block: T, found: StoredBlock) => BlockWrite | undefined,
): Promise<BlockWrite[]> {
  const { port, clock, signal, log, holds, memory } = options;
  const written: BlockWrite[] = [];
  await mapConcurrently(chunks(blocks, REQUEST_LIMITS.batchGet), CHUNKS_AT_A_TIME, async (chunk) => {
    let isFirst = true;
    async function writeSome(left: readonly T[]): Promise<readonly T[]> {
      signal.throwIfAborted();
      const stored = await findBlocks(options, left, isFirst);
      isFirst = false;
      const open = left.flatMap((block, index) => {
        const found = stored[index] ?? ABSENT_BLOCK;
        const write = writeOf(block, found);
        return write === undefined ? [] : [{ block, write }];
      });
      // A process that was suspended after a read may assume blocks are absent that a recount has since written.
      const outcomes = open.length > 0 && holds() ? await port.write(open.map(({ write }) => write)) : [];
      for (const { write } of open.filter((_, index) => outcomes[index] === 'written')) {
        memory?.put(write, write.next);
        written.push(write);
      }
      return open.filter((_, index) => outcomes[index] !== 'written').map(({ block }) => block);
    }
    const onRetry = (err: unknown, attempt: number) =>
      log.warn({ err, attempt }, 'Cannot write blocks of cells; retrying');
    // After a failure, the blocks themselves show which were written.
    await processAll(chunk, writeSome, { attempts: Infinity, retryable: () => true, onRetry, clock, signal });
  });
  return written;
}

/** Blocks as stored, or as last written by this process. After a failed attempt nothing is certain, so all are read. */
async function findBlocks(
  { port, memory, consistent = false }: ApplyOptions,
  names: readonly BlockName[],
  isFirst: boolean,
): Promise<readonly StoredBlock[]> {
  const known = names.map((name) => (isFirst ? memory?.take(name) : undefined));
  const missing = names.filter((_, index) => known[index] === undefined);
  // The write after a stale read is rejected, and the next read is consistent.
  const read = missing.length === 0 ? [] : await port.read(missing, consistent || !isFirst);
  let next = 0;
  return known.map((block) => block ?? read[next++] ?? ABSENT_BLOCK);
}
