import type { Clock } from '../clock.js';
import type { Log } from '../log.js';
import type { RetryOptions } from '../retry.js';
import type { MarkerDay } from '../keys/derived-keyspace.js';
import type { BlockName } from '../store/cell/blocks.js';
import type { StreamState } from '../store/cell/stream-state.js';
import { type Lease, whileLeased } from '../store/lease.js';
import type { ApplyOptions } from './apply.js';
import { roundOf } from './apply-pages.js';
import { type StreamRecord, type WireImage, changeOf, contributionAt } from './change.js';
import { type Fold, createFold } from './fold.js';
import { HeldMarkers } from './held-markers.js';
import { type PagesOptions, keptPages } from './kept-pages.js';
import { type DaysOptions, MarkerDays } from './marker-days.js';
import { takeOwnership } from './ownership.js';
import type { CellsPort, StatePort, StreamPort } from './ports.js';
import { type Batch, StreamReader } from './reader.js';
import { type ComparedBlocks, replaceCells } from './recount-cells.js';
import {
  type CheckedPages,
  type PageItem,
  type PartitionEntries,
  type RecountPages,
  buildPages,
  checkPages,
} from './recount-pages.js';
import { RecountDays, type RecountedDays } from './recount-days.js';
import type { RecordKeys } from './record-fold.js';
import { firstState, passedBy, recounting, settled } from './state.js';
import { applyFolded, finishPlan, noteLoss, noteSwitch } from './takeover.js';

/** What there is in the derived table. */
export interface DerivedItems {
  readonly blocks: readonly BlockName[];
  readonly pages: readonly PageItem[];
  /** Days with summaries of readings. */
  readonly days: readonly MarkerDay[];
}

/** What a recount reads besides what a consumer does. */
export interface RecountPort {
  /** Every marker and reading, in wire format; page by page, consistent. */
  scanMarkers(): AsyncIterable<readonly WireImage[]>;
  /** The names of all blocks, all items of pages, and all days with summaries of readings. */
  listDerived(): AsyncIterable<DerivedItems>;
  /** Writes an item that is not a marker into the table of entities, to wait for its record. Returns its keys. */
  writeFence(): Promise<{ readonly pk: string; readonly sk: string }>;
  readonly pages: RecountPages;
}

export interface RecountOptions {
  readonly stream: StreamPort;
  readonly state: StatePort;
  readonly cells: CellsPort;
  readonly pages: PagesOptions;
  readonly days: DaysOptions;
  readonly tables: RecountPort;
  readonly clock: Clock;
  readonly keys: RecordKeys;
  readonly log: Log;
  readonly self: string;
  /** Only reports what differs. A gap stays, and so do the cells and pages. */
  readonly checkOnly: boolean;
  readonly leaseMs?: number | undefined;
}

export interface RecountResult extends ComparedBlocks, CheckedPages, RecountedDays {
  readonly markers: number;
}

/** A record may come after one that was made later by as much, because shards do not wait for one another. */
const SETTLE_MS = 3_000;
const POLL_MS = 200;
const LIMITS = { records: 100_000, cells: 1_000_000 };

const nameOf = ({ pk, sk }: WireImage) => `${String(pk?.['S'])}#${String(sk?.['S'])}`;

/**
 * Counts all markers, replaces the cells and rebuilds all pages, while markers are being written: takes the work over from
 * its owner, reads every marker, then the stream up to a record that was written after the last of them. A marker with a
 * record in the stream counts as its last image says, any other as it was read. A recount that is interrupted leaves a gap.
 * Counts of another layout are upgraded, unless they are only to be checked: then OtherLayout is thrown. Rejects with LeaseLost
 * if another process takes the work over, with NoStream if the table has no stream, and with StreamReplaced if it gets another
 * one meanwhile.
 */
export async function recount(options: RecountOptions, signal: AbortSignal): Promise<RecountResult> {
  const { stream, clock, leaseMs = 10_000 } = options;
  // Without a stream nothing can be recounted: the owner keeps the work then.
  const identity = await stream.identify();
  const first = () => Promise.resolve(firstState(identity, clock.wall()));
  const taking = { first, leaseMs, ownerIsGone: () => false, force: true, upgrade: !options.checkOnly };
  const lease = await takeOwnership({ ...options, ...taking }, signal);
  return whileLeased(lease, (working) => new Recount(options, lease, working).run(), signal);
}

class Recount {
  readonly #options: RecountOptions;
  readonly #lease: Lease<StreamState>;
  readonly #signal: AbortSignal;
  readonly #markers: HeldMarkers;
  readonly #opening: MarkerDays;
  readonly #days: RecountDays;
  #fence: string | undefined;
  #fenceSeen = false;

  constructor(options: RecountOptions, lease: Lease<StreamState>, signal: AbortSignal) {
    this.#options = options;
    this.#lease = lease;
    this.#signal = signal;
    this.#markers = new HeldMarkers(options.keys);
    const { days, keys, checkOnly } = options;
    const holds = () => lease.holds();
    this.#opening = new MarkerDays({ ...options, ...days, signal, holds }, lease.current.version);
    this.#days = new RecountDays({ keys, port: days.port, days: this.#opening, checkOnly });
  }

