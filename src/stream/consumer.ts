import type { Clock } from '../clock.js';
import type { Keyspace } from '../keys/keyspace.js';
import type { Log } from '../log.js';
import type { StreamGap, StreamState } from '../store/cell/stream-state.js';
import { applyBatch, isImpossible } from './apply.js';
import { type BlockMemory, createBlockMemory } from './block-memory.js';
import type { StreamRecord } from './change.js';
import type { CellChanges } from '../model/cell.js';
import type { BlockName } from '../store/cell/blocks.js';
import type { CellsPort, StatePort, StreamPort } from './ports.js';
import { type Batch, type BatchLimits, type Reader, RecordsLost, createReader } from './reader.js';
import { OtherLayout, OwnershipLost, type SharedState, pause, takeOwnership } from './shared-state.js';
import { type Knowledge, broken, firstState, informed, moved, planned, settled } from './state.js';

/**
 * After a batch of at least so many blocks, and while at least so many records come in a second, the next one is not
 * planned for some time: most blocks of a batch are written for a few markers, so fewer batches write fewer blocks.
 */
export interface LoadPolicy {
  readonly blocks: number;
  readonly recordsPerSecond: number;
  readonly waitMs: number;
}

export interface ConsumerOptions {
  readonly stream: StreamPort;
  readonly state: StatePort;
  readonly cells: CellsPort;
  readonly clock: Clock;
  readonly keys: Pick<Keyspace, 'parseMarker' | 'isUnderMarker'>;
  readonly log: Log;
  /** The name of this process among owners: no other may ever have the same. */
  readonly self: string;
  /**
   * Asked once, before the first start ever: a time before which nothing was written that the cells have to know of, in
   * milliseconds since 1970. The cells are exact where the stream reaches back to it.
   */
  readonly since: () => Promise<number>;
  /** Whether an owner is known to be dead, so that its lease need not be waited out. */
  readonly ownerIsGone?: (owner: string) => boolean;
  /**
   * Told of each record as it is read, before the cells have it: those of one item in their order. After a loss, or when
   * the ownership has changed, some come again.
   */
  readonly onRecord?: (record: StreamRecord) => void;
  /** Told where records were lost that `onRecord` was not told of. */
  readonly onLoss?: (reason: string) => void;
  /** Told of each batch once all blocks have it. */
  readonly onApplied?: (batch: number, changes: CellChanges) => void;
  readonly onOwnership?: (owner: boolean) => void;
  /** Whether counts of another layout are gone on with, which are inexact until a recount; they are refused otherwise. */
  readonly upgrade?: boolean | undefined;
  readonly leaseMs?: number;
  readonly pollMs?: number;
  readonly limits?: BatchLimits;
  readonly load?: LoadPolicy;
  readonly memory?: BlockMemory;
}

export interface ConsumerStatus {
  /** Whether this process keeps the cells. */
  readonly owner: boolean;
  /** Since when the cells are not known to be complete; undefined while they never were. */
  readonly behindMs: number | undefined;
  /** False from a gap in the stream until the recount that mends it, and before anything is known. */
  readonly countsExact: boolean;
  readonly gap: StreamGap | null;
  /** Records that could not be understood. */
  readonly setAside: number;
  /** The last batch that was planned. */
  readonly batch: number;
  readonly recordsFolded: number;
  /** Blocks written by this process. */
  readonly blocksWritten: number;
}

export interface Consumer {
  /** Keeps the cells until the signal is aborted; rejects only where they are of another layout. */
  run(signal: AbortSignal): Promise<void>;
  status(): ConsumerStatus;
}

const LEASE_MS = 10_000;
const POLL_MS = 200;
const BLOCKS_TO_CHECK = 20;
/** Long enough for listings and pages of the stream to have caught up with one another. */
const BELIEVED_AFTER_MS = 30_000;
const LIMITS: BatchLimits = { records: 200_000, cells: 100_000 };
const LOAD: LoadPolicy = { blocks: 1_000, recordsPerSecond: 100, waitMs: 10_000 };

/**
 * Keeps the cells of all collections from the stream of the markers. Of all consumers with the same state one works and
 * the others wait to take over. docs/stream.md says why every record counts once.
 */
