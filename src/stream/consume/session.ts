import type { BlockName } from '../../store/cell/blocks.js';
import type { StreamState } from '../../store/cell/stream-state.js';
import type { Lease } from '../../store/lease.js';
import { isImpossible, type Applied } from '../cells/apply.js';
import { MarkerDays } from '../days/apply.js';
import { keptPages, type KeptPages } from '../pages/kept-pages.js';
import { Publisher } from '../pages/publisher.js';
import { WrittenLog } from '../pages/written-log.js';
import type { LeasedWork } from '../ports.js';
import { currentStream, RecordsLost, StreamReplaced } from '../source/record-batches.js';
import { LIST_EVERY_MS } from '../source/shards.js';
import { planned, settled, withGap, withoutPages, withShardsSeen, type ShardsSeen } from '../state.js';
import { Flood, type Waits } from './flood.js';
import { StreamReader, type Batch, type OnEnd, type Replayed } from './reader.js';
import type { Progress, SessionOptions } from './session-options.js';
import { applyFolded, finishPlan, noteLoss, noteSwitch } from './takeover.js';

const SUSPECTS_AT_A_TIME = 20;
const MOST_SUSPECTS = 1_000;
/** Listings and pages of a stream may disagree for this long, during which a suspect count proves nothing. */
const BELIEVED_AFTER_MS = 30_000;

/** For so long after pages and blocks include what was published, the state tells where it is. Nobody reads it by then. */
const PUBLISHED_MS = 60_000;

/** The work of a consumer while it holds the lease. */
export class Session {
  readonly #options: SessionOptions;
  readonly #lease: Lease<StreamState>;
  readonly #progress: Progress;
  readonly #signal: AbortSignal;
  readonly #work: LeasedWork;
  #pages: KeptPages | undefined;
  readonly #written: WrittenLog;
  readonly #days: MarkerDays | undefined;
  readonly #ended = new AbortController();
  readonly #untilEnded: AbortSignal;
  #reader: StreamReader;
  /** The batch being gathered while the previous one is applied. */
  #ahead: Promise<Batch> | undefined;
  /** The last complete batch, which is stored with the next write of the state. */
  #completeBatch: number | undefined;
  /** What was seen when there was nothing to plan; otherwise it is stored with the plan. */
  #seen: ShardsSeen | undefined;
  /** Blocks with a count below zero when they were written, and when that was. */
  #suspects: readonly (BlockName & { readonly at: number })[] = [];
  readonly #flood: Flood;
  readonly #publisher: Publisher | undefined;

  constructor(options: SessionOptions, lease: Lease<StreamState>, progress: Progress, signal: AbortSignal) {
    this.#options = options;
    this.#lease = lease;
    this.#progress = progress;
    this.#signal = signal;
    // Only an owner changes the generation, so it stays for as long as the lease is held, or pages cannot be written.
    const { days, clock, log } = options;
    this.#written = new WrittenLog(lease.current, clock);
    const kept = keptPages(lease.current, options.pages);
    this.#pages = kept && { ...kept, pages: this.#written.noting(kept.pages) };
    this.#work = { clock, log, signal, holds: () => lease.holds() };
    this.#untilEnded = AbortSignal.any([signal, this.#ended.signal]);
    this.#days = days && new MarkerDays(days, { ...this.#work, signal: this.#untilEnded }, lease.current.version);
    this.#flood = new Flood(options.load, clock, options.limits.records, lease.current.records);
    const { recent: port, versionsByBatch = false } = options.pages ?? {};
    // Where several items are the same marker, only applying a batch tells which one of them it is.
    if (port && !options.winners) {
      const update = (change: (state: StreamState) => StreamState) => this.#update(change);
      // A first load is seen once it is applied.
      const isOn = () => this.#pages !== undefined && !this.#flood.isFirstLoad;
      const current = () => lease.current;
      this.#publisher = new Publisher({ port, clock, log, versionsByBatch, current, update, isOn });
    }
    this.#reader = this.#newReader();
  }

  #newReader(): StreamReader {
    const { stream, keys, clock, pollMs, onRecord } = this.#options;
    return new StreamReader(stream, this.#lease.current, keys, { clock, signal: this.#untilEnded, pollMs, onRecord });
  }

