import { isDeepStrictEqual } from 'node:util';

import type { Clock } from '../clock.js';
import type { Keyspace } from '../keys/keyspace.js';
import type { SequenceRange, DeadLetter, StreamState } from '../store/cell/stream-state.js';
import { type StreamRecord, changeOf } from './change.js';
import type { CellChanges } from '../model/cell.js';
import { createFold } from './fold.js';
import { type ListedShard, type RecordPage, type ShardStart, StreamFailure, type StreamPort } from './ports.js';
import { pause } from './shared-state.js';
import { type Knowledge, type Loss, mayHaveLost } from './state.js';

/** Records folded, with what it takes to fold the very same ones again. */
export interface Batch {
  readonly ranges: Readonly<Record<string, SequenceRange>>;
  readonly records: number;
  readonly changes: CellChanges;
  readonly deadLetters: readonly DeadLetter[];
  /** Since when nothing more was to be had of any shard, on the clock of this process; undefined where there was more. */
  readonly endAt: number | undefined;
  readonly knowledge: Knowledge;
}

/** Records that the state still asks for are lost. */
export class RecordsLost extends Error {
  /** Undefined where too much time has passed to know what is lost. */
  readonly loss: Loss | undefined;

  constructor(loss: Loss | undefined, reason: string) {
    super(loss === undefined ? reason : `records of shard ${loss.shard} are lost: ${reason}`);
    this.name = 'RecordsLost';
    this.loss = loss;
  }
}

/** The stream itself is no longer there. */
export class StreamGone extends Error {
  constructor(stream: string, options?: ErrorOptions) {
    super(`there is no stream ${stream}`, options);
    this.name = 'StreamGone';
  }
}

/** How much goes into one batch. */
export interface BatchLimits {
  readonly records: number;
  /** Cells of the longest length, and places, which bound memory and writes. */
  readonly cells: number;
}

/** Reads the stream from where a state has come to. */
export interface Reader {
  /**
   * Folds what there is: until nothing more is there and `more` says no, or the batch is full. `more` is told how many
   * records came within the last second.
   */
  gather(limits: BatchLimits, more: (lately: number) => boolean): Promise<Batch>;
  /** Folds exactly what is planned. Throws RecordsLost where not all of it is there any more. */
  replay(plan: Readonly<Record<string, SequenceRange>>): Promise<Pick<Batch, 'changes' | 'deadLetters'>>;
}

export interface ReaderOptions {
  readonly port: StreamPort;
  readonly clock: Clock;
  readonly keys: Pick<Keyspace, 'parseMarker' | 'isUnderMarker'>;
  readonly pollMs: number;
  readonly signal: AbortSignal;
  /** Told of every record that is gathered, in the order of its item's records. */
  readonly onRecord?: ((record: StreamRecord) => void) | undefined;
  /** Whether the shards that are there at first are read from behind their newest records; those to come never are. */
  readonly newOnly?: boolean | undefined;
}

interface Shard {
  readonly id: string;
  /** Whether what it held when it was found is left out. */
  readonly newOnly?: boolean;
  parent: string | undefined;
  /** Last record that was handed out. */
  after: string | undefined;
  since: number;
  ended: boolean;
  iterator: string | undefined;
  /** How many listings named it and not its parent. */
  orphanedFor: number;
  /** Empty pages still to come before the shard counts as read to its end. */
  emptyPagesLeft: number;
}

const isAtFront = ({ emptyPagesLeft }: Shard) => emptyPagesLeft === 0;

/** A page with fewer records, read at the front of a shard, is all there is: the next call can wait. */
const FULL_PAGE = 100;
/** How long a batch waits for the end of a stream that keeps bringing full pages. */
const LONGEST_GATHERING_MS = 5_000;
/** How often the shards are listed while none of them ends. */
const LIST_EVERY_MS = 10_000;
/**
 * A page may be empty although records follow: iterators move through a shard in steps. One that was just opened may
 * have far to go, so it takes several to believe it; one that has just given records is at the front.
 */
const EMPTY_PAGES_WHEN_OPENED = 3;
/** A listing may lag: so many of them have to agree that a shard is no longer there. */
const LISTINGS_TO_BELIEVE = 3;
const SHARDS_AT_A_TIME = 16;
const LONGEST_KEY_KEPT = 4_096;
const LATELY_MS = 1_000;

/** A record as it is set aside. */
export function deadLetterOf(shard: string, { sequence, keys, event }: StreamRecord, reason: string): DeadLetter {
  return { shard, sequence, reason, event, item: JSON.stringify(keys).slice(0, LONGEST_KEY_KEPT) };
}

/** Sequence numbers are decimal and may differ in length. */
export function isAfter(sequence: string, other: string): boolean {
  return BigInt(sequence) > BigInt(other);
}

