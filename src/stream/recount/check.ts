import { CellportError } from '../../errors.js';
import { addSums, NO_SUMS } from '../../geo/cell-sums.js';
import { REQUEST_LIMITS } from '../../model/dynamodb-limits.js';
import type { OrderedMarker } from '../../pages/ordered-marker.js';
import { ABSENT_BLOCK, type BlockDelta, type BlockName } from '../../store/cell/blocks.js';
import type { StreamState } from '../../store/cell/stream-state.js';
import type { StoredPage } from '../../store/page/pages.js';
import { chunks, mapConcurrently } from '../../store/request/pacing.js';
import { blockChanges } from '../cells/apply.js';
import { CellFold } from '../cells/fold.js';
import { changeOf, DERIVED_FORMAT, isAfter, type StreamRecord } from '../change.js';
import { OtherFormat } from '../consume/owners.js';
import { StreamReader } from '../consume/reader.js';
import { MarkerDays } from '../days/apply.js';
import { roundOf } from '../pages/apply.js';
import { RecordsLost, StreamReplaced } from '../source/record-batches.js';
import { firstState, moved, settled, withGap } from '../state.js';
import { differs, emptyBlock, nameOfBlock } from './cells.js';
import { RecountDays } from './days.js';
import { HeldMarkers } from './held-markers.js';
import { comparedPages, type PageName, type Partition, type RecountPages } from './pages.js';
import { addDecided, counting, listDerived, scanMarkers, type RecountOptions, type RecountResult } from './scan.js';

/** A record may come after one that was made later by as much, because shards do not wait for one another. */
const SETTLE_MS = 3_000;
const POLL_MS = 50;
const LIMITS = { records: 100_000, cells: 1_000_000 };
/** How often what has changed is compared again. */
const ROUNDS = 100;
const CHUNKS_AT_A_TIME = 4;

interface Read {
  readonly shard: string;
  readonly record: StreamRecord;
}

const partitionKey = ({ scope, partition }: Partition) => `${scope}/${partition}`;

/** Whether the cells of a state include a record. */
function includes({ shards }: StreamState, { shard, record }: Read): boolean {
  const after = shards[shard]?.after;
  return after !== undefined && !isAfter(record.sequence, after);
}

/**
 * Compares all cells, pages and summaries with the markers while servers go on, without the lease: it writes nothing.
 * Each block and page names the last batch that changed it, and the state the records of each batch. So of what is read
 * after a state, all that no later batch has changed must be what the records up to there give; the rest is compared
 * again with a later state. A marker is as its last record up to there left it or, without one, as its first record
 * since found it or, without any, as it was scanned. Throws OtherFormat if the counts have another format, and CONFLICT
 * if a recount or a gap intervenes.
 */
export class Check {
  readonly #options: RecountOptions;
  readonly #stream: string;
  readonly #signal: AbortSignal;
  readonly #markers: HeldMarkers;
  readonly #days: RecountDays;
  /** The last record read of each shard. */
  readonly #last = new Map<string, string>();
  /** Those read that what is expected does not include yet. */
  #later: Read[] = [];
  #expected = new Map<string, BlockDelta>();
  /** Still to be compared. */
  readonly #blocks = new Map<string, BlockName>();
  readonly #partitions = new Map<string, Partition>();
  readonly #compared = new Set<string>();
  readonly #drifted: BlockName[] = [];
  readonly #differing = new Map<string, PageName>();

  constructor(options: RecountOptions, stream: string, signal: AbortSignal) {
    this.#options = options;
    this.#stream = stream;
    this.#signal = signal;
    const { keys, days, clock, log } = options;
    this.#markers = new HeldMarkers(keys);
    const opening = new MarkerDays(days, { clock, log, signal, holds: () => false }, 0);
    this.#days = new RecountDays({ keys, port: days.port, days: opening, checkOnly: true });
  }