  /** The state to store, with what is now known to be complete. */
  refresh(state: StreamState): StreamState {
    const { published = null } = state;
    const isRead = published !== null && (this.#progress.endAt ?? 0) - published.endAt < PUBLISHED_MS;
    return this.#written.stored({ ...this.#settled(state), published: isRead ? published : null });
  }

  #settled(state: StreamState): StreamState {
    const done = this.#completeBatch === state.batch ? settled(state) : state;
    return this.#seen === undefined ? done : withShardsSeen(done, this.#seen, this.#options.clock.wall());
  }

  /** Applies batch after batch, until that is enough; throws when the signal is aborted or something fails. */
  async run(): Promise<void> {
    // Another owner has written blocks in between.
    this.#options.memory.clear();
    this.#pages?.memory.clear();
    await this.#checkStream();
    await this.#noteSummaries();
    try {
      await finishPlan(this.#lease, this.#reader, (batch, replayed) => this.#apply(batch, replayed));
    } catch (error) {
      await this.#recover(error);
    }
    const closingDays = this.#days?.run();
    try {
      for (;;) {
        this.#signal.throwIfAborted();
        if (this.#isEnough()) return;
        const batch = await this.#nextBatch();
        if (batch === undefined) continue;
        if (batch.records > 0) await this.#takeBatch(batch);
        else await this.#rest(batch);
        if (batch.endAt !== undefined) await this.#checkSuspects();
      }
    } finally {
      this.#ended.abort();
      await closingDays;
    }
  }

  #isEnough(): boolean {
    const closed = this.#days?.closed ?? true;
    return this.#options.enough(this.#settled(this.#lease.current), this.#progress.completeAt, closed);
  }

  /** Notes since when no record of a reading was missed, if a version that keeps no summaries has worked until now. */
  async #noteSummaries(): Promise<void> {
    const { summariesSince } = this.#lease.current;
    const since = this.#days ? (summariesSince ?? this.#options.clock.wall()) : null;
    if (since !== summariesSince) await this.#update((state) => ({ ...state, summariesSince: since }));
  }

  async #update(change: (state: StreamState) => StreamState): Promise<StreamState> {
    return (this.#progress.latest = await this.#lease.update((state) => this.#written.stored(change(state))));
  }

  /** Continues with the table's current stream, once it has one. If that is a new one, there is a gap. */
  async #checkStream(): Promise<void> {
    const { clock, log, onLoss } = this.#options;
    for (;;) {
      const stream = await currentStream(this.#options.stream, clock, this.#signal);
      const reason = await noteSwitch(this.#lease, stream);
      if (reason === undefined) break;
      this.#progress.latest = this.#lease.current;
      log.error({ stream }, reason);
      onLoss(reason);
      if (stream !== undefined) break;
      await clock.sleep(LIST_EVERY_MS, this.#signal);
      this.#signal.throwIfAborted();
    }
    this.#reader = this.#newReader();
  }

  /** The next batch; undefined if records were lost, which has then been recorded. */
  async #nextBatch(): Promise<Batch | undefined> {
    const { records, batch } = this.#lease.current;
    const gather = () => {
      const waits = this.#flood.fromRest(records);
      const more: Waits = (lately, gathered) => waits(lately, gathered) && !this.#isEnough();
      return this.#reader.gather(this.#options.limits, more, this.#publishing(batch + 1));
    };
    try {
      return await (this.#ahead ?? gather());
    } catch (error) {
      await this.#recover(error);
      return undefined;
    } finally {
      this.#ahead = undefined;
    }
  }

  /** Records a gap if records were lost, in the same write that ends the plan, and continues after it. */
  async #recover(error: unknown): Promise<void> {
    const { log, onLoss } = this.#options;
    if (error instanceof StreamReplaced) return this.#checkStream();
    if (!(error instanceof RecordsLost)) throw error;
    const { stream } = this.#lease.current;
    await this.#checkStream();
    if (this.#lease.current.stream !== stream) return undefined;
    log.error({ ...error.loss }, error.message);
    onLoss(error.message);
    await noteLoss(this.#lease, error);
    this.#progress.latest = this.#lease.current;
    this.#reader = this.#newReader();
  }

  /** Handles an empty batch: there is nothing to plan. */
  async #rest(batch: Batch): Promise<void> {
    const { clock, pollMs } = this.#options;
    this.#seen = batch.seen;
    this.#complete(batch);
    this.#publisher?.rested();
    if (!this.#isEnough()) await clock.sleep(pollMs, this.#signal);
  }

  /** Plans a batch and applies it while the next one is gathered. */
  async #takeBatch(batch: Batch): Promise<void> {
    const { clock, limits, log } = this.#options;
    const { records, seen } = batch;
    const state = await this.#update((now) => ({
      ...planned(withShardsSeen(now, seen, clock.wall()), batch),
      // While batch follows batch, the lease is not renewed separately, and other servers would stop trusting the pages.
      endAt: this.#progress.endAt ?? now.endAt,
    }));
    this.#seen = undefined;
    // Records that arrive during the pause join the next batch: the larger a batch, the fewer writes per marker.
    let busy = true;
    const more: Waits = (lately, gathered) => busy || (this.#flood.goesOn(lately, gathered) && !this.#isEnough());
    this.#ahead = this.#reader.gather(limits, more, this.#publishing(state.batch + 1));
    this.#ahead.catch(() => undefined);
    try {
      const applied = await this.#apply(state.batch, batch);
      this.#flood.applied(records, applied);
      log.debug({ batch: state.batch, records, blocks: applied.blocks }, 'Applied a batch of the stream');
    } finally {
      busy = false;
    }
    this.#complete(batch);
    // At once, because other servers show the batch when they know that it is complete.
    await this.#update((now) => ({ ...this.#settled(now), endAt: this.#progress.endAt ?? now.endAt }));
  }