/** What is gathered of some records. */
function createGathering(keys: ReaderOptions['keys']) {
  const fold = createFold();
  const deadLetters: DeadLetter[] = [];
  let records = 0;
  return {
    fold,
    deadLetters,
    count: () => records,
    take(shard: string, record: StreamRecord): void {
      records += 1;
      const change = changeOf(keys, record);
      if (change === undefined) return;
      const { scope, before, after, fault } = change;
      if (fault !== undefined) deadLetters.push(deadLetterOf(shard, record, fault));
      if (scope === undefined) return;
      if (isDeepStrictEqual(before, after)) return;
      if (before !== undefined) fold.add(scope, before, -1);
      if (after !== undefined) fold.add(scope, after, 1);
    },
  };
}

/** Counts what came within the last second, from a running total. */
function createRecently(clock: Pick<Clock, 'now'>) {
  const seen: { readonly at: number; readonly total: number }[] = [];
  return (total: number): number => {
    const at = clock.now();
    seen.push({ at, total });
    while ((seen[1]?.at ?? Infinity) <= at - LATELY_MS) seen.shift();
    return total - (seen[0]?.total ?? 0);
  };
}

/** Where reading of a shard goes on. */
function startOf({ after, newOnly = false }: Pick<Shard, 'after' | 'newOnly'>): ShardStart {
  if (after !== undefined) return { type: 'after', sequence: after };
  return { type: newOnly ? 'newest' : 'oldest' };
}

