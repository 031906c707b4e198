import { restartOnFailure } from '../../retry.js';
import type { BlockWrite } from '../../store/cell/blocks.js';
import { completeBatch, type PageGeneration, type StreamGap, type StreamState } from '../../store/cell/stream-state.js';
import { LeaseLost, whileLeased, type Lease } from '../../store/lease.js';
import { CellMemory } from '../cells/memory.js';
import { firstState } from '../state.js';
import { LOAD_POLICY } from './flood.js';
import { CLOCKS_DIFFER_MS } from './follower.js';
import { OtherFormat, takeOwnership } from './owners.js';
import type { BatchLimits } from './reader.js';
import type { Progress, SessionOptions, SessionParts, SessionTuning } from './session-options.js';
import { Session } from './session.js';
import { WriteWatch, type FailingWrites } from './write-watch.js';

export interface ConsumerOptions extends SessionParts, Partial<SessionTuning> {
  /** The name of this process, which no other process ever has. */
  readonly self: string;
  /**
   * Called once, before the very first start. Returns a time, in milliseconds since 1970, before which nothing was
   * written that the cells have to count. The cells are exact if the stream reaches back to it.
   */
  readonly since: () => Promise<number>;
  /** The state before the very first start, if there is another one than that all records are still to be read. */
  readonly first?: (() => Promise<StreamState>) | undefined;
  /** Whether an owner is known to be dead, so that its lease need not expire first. */
  readonly ownerIsGone?: (owner: string) => boolean;
  /** See `LeaseOptions`. */
  readonly mayTake?: (() => boolean) | undefined;
  readonly onOwnership?: (owner: boolean) => void;
  /** Called before the work begins again after an error. */
  readonly onFailure?: (error: unknown) => void;
  /** Whether to accept counts in another format, inexact until a recount; otherwise they are rejected. */
  readonly upgrade?: boolean | undefined;
  /** Whether to wait while counts have another format, until a recount or another release has replaced them. */
  readonly waits?: boolean | undefined;
  readonly leaseMs?: number;
  /** How often to look whether the owner has gone; by default each second. */
  readonly lookMs?: number | undefined;
}

/** How far the pages and summaries are that consumers maintain. */
interface KeptReport {
  /** The pages that are maintained; null if there are none, as in a table of an earlier release before its recount. */
  readonly pages: PageGeneration | null;
  readonly formerPages?: StreamState['formerPages'];
  readonly published?: StreamState['published'];
  readonly written?: StreamState['written'];
  /** The last batch known to be complete. */
  readonly complete: number;
  /** When everything in the stream was last known to be complete, in milliseconds since 1970; null if unknown. */
  readonly endAt: number | null;
  /** See `StreamState`. */
  readonly summariesSince: number | null;
}

export interface ConsumerStatus extends KeptReport {
  /** Whether this process maintains the cells. */
  readonly owner: boolean;
  /** How long ago the cells were last known to be complete; undefined if they never were. */
  readonly behindMs: number | undefined;
  /**
   * False from a gap in the stream until a recount, and until this process has learned that the cells include the whole
   * stream: it may have lost records that nobody has missed yet.
   */
  readonly countsExact: boolean;
  readonly gap: StreamGap | null;
  /** Null if this process's last writes have succeeded. */
  readonly failingWrites: FailingWrites | null;
  /** Number of dead letters: records that could not be understood. */
  readonly deadLetters: number;
  /** The last planned batch. */
  readonly batch: number;
  readonly recordsFolded: number;
  /** Blocks written by this process. */
  readonly blocksWritten: number;
}

/** Other servers trust pages only for a short time, so the owner writes the state each second. */
const RENEW_MS = 1_000;

/** A state's report about pages and summaries. States of the previous release have none. */
export function reportOf(state: StreamState | undefined): KeptReport {
  const { pages = null, endAt = null, summariesSince = null } = state ?? {};
  const { formerPages = null, published = null, written = null } = state ?? {};
  return { complete: state ? completeBatch(state) : 0, pages, formerPages, published, written, endAt, summariesSince };
}

const LEASE_MS = 10_000;
const POLL_MS = 200;
const LIMITS: BatchLimits = { records: 200_000, cells: 200_000 };

const nothing = () => undefined;
const never = () => false;

/** Ends the wait for ownership: another process has done the work. */
const DONE = new Error('another process has done the work');

/**
 * Maintains the cells of all collections from the markers' stream. Of all consumers with the same state one works and the
 * others wait to take over. docs/stream.md explains why every record counts once.
 */
export class Consumer {
  readonly #options: ConsumerOptions;
  readonly #leaseMs: number;
  readonly #session: SessionOptions;
  readonly #writes: WriteWatch;
  readonly #progress: Progress = { latest: undefined, completeAt: undefined, endAt: undefined, blocksWritten: 0 };
  /** That of the session which is running. */
  #lease: Lease<StreamState> | undefined;
  /** Since when, and why, it waits for another format. */
  #unreadable: { readonly error: OtherFormat; readonly since: string } | undefined;
  #looked: (Pick<StreamState, 'version' | 'endAt'> & { readonly at: number; readonly changedAt: number }) | undefined;

