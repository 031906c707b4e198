import { wallAt, type Clock } from '../../clock.js';
import type { Keyspace } from '../../keys/keyspace.js';
import type { SequenceRange, StreamState } from '../../store/cell/stream-state.js';
import { chunks } from '../../store/request/pacing.js';
import { isAfter, type StreamRecord } from '../change.js';
import type { RecentChanges } from '../pages/publisher.js';
import type { ShardStart, StreamPort } from '../ports.js';
import { nextRecords, RecordsLost, startOf, type ShardCursor, type StreamSource } from '../source/record-batches.js';
import { Shards, type Shard } from '../source/shards.js';
import { mayHaveLost, type RecordRanges, type ShardsSeen } from '../state.js';
import { RecordFold, type Folded } from './record-fold.js';

/** Folded records. */
export interface Replayed extends Folded {
  /** What `OnEnd` has not taken. */
  readonly recent: RecentChanges;
}

/** Folded records, with everything needed to fold exactly the same ones again. */
export interface Batch extends Replayed, RecordRanges {
  /** When all shards were read to the end, by the clock of this process; undefined if there was more to read. */
  readonly endAt: number | undefined;
  /** The same in milliseconds since 1970. */
  readonly endWall: number | undefined;
  readonly seen: ShardsSeen;
}

/** Called while records are gathered, with when the stream was read to its end, in milliseconds since 1970. */
export type OnEnd = (fold: RecordFold, endAt: number) => Promise<void>;

/** Limits of one batch. */
export interface BatchLimits {
  readonly records: number;
  /** Number of finest cells and places, which determine memory and writes. */
  readonly cells: number;
}

/** How the stream is read. */
export interface ReaderOptions {
  readonly clock: Clock;
  readonly signal: AbortSignal;
  readonly pollMs: number;
  /** Called with every record read; the records of one item are in order. */
  readonly onRecord?: ((record: StreamRecord, shard: string) => void) | undefined;
  /** Whether to skip the existing records of the shards that are found first. Later shards are read from the start. */
  readonly newOnly?: boolean | undefined;
}

/** Maximum time that a batch waits for the end of a stream that keeps returning full answers. */
const LONGEST_GATHERING_MS = 5_000;
const SHARDS_AT_A_TIME = 16;
const LATELY_MS = 1_000;

interface Gathering {
  /** When the first of the last answers was asked for, by the clock of this process. */
  begunAt: number;
  readonly fold: RecordFold;
  readonly ranges: Record<string, SequenceRange>;
}

/** Returns the number of records in the last second, given a running total. */
function createRecently(clock: Clock) {
  const seen: { readonly at: number; readonly total: number }[] = [];
  return (total: number): number => {
    const at = clock.now();
    seen.push({ at, total });
    while ((seen[1]?.at ?? Infinity) <= at - LATELY_MS) seen.shift();
    return total - (seen[0]?.total ?? 0);
  };
}

/**
 * Reads the stream from where a state is complete, or from the end of its plan, which must have been replayed by then.
 */
export class StreamReader {
  readonly #source: StreamSource;
  readonly #keys: Keyspace;
  readonly #options: ReaderOptions;
  readonly #shards: Shards;

  constructor(port: StreamPort, state: StreamState, keys: Keyspace, options: ReaderOptions) {
    const { clock, signal } = options;
    this.#source = { port, stream: state.stream, clock, signal };
    this.#keys = keys;
    this.#options = options;
    this.#shards = new Shards(this.#source, state, options.newOnly === true);
  }