  async run(): Promise<RecountResult> {
    const { stream, tables, clock, checkOnly } = this.#options;
    await noteSwitch(this.#lease, await stream.identify());
    await this.#finishPlan();
    if (!checkOnly) await this.#lease.update((state) => recounting(state, clock.wall()));

    await this.#scan();
    await clock.sleep(SETTLE_MS, this.#signal);
    const { pk, sk } = await tables.writeFence();
    this.#fence = `${pk}#${sk}`;
    await this.#readToFence();
    return checkOnly ? this.#check() : this.#replace();
  }

  async #replace(): Promise<RecountResult> {
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
    const onRetry = (err: unknown) => log.warn({ err }, 'cannot write pages; retrying');
    const retries: RetryOptions = { attempts: Infinity, onRetry, clock, signal: this.#signal };
    const stored = await this.#listDerived();
    const fold = createFold();
    const { partitions, count } = this.#counting(fold);
    const pages = await buildPages({ pages: tables.pages, pack, generation, round, retries }, partitions);
    const compared = await replaceCells(
      this.#applying(),
      { counted: fold.changes(), stored: stored.blocks },
      batch,
      false,
    );
    await this.#lease.update((state) => ({ ...state, gap: null, pages: { generation }, summariesSince: 0 }));
    // Those of recounts that were interrupted, too. If this is interrupted, the next recount deletes the rest.
    await tables.pages.delete(stored.pages);
    return { ...compared, ...this.#days.result(), markers: count(), pages, differing: [] };
  }

  async #check(): Promise<RecountResult> {
    const { tables } = this.#options;
    const { batch, pages: kept } = this.#lease.current;
    const stored = await this.#listDerived();
    const fold = createFold();
    const { partitions, count } = this.#counting(fold);
    let pages: CheckedPages = { pages: 0, differing: [] };
    if (kept === null) for await (const _ of partitions);
    else {
      const own = stored.pages.filter((item) => item.of === 'pages' && item.generation === kept.generation);
      pages = await checkPages({ pages: tables.pages, generation: kept.generation }, partitions, own);
    }
    const compared = await replaceCells(
      this.#applying(),
      { counted: fold.changes(), stored: stored.blocks },
      batch,
      true,
    );
    return { ...compared, ...pages, ...this.#days.result(), markers: count() };
  }

  /** The markers by partition, added to a fold as they are taken, and how many they were. */
  #counting(fold: Fold) {
    let markers = 0;
    async function* counted(held: HeldMarkers): AsyncGenerator<PartitionEntries> {
      for await (const { scope, partition, markers: some } of held.take()) {
        for (const {
          entry: {
            marker: { position },
          },
          place,
        } of some) {
          fold.add(scope, contributionAt(position.lng, position.lat, place), 1);
        }
        markers += some.length;
        yield { scope, partition, entries: some.map(({ entry }) => entry) };
      }
    }
    return { partitions: counted(this.#markers), count: () => markers };
  }

  async #listDerived(): Promise<{ readonly blocks: BlockName[]; readonly pages: PageItem[] }> {
    const blocks: BlockName[] = [];
    const pages: PageItem[] = [];
    const { gap, summariesSince } = this.#lease.current;
    const inexactSince = summariesSince === 0 ? Date.parse(gap?.since ?? '') : -Infinity;
    for await (const some of this.#options.tables.listDerived()) {
      this.#signal.throwIfAborted();
      blocks.push(...some.blocks);
      pages.push(...some.pages);
      await this.#days.addStored(some.days, inexactSince);
    }
    return { blocks, pages };
  }

  #newReader(): StreamReader {
    const onRecord = (record: StreamRecord) => this.#remember(record);
    const options = { ...this.#options, port: this.#options.stream, pollMs: POLL_MS, signal: this.#signal, onRecord };
    return new StreamReader(options, this.#lease.current);
  }

  /** What cells and pages should have is what the last record left. What they have is what the first one that they lack found. */
  #remember(record: StreamRecord): void {
    const { keys, checkOnly } = this.#options;
    if (nameOf(record.keys) === this.#fence) this.#fenceSeen = true;
    const { scope, key } = changeOf(keys, record) ?? {};
    if (scope === undefined || key === undefined) return;
    if (!checkOnly) this.#markers.override(scope, key, record.after);
    else if (!this.#markers.isOverridden(scope, key)) this.#markers.override(scope, key, record.before);
  }

  async #finishPlan(): Promise<void> {
    const { state, pages, checkOnly } = this.#options;
    // Pages that cannot even be read must not keep it from rebuilding them.
    if (!checkOnly) await this.#lease.update((now) => ({ ...now, pages: null }));
    const applying = { ...this.#applying(), state, pages: keptPages(this.#lease.current, pages), days: this.#opening };
    try {
      await finishPlan(this.#lease, this.#newReader(), async (batch, folded) => {
        const { pagesFailed } = await applyFolded(applying, batch, folded);
        if (pagesFailed) await this.#lease.update((now) => ({ ...now, pages: null }));
      });
      if (this.#lease.current.plan !== null) await this.#lease.update(settled);
    } catch (error) {
      await noteLoss(this.#lease, error);
    }
  }

  async #scan(): Promise<void> {
    const { tables, keys } = this.#options;
    for await (const page of tables.scanMarkers()) {
      this.#signal.throwIfAborted();
      for (const image of page) {
        const scope = changeOf(keys, {
          sequence: '0',
          event: '',
          at: 0,
          keys: image,
          before: undefined,
          after: image,
        })?.scope;
        if (scope !== undefined) this.#markers.add(scope, image);
      }
      await this.#days.addItems(page);
    }
  }

  /** Reads what changed since the scan began, and everything before that the cells did not have yet. */
  async #readToFence(): Promise<void> {
    const { state, clock } = this.#options;
    const signal = this.#signal;
    let reader = this.#newReader();
    for (;;) {
      signal.throwIfAborted();
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
      if (!this.#options.checkOnly) await this.#lease.update((now) => passedBy(now, batch, clock.wall()));
      if (this.#fenceSeen && batch.endAt !== undefined) return;
      await clock.sleep(POLL_MS, signal);
    }
  }

  #applying(): ApplyOptions {
    const { cells: port, clock, log } = this.#options;
    return { port, clock, signal: this.#signal, log, holds: () => this.#lease.holds() };
  }
}