  constructor(options: ConsumerOptions) {
    const { state, cells, leaseMs = LEASE_MS, pollMs = POLL_MS, limits = LIMITS, load = LOAD_POLICY } = options;
    const { onLoss = nothing, onApplied = nothing, memory = new CellMemory(), enough = never } = options;
    const writes = new WriteWatch(options.clock);
    this.#options = options;
    this.#leaseMs = leaseMs;
    this.#writes = writes;
    this.#session = {
      ...options,
      state: { ...state, put: writes.watched('state', (next: StreamState) => state.put(next)) },
      cells: { ...cells, write: writes.watched('cells', (blocks: readonly BlockWrite[]) => cells.write(blocks)) },
      pollMs,
      limits,
      load,
      onLoss,
      onApplied,
      memory,
      enough,
    };
  }

  /** Maintains the cells until that is enough or the signal is aborted; rejects only with OtherFormat, unless it waits. */
  run(signal: AbortSignal): Promise<void> {
    const { log, clock } = this.#options;
    const onFailure = (error: unknown): void => {
      if (error instanceof OtherFormat) return this.#noteOther(error);
      this.#options.onFailure?.(error);
      if (error instanceof LeaseLost) log.warn({ owner: this.#progress.latest?.owner }, error.message);
      else log.error({ err: error }, 'Cannot read the stream; retrying');
    };
    return restartOnFailure((progressed) => this.#own(progressed, signal), { clock, signal, onFailure });
  }

  #noteOther(error: OtherFormat): void {
    const { waits = false, log, clock } = this.#options;
    if (!waits) throw error;
    const { message } = this.#unreadable?.error ?? {};
    if (message === error.message) return;
    this.#unreadable = { error, since: new Date(clock.wall()).toISOString() };
    log.error({ err: error }, 'Counts and pages are no longer updated');
  }

  /** Waits for the ownership and works until that is enough, it is lost or the signal is aborted. */
  async #own(onOwned: () => void, signal: AbortSignal): Promise<void> {
    const { stream, since, clock, self, upgrade, ownerIsGone = never, onOwnership = nothing } = this.#options;
    const { lookMs, mayTake } = this.#options;
    const leaseMs = this.#leaseMs;
    const progress = this.#progress;
    const first = this.#options.first ?? (async () => firstState(...(await Promise.all([stream.identify(), since()]))));
    const onLook = (state: StreamState) => {
      this.#look(state);
      if (this.#session.enough(state, progress.completeAt, true)) throw DONE;
    };
    const lease = await takeOwnership(
      { clock, self, leaseMs, lookMs, mayTake, ownerIsGone, state: this.#session.state, upgrade, first, onLook },
      signal,
    ).catch((error: unknown) => {
      if (error !== DONE) throw error;
    });
    if (lease === undefined) return;
    onOwned();
    progress.latest = lease.current;
    progress.completeAt = undefined;
    progress.endAt = undefined;
    let session: Session | undefined;
    const work = async (working: AbortSignal) => {
      session = new Session(this.#session, lease, progress, working);
      this.#lease = lease;
      onOwnership(true);
      try {
        await session.run();
      } finally {
        this.#lease = undefined;
        onOwnership(false);
      }
    };
    const atEnd = () => progress.completeAt !== undefined && clock.now() - progress.completeAt < leaseMs / 4;
    const refresh = (state: StreamState) => ({
      ...(session?.refresh(state) ?? state),
      atEnd: atEnd(),
      endAt: progress.endAt ?? state.endAt,
    });
    try {
      await whileLeased(lease, work, signal, { refresh, everyMs: Math.min(RENEW_MS, leaseMs / 4) });
    } finally {
      progress.latest = lease.current;
      this.#writes.clear();
    }
  }

  #look(state: StreamState): void {
    this.#unreadable = undefined;
    const at = this.#options.clock.now();
    const isSame = this.#looked?.version === state.version;
    const { endAt } = state;
    // A version not seen at the previous read was written after it.
    if (this.#looked !== undefined && !isSame) {
      this.#writes.clear();
      // `atEnd` means: at most a quarter of a lease before it was written. While batches wait under load, it never is.
      if (state.atEnd) this.#noteComplete(this.#looked.at - this.#leaseMs / 4);
      const wasThere = endAt === null || endAt === this.#looked.endAt;
      if (!wasThere) this.#noteComplete(at - (this.#options.clock.wall() - endAt) - CLOCKS_DIFFER_MS);
    }
    this.#looked = { version: state.version, endAt, at, changedAt: isSame ? (this.#looked?.changedAt ?? at) : at };
    this.#progress.latest = state;
  }

  /** Notes when the cells were complete, as another process has told. */
  #noteComplete(at: number): void {
    this.#progress.completeAt = Math.max(at, this.#progress.completeAt ?? -Infinity);
  }

  /** Whether another process seems to hold the lease. */
  get isHeldElsewhere(): boolean {
    const { clock, ownerIsGone = never } = this.#options;
    const { owner = '' } = this.#progress.latest ?? {};
    if (this.#lease !== undefined || this.#looked === undefined || owner === '' || ownerIsGone(owner)) return false;
    return clock.now() - this.#looked.changedAt < this.#leaseMs;
  }

  /** Why it waits for another format; undefined if it does not. */
  get otherFormat(): OtherFormat | undefined {
    return this.#unreadable?.error;
  }

  status(): ConsumerStatus {
    const { latest, completeAt, blocksWritten } = this.#progress;
    const { error, since = '' } = this.#unreadable ?? {};
    const gap = error === undefined ? (latest?.gap ?? null) : { since, reason: error.message };
    return {
      owner: this.#lease?.holds() === true,
      behindMs: completeAt === undefined ? undefined : Math.max(0, this.#options.clock.now() - completeAt),
      countsExact: latest !== undefined && gap === null && completeAt !== undefined,
      gap,
      failingWrites: this.#writes.failing,
      deadLetters: latest?.deadLetters ?? 0,
      batch: latest?.batch ?? 0,
      ...reportOf(latest),
      endAt: this.#progress.endAt ?? null,
      recordsFolded: latest?.records ?? 0,
      blocksWritten,
    };
  }
}
