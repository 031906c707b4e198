import type { RetryOptions } from '../../retry.js';
import type { StreamState } from '../../store/cell/stream-state.js';
import { whileLeased, type Lease } from '../../store/lease.js';
import { markerNamed, type StreamRecord, type WireImage } from '../change.js';
import { takeOwnership } from '../consume/owners.js';
import { StreamReader, type Batch, type ReaderOptions } from '../consume/reader.js';
import { applyFolded, finishPlan, noteLoss, noteSwitch } from '../consume/takeover.js';
import { MarkerDays } from '../days/apply.js';
import { roundOf } from '../pages/apply.js';
import type { LeasedWork } from '../ports.js';
import { passedBy, recounting, settled, unbuiltState, withoutPages } from '../state.js';
import { CellReplacement } from './cells.js';
import { Check } from './check.js';
import { RecountDays } from './days.js';
import { HeldMarkers } from './held-markers.js';
import { buildPages } from './pages.js';
import {
  addDecided,
  counting,
  listDerived,
  scanMarkers,
  type ListedItems,
  type RecountOptions,
  type RecountResult,
} from './scan.js';

/** A record may come after one that was made later by as much, because shards do not wait for one another. */
const SETTLE_MS = 3_000;
const POLL_MS = 200;
/** The end of a shard that was not read for a second takes more reads to tell. */
const EARLY_POLL_MS = 800;
/**
 * Without a fence, the end of all shards must be reached so often, by reads that begin after `SETTLE_MS`. They need not be empty:
 * others may write without a pause.
 */
const ENDS_WITHOUT_FENCE = 2;
/** Reading so many records of a stream is cheaper than to wait until its shards have new ones. */
const FEW = { records: 1_000, cells: Infinity };
/** A shard that has no new record for so long has at most 86,400 old ones. */
const NEW_WITHIN_MS = 1_000;
const LIMITS = { records: 100_000, cells: 1_000_000 };

const itemKey = ({ pk, sk }: WireImage) => `${String(pk?.['S'])}#${String(sk?.['S'])}`;

/**
 * Counts all markers, replaces the cells and rebuilds all pages, while markers are being written: takes the work over from
 * its owner, reads every marker, then the stream up to a record that was written after the last of them. A marker with a
 * record in the stream counts as its last image says, any other as it was read. A recount that is interrupted leaves a gap.
 * Counts in another format are upgraded. With `checkOnly`, see `Check`. Rejects with LeaseLost if another process takes the work
 * over, with NoStream if the table has no stream, and with StreamReplaced if it gets another one meanwhile.
 */
export async function recount(options: RecountOptions, signal: AbortSignal): Promise<RecountResult> {
  const { stream, state, clock, self, leaseMs = 10_000 } = options;
  // Without a stream nothing can be recounted: the owner keeps the work then.
  const identity = await stream.identify();
  if (options.checkOnly) return new Check(options, identity, signal).run();
  const first = () => Promise.resolve(unbuiltState(identity, clock.wall()));
  const contender = { clock, self, leaseMs, ownerIsGone: () => false };
  const lease = await takeOwnership({ ...contender, state, first, force: true, upgrade: true }, signal);
  return whileLeased(lease, (working) => new Recount(options, lease, working).run(), signal);
}

class Recount {
  readonly #options: RecountOptions;
  readonly #lease: Lease<StreamState>;
  readonly #signal: AbortSignal;
  readonly #work: LeasedWork;
  readonly #markers: HeldMarkers;
  readonly #opening: MarkerDays;
  readonly #days: RecountDays;
  readonly #collecting;
  #fence: string | undefined;
  #fenceSeen = false;
  /** A time in milliseconds since 1970 up to which everything has been read. */
  #endAt: number | null = null;

  constructor(options: RecountOptions, lease: Lease<StreamState>, signal: AbortSignal) {
    this.#options = options;
    this.#lease = lease;
    this.#signal = signal;
    this.#markers = new HeldMarkers(options.keys);
    const { days, keys, clock, log } = options;
    this.#work = { clock, log, signal, holds: () => lease.holds() };
    this.#opening = new MarkerDays(days, this.#work, lease.current.version);
    this.#days = new RecountDays({ keys, port: days.port, days: this.#opening, checkOnly: false });
    this.#collecting = { markers: this.#markers, days: this.#days, signal };
  }