  async run(): Promise<RecountResult> {
    const { clock, log, tables } = this.#options;
    const signal = this.#signal;
    const collecting = { markers: this.#markers, days: this.#days, signal };
    const begun = await this.#load();
    const readAll = this.#reading(begun);
    await scanMarkers(this.#options, collecting);
    const stored = await listDerived(this.#options, begun, collecting);
    await clock.sleep(SETTLE_MS, signal);
    await readAll(clock.now());
    await addDecided(this.#options, this.#markers, { clock, log, signal, holds: () => true }, Infinity);

    this.#expected = new Map(stored.blocks.map((name) => [nameOfBlock(name), emptyBlock(name)]));
    const { partitions, count } = counting(
      this.#markers.take(() => true),
      (counted) => counted.forEach((block) => this.#expected.set(nameOfBlock(block), block)),
    );
    for await (const { scope, partition } of partitions)
      this.#partitions.set(partitionKey({ scope, partition }), { scope, partition });
    for (const each of stored.pages)
      if (each.of === 'pages' && each.generation === begun.pages?.generation)
        this.#partitions.set(partitionKey(each), each);
    for (const [name, block] of this.#expected) this.#blocks.set(name, block);
    const blocks = this.#blocks.size;
    if (begun.pages === null) this.#partitions.clear();
    for (let round = 0; round < ROUNDS && this.#blocks.size + this.#partitions.size > 0; round += 1) {
      if (round > 0) await clock.sleep(POLL_MS, signal);
      await readAll();
      const state = await this.#load(begun);
      if (!this.#hasRead(state, begun)) continue;
      await this.#pass(state);
      await this.#compareBlocks(state);
      await this.#comparePages(state, tables.pages);
    }
    return {
      blocks,
      drifted: this.#drifted,
      pages: this.#compared.size,
      differing: [...this.#differing.values()],
      ...this.#days.result(),
      markers: count(),
      undecided: this.#blocks.size + this.#partitions.size,
    };
  }

  /** The state as it is now; nothing but its progress may have changed since an earlier one. */
  async #load(begun?: StreamState): Promise<StreamState> {
    const { state: port, clock } = this.#options;
    const found = (await port.load()) ?? firstState(this.#stream, clock.wall());
    if (found.layout !== DERIVED_FORMAT) throw new OtherFormat(found.layout);
    const { message } = new StreamReplaced(found.stream, this.#stream);
    const state = found.stream === this.#stream ? found : moved(found, this.#stream, message, clock.wall());
    const hasChanged = begun?.gap?.reason !== state.gap?.reason || begun?.pages?.generation !== state.pages?.generation;
    if (begun !== undefined && hasChanged) {
      throw new CellportError('CONFLICT', 'a recount, or a gap in the stream, changed what is checked; check again');
    }
    return state;
  }

  /** Returns a function that reads what the stream has since a state, up to a time of the clock if one is given. */
  #reading(begun: StreamState) {
    const onRecord = (record: StreamRecord, shard: string) => this.#remember({ shard, record });
    const { stream: port, keys, clock } = this.#options;
    const signal = this.#signal;
    const open = (state: StreamState) =>
      new StreamReader(port, { ...state, plan: null }, keys, { clock, signal, pollMs: POLL_MS, onRecord });
    let reader = open(begun);
    return async (time = -Infinity): Promise<void> => {
      for (;;) {
        signal.throwIfAborted();
        try {
          const { endAt = -Infinity, days } = await reader.gather(LIMITS, () => false);
          await this.#days.addRecords(days);
          if (endAt >= time) return;
        } catch (error) {
          // What the cells have missed was scanned.
          if (!(error instanceof RecordsLost)) throw error;
          reader = open(withGap(begun, error.message, clock.wall(), error.loss));
        }
      }
    };
  }

  #remember(read: Read): void {
    const { shard, record } = read;
    const last = this.#last.get(shard);
    if (last !== undefined && !isAfter(record.sequence, last)) return;
    this.#last.set(shard, record.sequence);
    const { scope, key } = changeOf(this.#options.keys, record) ?? {};
    for (const one of record.contentions ?? []) this.#options.tables.contest?.begin(one);
    if (record.contentions) this.#later.push(read);
    if (scope === undefined || key === undefined) return;
    this.#later.push(read);
    if (!this.#markers.isOverridden(scope, key)) this.#markers.override(scope, key, record.before);
  }

  /** Whether all records up to the end of a state's batch have been read. */
  #hasRead(state: StreamState, begun: StreamState): boolean {
    return Object.entries(settled(state).shards).every(([shard, { after }]) => {
      const last = this.#last.get(shard) ?? begun.shards[shard]?.after;
      return after === undefined || (last !== undefined && !isAfter(after, last));
    });
  }

  /** The records of markers among some, and those that follow from records of items, which are passed now or later. */
  async #recordsOf(reads: readonly Read[], passed: boolean): Promise<StreamRecord[]> {
    const own = reads.filter(({ record }) => record.contentions === undefined);
    const contentions = reads.flatMap(({ record }) => record.contentions ?? []);
    const decided = (await this.#options.tables.contest?.records(contentions, passed)) ?? [];
    return [...own.map(({ record }) => record), ...decided];
  }

  /** The changes of records to blocks. */
  #changesOf(records: readonly StreamRecord[]): BlockDelta[] {
    const fold = new CellFold();
    for (const record of records) {
      const { scope, before, after } = changeOf(this.#options.keys, record) ?? {};
      if (scope !== undefined && before !== undefined) fold.add(scope, before, -1);
      if (scope !== undefined && after !== undefined) fold.add(scope, after, 1);
    }
    return blockChanges(fold.changes());
  }

  /** Lets what is expected include all records of a state's complete batches. */
  async #pass(state: StreamState): Promise<void> {
    const passed = await this.#recordsOf(
      this.#later.filter((read) => includes(state, read)),
      true,
    );
    this.#later = this.#later.filter((read) => !includes(state, read));
    for (const record of passed) {
      const { scope = '', key = '' } = changeOf(this.#options.keys, record) ?? {};
      this.#markers.override(scope, key, record.after);
    }
    for (const delta of this.#changesOf(passed)) this.#expected.set(nameOfBlock(delta), this.#with(delta));
  }

  /** What is expected of a block with some more changes. */
  #with({ scope, parent, deltas }: BlockDelta): BlockDelta {
    const sums = new Map(this.#expected.get(nameOfBlock({ scope, parent }))?.deltas);
    for (const [child, delta] of deltas) sums.set(child, addSums(sums.get(child) ?? NO_SUMS, delta));
    return { scope, parent, deltas: sums };
  }

  /** Compares the blocks that no later batch has changed. */
  async #compareBlocks(state: StreamState): Promise<void> {
    const planned = this.#later.filter((read) => includes(settled(state), read));
    const ahead = this.#changesOf(await this.#recordsOf(planned, false));
    const after = new Map(ahead.map((delta) => [nameOfBlock(delta), this.#with(delta)]));
    const compare = async (names: readonly BlockName[]) => {
      const found = await this.#options.cells.read(names, true);
      for (const [index, { scope, parent }] of names.entries()) {
        const { batch = 0, children } = found[index] ?? ABSENT_BLOCK;
        if (batch > state.batch) continue;
        const name = nameOfBlock({ scope, parent });
        const expected = (batch === state.batch ? after.get(name) : undefined) ?? this.#expected.get(name);
        if (differs(children, expected?.deltas ?? new Map())) this.#drifted.push({ scope, parent });
        this.#blocks.delete(name);
      }
    };
    await mapConcurrently(chunks([...this.#blocks.values()], REQUEST_LIMITS.batchGet), CHUNKS_AT_A_TIME, compare);
  }

  /** Compares the pages that include no record after the complete batches. */
  async #comparePages({ pages: kept, plan, batch }: StreamState, store: RecountPages): Promise<void> {
    if (kept === null) return;
    const isCurrent = ({ round }: StoredPage) => round < roundOf(plan === null ? batch + 1 : batch, false);
    const compare = async (name: string, { scope, partition }: Partition, entries: readonly OrderedMarker[]) => {
      const found = await store.read({ scope, partition, generation: kept.generation });
      const { right, wrong } = comparedPages(partition, entries, found, isCurrent);
      for (const begin of wrong) this.#differing.set(`${name}/${begin}`, { scope, begin });
      for (const begin of [...right, ...wrong]) this.#compared.add(`${name}/${begin}`);
      const isDone = found?.every(({ begin }) => this.#compared.has(`${name}/${begin}`)) ?? true;
      if (isDone) this.#partitions.delete(name);
    };
    const empty = new Map(this.#partitions);
    for await (const each of this.#markers.take((one) => this.#partitions.has(partitionKey(one)))) {
      empty.delete(partitionKey(each));
      await compare(
        partitionKey(each),
        each,
        each.markers.map(({ entry }) => entry),
      );
    }
    for (const [name, each] of empty) await compare(name, each, []);
  }
}