  /**
   * Folds records until there are no more and `more` returns false, or the batch is full. `more` receives the numbers
   * of records read within the last second and in total, and whether every shard that goes on had one.
   */
  async gather(
    limits: BatchLimits,
    more: (lately: number, gathered: number, fromAll: boolean) => boolean,
    onEnd?: OnEnd,
  ): Promise<Batch> {
    const { clock, signal, pollMs } = this.#options;
    const gathering: Gathering = {
      begunAt: 0,
      fold: new RecordFold(this.#keys, { keepsRecent: onEnd !== undefined }),
      ranges: {},
    };
    const { fold, ranges } = gathering;
    const recently = createRecently(clock);
    let endingSince: number | undefined;
    for (;;) {
      signal.throwIfAborted();
      const begun = clock.now();
      gathering.begunAt = begun;
      await this.#shards.refresh();
      const mayHaveMore = await this.#readShards(gathering);
      let complete = fold.records >= limits.records || fold.size >= limits.cells;
      if (!complete && !more(recently(fold.records), fold.records, this.#shards.hasOnly(ranges))) {
        endingSince ??= begun;
        complete = !mayHaveMore || clock.now() - endingSince >= LONGEST_GATHERING_MS;
      }
      if (complete) {
        // A shard may become readable only after the next listing.
        const endAt = mayHaveMore || this.#shards.listingIsDue ? undefined : gathering.begunAt;
        return {
          ranges,
          records: fold.records,
          ...fold.folded(),
          recent: fold.takeRecent(),
          endAt,
          endWall: endAt === undefined ? undefined : wallAt(endAt, clock),
          seen: this.#shards.seen(),
        };
      }
      if (mayHaveMore) continue;
      if (!this.#shards.listingIsDue) await onEnd?.(fold, wallAt(gathering.begunAt, clock));
      await clock.sleep(pollMs, signal);
    }
  }

  /** Reads some records of each readable shard. Returns whether any of them may have more at once. */
  async #readShards(gathering: Gathering): Promise<boolean> {
    let mayHaveMore = false;
    for (const shards of chunks(this.#shards.readable(), SHARDS_AT_A_TIME)) {
      const answers = await Promise.all(shards.map((shard) => this.#readShard(shard, gathering)));
      mayHaveMore ||= answers.includes(true);
    }
    return mayHaveMore;
  }

  async #readShard(shard: Shard, gathering: Gathering): Promise<boolean> {
    const { clock, onRecord } = this.#options;
    const { fold, ranges } = gathering;
    this.#shards.opening(shard);
    const { iterator } = shard;
    const now = clock.now();
    const batch = await nextRecords(this.#source, shard, startOf(shard));
    const began = batch.begunAt ?? now;
    gathering.begunAt = Math.min(gathering.begunAt, began);
    if (mayHaveLost(shard.since, clock.wall())) {
      const since = new Date(shard.since).toISOString();
      throw new RecordsLost(undefined, `the stream was not read since ${since}, but keeps records only for a day`);
    }
    for (const record of batch.records) {
      fold.add(shard.id, record);
      onRecord?.(record, shard.id);
    }
    const [first, last] = [batch.records[0], batch.records.at(-1)];
    if (first !== undefined && last !== undefined) {
      ranges[shard.id] = { first: ranges[shard.id]?.first ?? first.sequence, to: last.sequence };
    }
    // Reading replaces an iterator that has expired.
    return this.#shards.advance(shard, batch, wallAt(began, clock), shard.iterator !== iterator);
  }

  /** Folds exactly the planned records. Throws RecordsLost if the stream no longer has all of them. */
  async replay(plan: Batch['ranges']): Promise<Replayed> {
    const fold = new RecordFold(this.#keys, { keepsRecent: true });
    for (const [id, range] of Object.entries(plan)) await this.#replayShard(id, range, fold);
    return { ...fold.folded(), recent: fold.takeRecent() };
  }

  async #replayShard(id: string, { first, to }: SequenceRange, fold: RecordFold): Promise<void> {
    const lost = new RecordsLost({ shard: id, kind: 'trimmed' }, 'the stream no longer has all planned records');
    const cursor: ShardCursor = { id, after: undefined, iterator: undefined };
    let start: ShardStart = { type: 'at', sequence: first };
    for (;;) {
      const { records, next } = await nextRecords(this.#source, cursor, start);
      for (const [at, record] of records.entries()) {
        if (cursor.after === undefined && record.sequence !== first) throw lost;
        if (isAfter(record.sequence, to)) throw lost;
        fold.add(id, record);
        cursor.after = record.sequence;
        // An item of a table of others may have several markers, each with a record.
        if (record.sequence === to && records[at + 1]?.sequence !== to) return;
        start = startOf(cursor);
      }
      if (next === undefined) throw lost;
      cursor.iterator = next;
    }
  }
}
