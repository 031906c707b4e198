import { reasonFor } from '../errors.js';
import type { Key } from '../keys/keyspace.js';
import type { Collection } from '../model/collection.js';
import { restartOnFailure } from '../retry.js';
import { eachInTurns, type Turn } from '../scheduling/turns.js';
import type { StreamState } from '../store/cell/stream-state.js';
import type { Item } from '../store/database.js';
import { LeaseLost } from '../store/lease.js';
import type { StreamRecord } from '../stream/change.js';
import { StreamReader } from '../stream/consume/reader.js';
import { NoStream, type StreamParts } from '../stream/ports.js';
import { RecordsLost, StreamReplaced } from '../stream/source/record-batches.js';
import { firstState, passedBy } from '../stream/state.js';
import { documentOf, searchChange } from './document.js';
import { IndexFault, IndexFull, type FollowedIndex, type IndexStatus, type SearchChange } from './engine.js';
import { Ranks, type RankList } from './ranks.js';

/** Some items, and the key after which there are more. */
interface SomeItems {
  readonly items: readonly Item[];
  readonly next: Key | null;
}

/** What an index is built from, besides the stream. */
export interface SearchTables {
  /** Some items of the entities table after a key, strongly consistent, for a build in the background. */
  readItems(after: Key | null): Promise<SomeItems>;
  /** All collections in use, strongly consistent. */
  listCollections(): Promise<readonly Collection[]>;
  /** The progress of a consumer of the stream: all records before it were written before now. */
  consumed(): Promise<StreamState | undefined>;
}

export interface FollowIndexOptions extends StreamParts {
  readonly engine: FollowedIndex;
  readonly tables: SearchTables;
  readonly turn: Turn;
  readonly pollMs?: number;
  /** Whether the database has more urgent work, so that the index should proceed slowly. */
  readonly isBusy?: (() => boolean) | undefined;
}

/** How far an index has followed one stream: the content of its checkpoint. */
export interface Progress {
  readonly state: StreamState;
  /** Progress of reading the table; null once all of it is read. A complete index reads it again when ranks change. */
  readonly scan: { readonly after: Key | null } | null;
  readonly read: number;
  /** Whether the stream has been read to its end since. */
  readonly complete: boolean;
  readonly rankBy: RankList;
}

/**
 * Parses the checkpoint of an index: whether it has all documents, the number of items read, and the time since which
 * it may lack changes.
 */
export function readCheckpoint(checkpoint: string) {
  const { complete, read, state } = JSON.parse(checkpoint) as Progress;
  return { complete, read, asOf: state.listedAt, stream: state.stream };
}

/** Pauses between attempts to follow the stream. */
export const FOLLOW_RETRIES = { firstMs: 100, longestMs: 10_000 };

const POLL_MS = 500;
/** Pause between reads while there is more to read, so that other work goes first. */
const REST_MS = 25;
const REST_WHILE_BUSY_MS = 2_000;
const LIMITS = { records: 1_000, cells: 10_000 };
/** How often the checkpoint is written while nothing happens: a shard that is not read for a day counts as lost. */
const STORE_EVERY_MS = 60_000;

/** Keeps an index consistent with the table by following the stream, as one more reader. */
export class IndexFollower {
  readonly #options: FollowIndexOptions;
  #status: IndexStatus = { state: 'building', read: 0, reason: null };
  readonly #ranks: Ranks;
  /** Whether the stream no longer has what the consumer would have to read next. */
  #consumerIsLost = false;
  #completeAt: number | undefined;

  constructor(options: FollowIndexOptions) {
    this.#options = options;
    this.#ranks = new Ranks(options.keys, () => options.tables.listCollections());
  }

  get status(): IndexStatus {
    return this.#status;
  }

  /**
   * A time, by the clock of this process, before which every record in the stream is in the index; undefined if
   * unknown.
   */
  get completeAt(): number | undefined {
    return this.#completeAt;
  }

  /**
   * Builds whatever is missing and follows the stream, until it is aborted or the index is full. Throws LeaseLost if
   * another process takes over the index, and IndexFault.
   */
  run(signal: AbortSignal): Promise<void> {
    const { clock, log } = this.#options;
    return restartOnFailure(
      async (progressed) => {
        try {
          const begun = await this.#begin();
          const read = begun.complete ? begun : await this.#scan(begun, signal);
          await this.#follow(read, signal, progressed);
        } catch (error) {
          if (signal.aborted || !(error instanceof IndexFull)) throw error;
          this.#status = { ...this.#status, state: 'failed', reason: error.message };
          log.error({ err: error }, 'The search index is full and is no longer updated');
        }
      },
      { clock, signal, ...FOLLOW_RETRIES, onFailure: (error) => this.#recover(error) },
    );
  }

  /** Clears an index that cannot follow the stream any more. */
  async #recover(error: unknown): Promise<void> {
    const { engine, log } = this.#options;
    if (error instanceof LeaseLost || error instanceof IndexFault) throw error;
    const reason = reasonFor(error);
    if (error instanceof RecordsLost || error instanceof StreamReplaced) {
      this.#consumerIsLost ||= error instanceof RecordsLost;
      this.#status = { state: 'building', read: 0, reason: null };
      // A source has other pages after each fill, so this is no fault of its stream.
      log[error instanceof RecordsLost ? 'warn' : 'info']({ reason }, 'Rebuilding the search index');
      await engine.clear();
      return;
    }
    if (error instanceof NoStream) this.#status = { ...this.#status, state: 'failed', reason };
    log.warn({ err: error }, 'The search index cannot follow the stream; retrying');
  }