export function createConsumer(options: ConsumerOptions): Consumer {
  const { stream, clock, log, leaseMs = LEASE_MS, pollMs = POLL_MS, limits = LIMITS } = options;
  const { load = LOAD, memory = createBlockMemory() } = options;
  let owner = false;
  let latest: StreamState | undefined;
  /** When the cells were last known to hold all there was, on the clock of this process. */
  let completeAt: number | undefined;
  let blocksWritten = 0;
  let looked: { readonly version: number; readonly at: number } | undefined;

  function onLook(state: StreamState): void {
    const at = clock.now();
    // A version that was not there at the look before was written after it.
    if (looked !== undefined && looked.version !== state.version && state.atEnd) completeAt = looked.at;
    looked = { version: state.version, at };
    latest = state;
  }

  /** Works as the owner until the ownership is lost or the signal aborted. */
  async function work(shared: SharedState, signal: AbortSignal, complete: Completion): Promise<void> {
    const change = async (update: (state: StreamState) => StreamState) => {
      latest = await shared.update(update);
      return latest;
    };
    let suspects: readonly BlockName[] = [];
    let suspectedAt = 0;
    // Whoever owned the work in between has written blocks.
    memory.clear();
    const applying = { port: options.cells, clock, signal, log, holds: () => shared.holds(), memory };
    const newReader = (state: StreamState): Reader =>
      createReader({ port: stream, clock, keys: options.keys, pollMs, signal, onRecord: options.onRecord }, state);

    /** Brings a batch into all blocks; gives how many of them were written. */
    async function apply(
      batch: number,
      { changes, deadLetters }: Pick<Batch, 'changes' | 'deadLetters'>,
    ): Promise<number> {
      for (let attempt = 0; deadLetters.length > 0; attempt += 1) {
        try {
          await options.state.putDeadLetters(deadLetters);
          break;
        } catch (err) {
          log.warn({ err, batch }, 'records could not be set aside and will be tried again');
          await pause(clock, attempt, signal);
          signal.throwIfAborted();
        }
      }
      const { blocks, suspects: found } = await applyBatch(applying, batch, changes);
      blocksWritten += blocks;
      suspects = [...suspects, ...found];
      if (found.length > 0) suspectedAt = clock.now();
      complete.batch = batch;
      options.onApplied?.(batch, changes);
      return blocks;
    }

    /**
     * A count below zero is a sign that the cells have missed something, once all there is has been read: until then it
     * may be that a child of a shard was seen before its parent.
     */
    async function checkSuspects(): Promise<void> {
      const names = suspects.slice(0, BLOCKS_TO_CHECK);
      if (names.length === 0) return;
      const blocks = await options.cells.read(names, true);
      suspects = suspects.slice(BLOCKS_TO_CHECK);
      const wrong = names.find((_, index) => [...(blocks[index]?.children.values() ?? [])].some(isImpossible));
      if (wrong === undefined || shared.current().gap !== null) return;
      log.error({ ...wrong }, 'a count is below zero: the cells have missed changes');
      const reason = `a count in the block "${wrong.parent}" of ${wrong.scope} is below zero`;
      await change((state) => broken(standing(state, complete, clock.wall()), reason, clock.wall()));
    }

    async function onLoss({ loss, message }: RecordsLost): Promise<Reader> {
      if ((await stream.identify()) !== shared.current().stream) throw new Error('the stream is another one');
      log.error({ ...loss }, message);
      options.onLoss?.(message);
      return newReader(await change((state) => broken(state, message, clock.wall(), loss)));
    }

    const identity = await stream.identify();
    if (identity !== shared.current().stream) {
      log.error({ stream: identity, before: shared.current().stream }, 'the table has another stream than before');
      options.onLoss?.('the table has another stream');
      await change((state) => moved(state, identity, clock.wall()));
    }

    let reader = newReader(shared.current());
    const { plan, batch: underWay } = shared.current();
    if (plan !== null) {
      try {
        await apply(underWay, await reader.replay(plan));
      } catch (error) {
        if (!(error instanceof RecordsLost)) throw error;
        complete.batch = underWay;
        reader = await onLoss(error);
      }
    }

    let ahead: Promise<Batch> | undefined;
    for (;;) {
      signal.throwIfAborted();
      let batch: Batch;
      try {
        batch = await (ahead ?? reader.gather(limits, () => false));
      } catch (error) {
        if (!(error instanceof RecordsLost)) throw error;
        ahead = undefined;
        reader = await onLoss(error);
        continue;
      }
      ahead = undefined;
      if (batch.records === 0) {
        complete.knowledge = batch.knowledge;
        completeAt = batch.endAt ?? completeAt;
        if (batch.endAt !== undefined && clock.now() - suspectedAt >= BELIEVED_AFTER_MS) await checkSuspects();
        await clock.sleep(pollMs, signal);
        continue;
      }
      const { batch: number } = await change((state) =>
        planned(informed(state, batch.knowledge, clock.wall()), { ...batch, deadLetters: batch.deadLetters.length }),
      );
      complete.knowledge = undefined;
      // What comes in meanwhile makes the next batch: the more there is to write, the fewer writes a marker takes.
      let busy = true;
      let loadUntil = -Infinity;
      ahead = reader.gather(limits, (lately) => busy || (lately >= load.recordsPerSecond && clock.now() < loadUntil));
      ahead.catch(() => undefined);
      try {
        const blocks = await apply(number, batch);
        if (blocks >= load.blocks) loadUntil = clock.now() + load.waitMs;
      } finally {
        busy = false;
      }
      completeAt = batch.endAt ?? completeAt;
      log.debug({ batch: number, records: batch.records, blocksWritten }, 'applied a batch of the stream');
    }
  }

  /** Shows that the owner lives, and what it knows, a few times in each lease. */
  async function beat(shared: SharedState, signal: AbortSignal, complete: Completion): Promise<void> {
    const everyMs = leaseMs / 4;
    while (!signal.aborted) {
      await clock.sleep(everyMs, signal);
      if (signal.aborted || clock.now() - shared.writtenAt() < everyMs) continue;
      latest = await shared.update((state) => ({
        ...standing(state, complete, clock.wall()),
        atEnd: completeAt !== undefined && clock.now() - completeAt < everyMs,
      }));
    }
  }

  async function own(signal: AbortSignal): Promise<void> {
    const first = async () => {
      const [identity, since] = await Promise.all([stream.identify(), options.since()]);
      return firstState(identity, since);
    };
    const { state: port, self, upgrade, ownerIsGone = () => false } = options;
    const shared = await takeOwnership({ port, clock, self, leaseMs, ownerIsGone, first, onLook, upgrade }, signal);
    const session = new AbortController();
    const stop = () => session.abort(signal.reason);
    signal.addEventListener('abort', stop, { once: true });
    if (signal.aborted) stop();
    const complete: Completion = { batch: undefined, knowledge: undefined };
    latest = shared.current();
    completeAt = undefined;
    owner = true;
    options.onOwnership?.(true);
    const beating = beat(shared, session.signal, complete).catch((error: unknown) => session.abort(error));
    try {
      await work(shared, session.signal, complete);
    } finally {
      session.abort();
      signal.removeEventListener('abort', stop);
      owner = false;
      options.onOwnership?.(false);
      await beating;
      // Nobody has to wait for the lease of one who left in order.
      if (signal.aborted) {
        const leave = (state: StreamState) => ({ ...standing(state, complete, clock.wall()), owner: '', atEnd: false });
        latest = await shared.update(leave).catch(() => latest);
      }
    }
  }

  return {
    async run(signal) {
      for (let failures = 0; !signal.aborted;) {
        try {
          await own(signal);
        } catch (error) {
          if (error instanceof OtherLayout) throw error;
          if (signal.aborted) return;
          if (error instanceof OwnershipLost) log.warn({ owner: latest?.owner }, error.message);
          else {
            log.error({ err: error }, 'the stream cannot be read; trying again');
            await pause(clock, (failures += 1), signal);
          }
        }
      }
    },
    status() {
      return {
        owner,
        behindMs: completeAt === undefined ? undefined : Math.max(0, clock.now() - completeAt),
        countsExact: latest !== undefined && latest.gap === null,
        gap: latest?.gap ?? null,
        setAside: latest?.setAside ?? 0,
        batch: latest?.batch ?? 0,
        recordsFolded: latest?.records ?? 0,
        blocksWritten,
      };
    },
  };
}

/** What the owner knows to be complete but has not written yet. */
interface Completion {
  batch: number | undefined;
  /** What was seen when there was nothing to plan. Of what is planned the plan's own write tells. */
  knowledge: Knowledge | undefined;
}

/** The state as it stands by now. */
function standing(state: StreamState, { batch, knowledge }: Completion, wall: number): StreamState {
  const done = batch === state.batch ? settled(state) : state;
  return knowledge === undefined ? done : informed(done, knowledge, wall);
}