  async run(): Promise<RecountResult> {
    const { stream, clock } = this.#options;
    const begun = clock.now();
    await noteSwitch(this.#lease, await stream.identify());
    await this.#finishPlan();
    await this.#lease.update((state) => recounting(state, clock.wall()));
    if (this.#options.tables.skipsOld === true) await this.#skipOld();

    await scanMarkers(this.#options, this.#collecting);
    const scanned = clock.now();
    // Who had the work before may write until it learns that it has lost it.
    await clock.sleep(Math.max(0, begun + SETTLE_MS - scanned), this.#signal);
    const stored = await listDerived(this.#options, this.#lease.current, this.#collecting);
    await this.#readPast(scanned + SETTLE_MS);
    return this.#replace(stored);
  }

  async #replace(stored: ListedItems): Promise<RecountResult> {
    const {
      clock,
      log,
      pages: { pack },
      tables,
    } = this.#options;
    const { batch } = this.#lease.current;
    // Every recount has a batch of its own.
    const generation = `r${batch}`;
    const round = roundOf(batch, true);
    const onRetry = (err: unknown) => log.warn({ err }, 'Cannot write pages; retrying');
    const retries: RetryOptions = { attempts: Infinity, onRetry, clock, signal: this.#signal };
    await addDecided(this.#options, this.#markers, this.#work, batch);
    const cells = new CellReplacement({ ...this.#work, port: this.#options.cells }, stored.blocks, batch);
    const { partitions, count } = counting(this.#markers.take(), (blocks) => cells.replace(blocks));
    const building = buildPages({ pages: tables.pages, pack, generation, round, retries }, partitions);
    const pages = await building.catch(async (error: unknown) => {
      await cells.stop();
      throw error;
    });
    const compared = await cells.end();
    // Nobody has written these pages since, so all servers may keep them.
    const written = { since: batch, to: batch, batches: '[]' };
    const built = { ...(await tables.built?.()), endAt: this.#endAt, written };
    await this.#lease.update((state) => ({ ...state, ...built, gap: null, pages: { generation }, summariesSince: 0 }));
    // Those of recounts that were interrupted, too. If this is interrupted, the next recount deletes the rest.
    await tables.pages.delete(stored.pages);
    return { ...compared, ...this.#days.result(), markers: count(), pages, differing: [], undecided: 0 };
  }

  #newReader(state = this.#lease.current, more: Partial<ReaderOptions> = {}): StreamReader {
    const onRecord = (record: StreamRecord) => this.#remember(record);
    const { stream, keys, clock } = this.#options;
    const options = { clock, signal: this.#signal, pollMs: POLL_MS, onRecord, ...more };
    return new StreamReader(stream, state, keys, options);
  }

  /**
   * Moves past what the scan will have: a stream keeps the records of a day. The end of a shard is told by its next record
   * only, so one without any for a while is read from where it was.
   */
  async #skipOld(): Promise<void> {
    const { clock } = this.#options;
    const { current } = this.#lease;
    const pass = async (state: StreamState, newOnly: boolean, until: number) => {
      const reader = this.#newReader(state, { onRecord: undefined, newOnly });
      const batch = await reader.gather(FEW, (_lately, _gathered, fromAll) => !fromAll && clock.now() < until);
      await this.#lease.update((now) => passedBy(now, batch, clock.wall()));
      return batch.endAt !== undefined;
    };
    try {
      if (await pass(current, false, -Infinity)) return;
      await pass({ ...current, shards: {} }, true, clock.now() + NEW_WITHIN_MS);
    } catch (error) {
      await noteLoss(this.#lease, error);
    }
  }

  #remember(record: StreamRecord): void {
    if (itemKey(record.keys) === this.#fence) this.#fenceSeen = true;
    for (const { key, item, after } of record.contentions ?? []) this.#options.tables.contest?.put(key, item, after);
    const marker = markerNamed(this.#options.keys, record.keys);
    if (marker) this.#markers.override(marker.scope, marker.key, record.after);
  }

  async #finishPlan(): Promise<void> {
    const { state, cells, winners } = this.#options;
    // Pages that cannot even be read must not keep it from rebuilding them.
    await this.#lease.update(withoutPages);
    const stores = { state, cells, winners, days: this.#opening };
    try {
      await finishPlan(this.#lease, this.#newReader(), (batch, folded) =>
        applyFolded(stores, this.#work, batch, folded),
      );
      if (this.#lease.current.plan !== null) await this.#lease.update(settled);
    } catch (error) {
      await noteLoss(this.#lease, error);
    }
  }

  /** Reads what changed since the scan began, and everything before that the cells did not have yet, up to a time. */
  async #readPast(time: number): Promise<void> {
    const { state, tables, clock } = this.#options;
    const signal = this.#signal;
    let reader = this.#newReader();
    let ends = 0;
    for (;;) {
      signal.throwIfAborted();
      if (this.#fence === undefined && clock.now() >= time) {
        const fence = await tables.writeFence?.();
        this.#fence = fence && `${fence.pk}#${fence.sk}`;
      }
      let batch: Batch;
      try {
        batch = await reader.gather(LIMITS, () => false);
      } catch (error) {
        // Records lost before the scan are included in the scan.
        await noteLoss(this.#lease, error);
        reader = this.#newReader();
        continue;
      }
      await this.#days.addRecords(batch.days);
      if (batch.deadLetters.length > 0) await state.putDeadLetters(batch.deadLetters);
      await this.#lease.update((now) => passedBy(now, batch, clock.wall()));
      this.#endAt = batch.endWall ?? this.#endAt;
      if (batch.endAt !== undefined && batch.endAt >= time) {
        ends += 1;
        if (tables.writeFence ? this.#fenceSeen : ends >= ENDS_WITHOUT_FENCE) return;
      }
      const early = batch.endAt === undefined ? 0 : Math.min(time - clock.now(), EARLY_POLL_MS);
      await clock.sleep(Math.max(POLL_MS, early), signal);
    }
  }
}