  /** The progress of the index; if it cannot be used, that of an empty index, to be filled from the table. */
  async #begin(): Promise<Progress> {
    const { engine, stream, tables, clock } = this.#options;
    const identity = await stream.identify();
    const stored = await engine.checkpoint();
    const known = stored === undefined ? undefined : (JSON.parse(stored) as Progress);
    if (known?.state.stream === identity) {
      this.#ranks.restore(known.rankBy);
      return this.#noted((await this.#ranks.read()) ? { ...known, scan: { after: null } } : known);
    }
    if (known) throw new StreamReplaced(known.state.stream, identity);
    const consumed = this.#consumerIsLost ? undefined : await tables.consumed();
    const state = consumed?.stream === identity ? { ...consumed, plan: null } : firstState(identity, clock.wall());
    await this.#ranks.read();
    const progress = { state, scan: { after: null }, read: 0, complete: false, rankBy: this.#ranks.list() };
    return this.#store([], progress);
  }

  #noted(progress: Progress): Progress {
    this.#status = { state: progress.complete ? 'following' : 'building', read: progress.read, reason: null };
    return progress;
  }

  async #store(changes: readonly SearchChange[], progress: Progress): Promise<Progress> {
    await this.#options.engine.write(changes, JSON.stringify(progress));
    return this.#noted(progress);
  }

  /** Reads the whole table. Changes made meanwhile are in the stream, which is read from an earlier position. */
  async #scan(begun: Progress, signal: AbortSignal): Promise<Progress> {
    const { tables, clock, isBusy = () => false } = this.#options;
    let progress = begun;
    let reading = progress.scan && tables.readItems(progress.scan.after);
    while (reading) {
      const items: SomeItems = await reading;
      signal.throwIfAborted();
      // The next ones are read while these are written, which takes as long.
      reading = items.next && tables.readItems(items.next);
      // Reported when it is awaited, unless the failure of these comes first.
      reading?.catch(() => undefined);
      progress = await this.#add(progress, items);
      if (isBusy()) await clock.sleep(REST_MS, signal);
    }
    return progress;
  }

  async #scanSome(progress: Progress, signal: AbortSignal): Promise<Progress> {
    const { tables, clock } = this.#options;
    const stored = await this.#add(progress, await tables.readItems(progress.scan?.after ?? null));
    await clock.sleep(REST_MS, signal);
    signal.throwIfAborted();
    return stored;
  }

  async #add(progress: Progress, { items, next }: SomeItems): Promise<Progress> {
    const { keys, turn } = this.#options;
    const changes: SearchChange[] = [];
    await eachInTurns(items, turn, (item) => {
      const document = documentOf(keys, item, this.#ranks.byScope);
      if (document) changes.push({ type: 'put', document });
    });
    const read = progress.read + items.length;
    return this.#store(changes, { ...progress, read, scan: next && { after: next } });
  }

  async #follow(begun: Progress, signal: AbortSignal, onBatch: () => void): Promise<never> {
    const { stream, clock, keys, turn, pollMs = POLL_MS, isBusy = () => false } = this.#options;
    let records: StreamRecord[] = [];
    const onRecord = (record: StreamRecord) => void records.push(record);
    const reader = new StreamReader(stream, begun.state, keys, { clock, signal, pollMs, onRecord });
    let progress = begun;
    let storedAt = clock.now();
    for (;;) {
      records = [];
      const batch = await reader.gather(LIMITS, () => false);
      let scan = progress.scan;
      // The documents keep their old ranks until they are read again; meanwhile the index answers and follows.
      for (const record of records) if (await this.#ranks.learn(record)) scan = { after: null };
      const changes: SearchChange[] = [];
      await eachInTurns(records, turn, (record) => {
        const change = searchChange(keys, record, this.#ranks.byScope);
        if (change) changes.push(change);
      });
      const complete = progress.complete || batch.endAt !== undefined;
      const read = scan?.after === null ? 0 : progress.read;
      const isDue = records.length > 0 || complete !== progress.complete || clock.now() - storedAt >= STORE_EVERY_MS;
      progress = { ...progress, state: passedBy(progress.state, batch, clock.wall()), complete, scan, read };
      if (isDue) {
        progress = await this.#store(changes, { ...progress, rankBy: this.#ranks.list() });
        storedAt = clock.now();
      }
      this.#completeAt = batch.endAt ?? this.#completeAt;
      onBatch();
      if (progress.scan) {
        const until = clock.now() + pollMs;
        do progress = await this.#scanSome(progress, signal);
        while (progress.scan && clock.now() < until);
        continue;
      }
      const restMs = batch.endAt === undefined ? REST_MS : pollMs;
      await clock.sleep(isBusy() ? REST_WHILE_BUSY_MS : restMs, signal);
      signal.throwIfAborted();
    }
  }
}
