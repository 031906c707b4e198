import { retry } from '../../retry.js';
import type { StreamState } from '../../store/cell/stream-state.js';
import type { Lease } from '../../store/lease.js';
import { applyToCells, type Applied } from '../cells/apply.js';
import type { CellMemory } from '../cells/memory.js';
import type { StreamRecord } from '../change.js';
import type { MarkerDays } from '../days/apply.js';
import { applyToPages } from '../pages/apply.js';
import { PagesFailed, type KeptPages } from '../pages/kept-pages.js';
import type { CellsPort, LeasedWork, StatePort, WinnersPort } from '../ports.js';
import { RecordsLost, StreamReplaced } from '../source/record-batches.js';
import { moved, withGap } from '../state.js';
import type { Replayed, StreamReader } from './reader.js';
import type { Folded } from './record-fold.js';
import { decidedRecords } from './winners.js';

/** Records a gap if the table's stream is not that of the state; returns the reason. */
export async function noteSwitch(lease: Lease<StreamState>, stream: string | undefined): Promise<string | undefined> {
  const { stream: before } = lease.current;
  if (stream === before) return undefined;
  const { message } = new StreamReplaced(before, stream);
  await lease.update((state) => moved(state, stream, message, lease.clock.wall()));
  return message;
}

/** Records a gap if records were lost, in the same write that ends the plan. Rethrows any other error. */
export async function noteLoss(lease: Lease<StreamState>, error: unknown): Promise<void> {
  if (!(error instanceof RecordsLost)) throw error;
  const { message, loss } = error;
  await lease.update((state) => withGap(state, message, lease.clock.wall(), loss));
}

/** The effect of a batch on the blocks, and the reason why pages do not include it, if they cannot. */
export interface AppliedToAll extends Applied, Pick<Folded, 'changes'> {
  readonly pagesFailed?: PagesFailed | undefined;
}

/** What a batch is applied to. */
export interface DerivedStores {
  readonly state: StatePort;
  readonly cells: CellsPort;
  readonly memory?: CellMemory | undefined;
  readonly pages?: KeptPages | undefined;
  readonly days?: MarkerDays | undefined;
  /** Omitted where no two items are the same marker. */
  readonly winners?: WinnersPort | undefined;
  /** Called with each record of a marker that follows from those of several items, before the cells include it. */
  readonly onDecided?: ((record: StreamRecord) => void) | undefined;
}

/** Stores the dead letters of a batch, then brings every block and every page to it, and opens the days of its readings. */
export async function applyFolded(
  { state, cells, memory, pages, days, winners, onDecided }: DerivedStores,
  work: LeasedWork,
  batch: number,
  folded: Folded,
): Promise<AppliedToAll> {
  const { clock, signal, log } = work;
  const { contentions, days: changedDays, deadLetters } = folded;
  const onRetry = (err: unknown) => log.warn({ err, batch }, 'Cannot store dead letters; retrying');
  const store = () => state.putDeadLetters(deadLetters);
  if (deadLetters.length > 0) {
    await retry(store, { attempts: Infinity, onRetry, clock, signal });
  }
  // Those without a reason take back earlier ones.
  const uncounted = deadLetters.filter(({ reason }) => reason !== '').length;
  if (uncounted > 0) {
    log.warn(
      { batch, deadLetters: uncounted },
      'Records cannot be counted: see `cellport dead-letters --stream`, or of a source `cellport source status`',
    );
  }
  const decided = winners ? await decidedRecords(winners, work, batch, contentions) : [];
  for (const record of decided) onDecided?.(record);
  const { changes, markers } = folded.and(decided);
  const toPages = pages ? applyToPages({ ...work, ...pages }, batch, markers) : Promise.resolve();
  const [applied, pagesFailed] = await Promise.all([
    applyToCells({ ...work, port: cells, memory }, batch, changes),
    failureOf(toPages),
    days?.open(changedDays),
  ]);
  return { ...applied, changes, pagesFailed };
}

/** The PagesFailed that the work throws, if any. */
async function failureOf(work: Promise<void>): Promise<PagesFailed | undefined> {
  try {
    await work;
    return undefined;
  } catch (error) {
    if (error instanceof PagesFailed) return error;
    throw error;
  }
}

/**
 * Applies the batch that the previous owner had planned: otherwise a block without it could get it later, from a
 * process that resumes. Throws RecordsLost if the stream no longer has its records.
 */
export async function finishPlan(
  { current: { plan, batch } }: Lease<StreamState>,
  reader: StreamReader,
  apply: (batch: number, replayed: Replayed) => Promise<unknown>,
): Promise<void> {
  if (plan !== null) await apply(batch, await reader.replay(plan));
}