/** A reader that begins where `state` is complete, or planned where it has a plan that was replayed. */
export function createReader(options: ReaderOptions, state: StreamState): Reader {
  const { port, clock, keys, pollMs, signal } = options;
  const shards = new Map<string, Shard>();
  let listed: readonly ListedShard[] = [];
  let listedWall = state.listedAt;
  let listedAt: number | undefined;
  let listAgain = true;

  for (const [id, progress] of Object.entries(state.shards)) {
    shards.set(id, {
      id,
      parent: undefined,
      after: state.plan?.[id]?.to ?? progress.after,
      since: progress.since,
      ended: progress.endedAt !== undefined,
      iterator: undefined,
      orphanedFor: 0,
      emptyPagesLeft: EMPTY_PAGES_WHEN_OPENED,
    });
  }

  /** Repeats what fails for a moment until it succeeds or the process is to stop. */
  async function persistently<T>(work: () => Promise<T>): Promise<T> {
    for (let attempt = 0; ; attempt += 1) {
      signal.throwIfAborted();
      try {
        return await work();
      } catch (error) {
        if (error instanceof StreamFailure) throw error;
        await pause(clock, attempt, signal);
      }
    }
  }

  async function list(): Promise<void> {
    const wall = clock.wall();
    const now = clock.now();
    const found: ListedShard[] = [];
    try {
      for (let more = true; more;) {
        const page = await persistently(() => port.listShards(state.stream, found.at(-1)?.id));
        found.push(...page.shards);
        more = page.more;
      }
    } catch (error) {
      if (error instanceof StreamFailure) throw new StreamGone(state.stream, { cause: error });
      throw error;
    }
    for (const { id, parent } of found) {
      const known = shards.get(id);
      if (known !== undefined) known.parent = parent;
      else {
        shards.set(id, {
          id,
          newOnly: options.newOnly === true && listedAt === undefined,
          parent,
          after: undefined,
          // Not there at the listing before, so nothing in it is older than that.
          since: listedWall,
          ended: false,
          iterator: undefined,
          orphanedFor: 0,
          emptyPagesLeft: EMPTY_PAGES_WHEN_OPENED,
        });
      }
    }
    let orphans = false;
    for (const { id, parent } of found) {
      const shard = shards.get(id);
      if (shard === undefined || shard.ended || parent === undefined || shards.has(parent)) continue;
      shard.orphanedFor += 1;
      orphans ||= shard.orphanedFor < LISTINGS_TO_BELIEVE;
    }
    listed = found;
    listedWall = wall;
    listedAt = now;
    listAgain = orphans;
  }

  /** A shard is read when its parent has nothing more to give, so that an item's records come in their order. */
  const isReadable = (shard: Shard) => {
    if (shard.ended) return false;
    if (shard.parent === undefined) return true;
    const parent = shards.get(shard.parent);
    // Its parent is gone, unless a listing just left it out.
    return parent === undefined ? shard.orphanedFor >= LISTINGS_TO_BELIEVE : parent.ended;
  };

  const lost = (shard: string, error: StreamFailure) =>
    new RecordsLost({ shard, kind: error.kind === 'gone' ? 'gone' : 'trimmed' }, error.message);

  /** The next page of a shard; iterators that lived too long are replaced. */
  async function nextPage(
    shard: Pick<Shard, 'id' | 'after' | 'iterator' | 'newOnly'>,
    start = startOf(shard),
  ): Promise<RecordPage> {
    for (let attempt = 0; ; attempt += 1) {
      try {
        shard.iterator ??= await persistently(() => port.openShard(state.stream, shard.id, start));
        const iterator = shard.iterator;
        return await persistently(() => port.readRecords(iterator));
      } catch (error) {
        if (!(error instanceof StreamFailure)) throw error;
        shard.iterator = undefined;
        // Of the oldest records some may be forgotten between two calls; whether any were needed, their age decides.
        // Behind the newest one is another place by now: what came meanwhile would be missed.
        const again =
          (error.kind === 'expired' && start.type !== 'newest') ||
          (error.kind === 'trimmed' && start.type === 'oldest');
        if (!again || attempt >= 10) throw lost(shard.id, error);
      }
    }
  }

  return {
    async gather(limits, more) {
      const gathering = createGathering(keys);
      const recently = createRecently(clock);
      const ranges: Record<string, SequenceRange> = {};
      let endAt: number | undefined;
      let waitedFor: number | undefined;

      /** Reads one page of a shard; gives whether the shard may have more right now. */
      async function advance(shard: Shard): Promise<boolean> {
        const opened = shard.iterator === undefined;
        if (opened) shard.emptyPagesLeft = EMPTY_PAGES_WHEN_OPENED;
        const wall = clock.wall();
        const { records, next } = await nextPage(shard);
        if (mayHaveLost(shard, clock.wall())) {
          const since = new Date(shard.since).toISOString();
          throw new RecordsLost(undefined, `the stream was not read since ${since}, and it keeps records for a day`);
        }
        for (const record of records) {
          gathering.take(shard.id, record);
          options.onRecord?.(record);
        }
        const first = records[0];
        const last = records.at(-1);
        if (first !== undefined && last !== undefined) {
          ranges[shard.id] = { first: ranges[shard.id]?.first ?? first.sequence, to: last.sequence };
          shard.after = last.sequence;
          shard.since = Math.max(shard.since, last.at);
          if (records.length >= FULL_PAGE || !isAtFront(shard)) shard.emptyPagesLeft = 1;
        } else {
          shard.emptyPagesLeft = Math.max(0, shard.emptyPagesLeft - 1);
        }
        if (isAtFront(shard)) shard.since = Math.max(shard.since, wall);
        shard.iterator = next;
        if (next === undefined) {
          shard.ended = true;
          // Where it was split, its children are to be found.
          listAgain = true;
          return true;
        }
        return !isAtFront(shard);
      }

      for (;;) {
        signal.throwIfAborted();
        const begun = clock.now();
        if (listAgain || listedAt === undefined || begun - listedAt >= LIST_EVERY_MS) await list();
        const readable = [...shards.values()].filter(isReadable);
        let mayHaveMore = false;
        for (let index = 0; index < readable.length; index += SHARDS_AT_A_TIME) {
          const answers = await Promise.all(readable.slice(index, index + SHARDS_AT_A_TIME).map(advance));
          mayHaveMore ||= answers.includes(true);
        }
        // A shard may wait to be read that only the next listing makes readable.
        endAt = mayHaveMore || listAgain ? undefined : begun;
        if (gathering.count() >= limits.records || gathering.fold.cells() >= limits.cells) break;
        if (!more(recently(gathering.count()))) {
          waitedFor ??= begun;
          if (!mayHaveMore || clock.now() - waitedFor >= LONGEST_GATHERING_MS) break;
        }
        if (!mayHaveMore) await clock.sleep(pollMs, signal);
      }
      return {
        ranges,
        records: gathering.count(),
        changes: gathering.fold.changes(),
        deadLetters: gathering.deadLetters,
        endAt,
        knowledge: {
          listedAt: listedWall,
          shards: listed,
          ended: new Set([...shards.values()].filter(({ ended }) => ended).map(({ id }) => id)),
          since: new Map([...shards.values()].map(({ id, since }) => [id, since])),
        },
      };
    },

    async replay(plan) {
      const gathering = createGathering(keys);
      for (const [id, { first, to }] of Object.entries(plan)) {
        const missing = new RecordsLost(
          { shard: id, kind: 'trimmed' },
          'what was planned is not in the stream any more',
        );
        const shard: Pick<Shard, 'id' | 'after' | 'iterator'> = { id, after: undefined, iterator: undefined };
        let begin: ShardStart = { type: 'at', sequence: first };
        for (let complete = false; !complete;) {
          const { records, next } = await nextPage(shard, begin);
          for (const record of records) {
            if (shard.after === undefined && record.sequence !== first) throw missing;
            if (isAfter(record.sequence, to)) throw missing;
            gathering.take(id, record);
            shard.after = record.sequence;
            begin = startOf(shard);
            complete = record.sequence === to;
            if (complete) break;
          }
          if (!complete && next === undefined) throw missing;
          shard.iterator = next;
        }
      }
      return { changes: gathering.fold.changes(), deadLetters: gathering.deadLetters };
    },
  };
}