  #publishing(batch: number): OnEnd | undefined {
    const publisher = this.#publisher;
    return publisher && ((fold, endAt) => publisher.publish(batch, fold, endAt));
  }

  /** Notes that a batch is complete, and with it the stream if it was read to the end. */
  #complete({ endAt, endWall }: Batch): void {
    if (endAt !== undefined) Object.assign(this.#progress, { completeAt: endAt, endAt: endWall });
  }

  /** Applies a batch to all blocks and pages. */
  async #apply(batch: number, folded: Replayed): Promise<Applied> {
    this.#publisher?.planned(batch, folded.recent);
    const { state, cells, memory, winners, onRecord: onDecided, clock, log, onApplied } = this.#options;
    const stores = { state, cells, memory, pages: this.#pages, days: this.#days, winners, onDecided };
    const applied = await applyFolded(stores, this.#work, batch, folded);
    const { suspects, pagesFailed } = applied;
    if (pagesFailed) {
      log.error({ err: pagesFailed }, 'Cannot write pages of markers; maps read the index until a recount');
      this.#pages = undefined;
      await this.#update(withoutPages);
    }
    this.#progress.blocksWritten += applied.blocks;
    const at = clock.now();
    if (this.#lease.current.gap === null && this.#suspects.length < MOST_SUSPECTS) {
      this.#suspects = [...this.#suspects, ...suspects.map((name) => ({ ...name, at }))];
    }
    this.#completeBatch = batch;
    this.#publisher?.complete(batch);
    onApplied(batch, applied.changes);
    return applied;
  }

  /**
   * A count below zero shows that the cells have missed something, but only once everything has been read: until then a
   * child of a shard may have been read before its parent.
   */
  async #checkSuspects(): Promise<void> {
    const { cells, clock, log } = this.#options;
    const before = clock.now() - BELIEVED_AFTER_MS;
    const names = this.#suspects.slice(0, SUSPECTS_AT_A_TIME).filter(({ at }) => at <= before);
    if (names.length === 0) return;
    const blocks = await cells.read(names, true);
    this.#suspects = this.#suspects.slice(names.length);
    const wrong = names.find((_, index) => [...(blocks[index]?.children ?? [])].some(isImpossible));
    if (wrong === undefined || this.#lease.current.gap !== null) return;
    log.error({ ...wrong }, 'A count is below zero: the cells have missed changes');
    const reason = `a count in the block "${wrong.parent}" of ${wrong.scope} is below zero`;
    await this.#update((state) => withGap(this.#settled(state), reason, clock.wall()));
  }
}
