import { wallAt } from '../../clock.js';
import type { StreamState } from '../../store/cell/stream-state.js';
import { StreamFailure, type ListedShard, type RecordBatch } from '../ports.js';
import type { ShardsSeen } from '../state.js';
import { currentStream, StreamReplaced, untilAnswered, type ShardCursor, type StreamSource } from './record-batches.js';

/** How far one shard has been read. */
export interface Shard extends ShardCursor {
  parent: string | undefined;
  /** A time: everything written before it has been read. */
  since: number;
  ended: boolean;
  /** Whether a listing has named it: only then is its parent known. */
  named: boolean;
  /** Number of listings that may not have shown its parent or, once it has ended, its children. */
  unclearFor: number;
  /** When it was last about to be read, by the clock of this process. */
  openedAt: number;
  /** Number of further empty answers before the shard counts as read up to now. */
  emptyAnswersLeft: number;
  /** Whether its end has been seen since it was opened. */
  endSeen: boolean;
  /** Whether the last answer shows that more follow: it was full, or its last record is old. */
  behind: boolean;
}

/** The stream no longer exists. */
class StreamGone extends Error {
  override readonly name = 'StreamGone';

  constructor(stream: string, options?: ErrorOptions) {
    super(`the stream ${stream} does not exist`, options);
  }
}

// The simulation verifies the limits that decide what to trust: in its streams a fifth of the answers are empty although
// records follow, and listings omit young shards and one old shard in twenty. The others only trade calls for delay.

/**
 * An answer with fewer records has all there is, if the shard was read to its end a moment ago: the next call can wait. Where
 * records keep coming, no answer after a full one would ever be empty.
 */
const FULL_BATCH = 100;
/** A record names the whole second of its write, and shows a little later. */
const LATE_MS = 2_000;
const MINUTE_MS = 60_000;
/** Interval at which the stream is identified and its shards are listed while none of them ends. */
export const LIST_EVERY_MS = 10_000;
/**
 * An answer may be empty although records follow, because iterators move through a shard in steps. A new iterator may be
 * far from the end, so several empty answers in a row are required, and so may one that was not read for a while; one that
 * returns records after it has been at the end is near it.
 */
const EMPTY_ANSWERS_WHEN_OPENED = 3;
const RESTED_MS = 1_000;
/** A listing may lag, so several must agree that a shard is gone, or which children it has. */
const LISTINGS_TO_BELIEVE = 5;
/** All children of a shard that ended longer ago are listed, even if the clocks of two owners differ. */
const CHILDREN_LISTED_MS = 60_000;

const isReadUpToNow = ({ emptyAnswersLeft, behind }: Shard) => emptyAnswersLeft === 0 && !behind;

/** The shards of a stream, each with its progress. */
export class Shards {
  readonly #source: StreamSource;
  readonly #newOnly: boolean;
  readonly #shards = new Map<string, Shard>();
  #listed: readonly ListedShard[] = [];
  /** When they were last listed, in wall-clock time and by the clock of this process. */
  #listedWall: number;
  #listedAt = -Infinity;
  #listAgain = true;
  /** Whether a record had a time other than a full minute: those of DynamoDB Local name no seconds. */
  #namesSeconds = false;

  /** The shards known to a state. `newOnly`: of the shards listed first, only new records are read. */
  constructor(source: StreamSource, { shards, plan, listedAt }: StreamState, newOnly: boolean) {
    this.#source = source;
    this.#newOnly = newOnly;
    this.#listedWall = listedAt;
    for (const [id, { after, since, endedAt }] of Object.entries(shards)) {
      const shard = this.#add(id, plan?.[id]?.to ?? after, since, endedAt !== undefined);
      if (source.clock.wall() - (endedAt ?? Infinity) > CHILDREN_LISTED_MS) shard.unclearFor = LISTINGS_TO_BELIEVE;
    }
  }

  #add(id: string, after: string | undefined, since: number, ended: boolean, newOnly = false): Shard {
    const unread = {
      parent: undefined,
      iterator: undefined,
      named: false,
      unclearFor: 0,
      emptyAnswersLeft: 0,
      endSeen: false,
      behind: false,
    };
    const added = { id, openedAt: -Infinity, newOnly, after, since, ended, ...unread };
    this.#shards.set(id, added);
    return added;
  }

  /** Whether a listing may lack a shard that should be read now. */
  get listingIsDue(): boolean {
    return this.#listAgain;
  }

  /**
   * Lists the shards if one has ended since, or some time has passed. Throws StreamReplaced if the table has another
   * stream by then, and StreamGone if this one cannot be listed: all shards of a stream end when it is disabled.
   */
  async refresh(): Promise<void> {
    const { clock, stream } = this.#source;
    const now = clock.now();
    if (!this.#listAgain && now - this.#listedAt < LIST_EVERY_MS) return;
    const named = await currentStream(this.#source.port, clock, this.#source.signal);
    if (named !== stream) throw new StreamReplaced(stream, named);
    const listed = await this.#list().catch((error: unknown) => {
      throw error instanceof StreamFailure ? new StreamGone(stream, { cause: error }) : error;
    });
    const newOnly = this.#newOnly && this.#listedAt === -Infinity;
    for (const { id, parent } of listed) {
      // It was not in the previous listing, so nothing in it is older.
      const shard = this.#shards.get(id) ?? this.#add(id, undefined, this.#listedWall, false, newOnly);
      Object.assign(shard, { parent, named: true });
    }
    const unclear = [...this.#shards.values()].filter((shard) => shard.ended || !this.#isClear(shard));
    for (const shard of unclear) shard.unclearFor += 1;
    this.#listed = listed;
    this.#listedWall = wallAt(now, clock);
    this.#listedAt = now;
    this.#listAgain = unclear.some(({ unclearFor }) => unclearFor < LISTINGS_TO_BELIEVE);
  }

  async #list(): Promise<ListedShard[]> {
    const { port, stream, clock, signal } = this.#source;
    const found: ListedShard[] = [];
    for (let more = true; more;) {
      const some = await untilAnswered(clock, signal, () => port.listShards(stream, found.at(-1)?.id));
      found.push(...some.shards);
      more = some.more;
    }
    return found;
  }

  /** Whether it is known that a shard has no parent, or what its parent still has. */
  #isClear({ after, named, parent }: Shard): boolean {
    // If it was read before, then after the end of its parent.
    return after !== undefined || (named && (parent === undefined || this.#shards.has(parent)));
  }

  /** Shards whose parents have no more records, so that the records of an item are in order. */
  readable(): Shard[] {
    return [...this.#shards.values()].filter((shard) => {
      if (shard.ended) return false;
      // Its parent is gone, unless listings have just omitted it.
      if (!this.#isClear(shard)) return shard.unclearFor >= LISTINGS_TO_BELIEVE;
      const parent = shard.parent === undefined ? undefined : this.#shards.get(shard.parent);
      return parent === undefined || parent.ended;
    });
  }

  /** Whether all shards that have not ended are among some. */
  hasOnly(some: Readonly<Record<string, unknown>>): boolean {
    return !this.#listAgain && [...this.#shards.values()].every(({ id, ended }) => ended || some[id] !== undefined);
  }

  /** Call before a shard is read. */
  opening(shard: Shard): void {
    const now = this.#source.clock.now();
    if (isReadUpToNow(shard) && now - shard.openedAt > RESTED_MS) this.#opened(shard);
    shard.openedAt = now;
  }

  #opened(shard: Shard): void {
    shard.emptyAnswersLeft = EMPTY_ANSWERS_WHEN_OPENED;
    shard.endSeen = false;
  }

  /**
   * Moves a shard past records requested at `wall`, with a new iterator if `reopened`. Returns whether it may have more at
   * once.
   */
  advance(shard: Shard, { records, next }: RecordBatch, wall: number, reopened: boolean): boolean {
    if (reopened) this.#opened(shard);
    const last = records.at(-1);
    if (last === undefined) shard.emptyAnswersLeft = Math.max(0, shard.emptyAnswersLeft - 1);
    else {
      shard.after = last.sequence;
      shard.since = Math.max(shard.since, last.at);
      if (!shard.endSeen) this.#opened(shard);
      else if (shard.emptyAnswersLeft > 0) shard.emptyAnswersLeft = 1;
    }
    shard.endSeen ||= shard.emptyAnswersLeft === 0;
    this.#namesSeconds ||= records.some(({ at }) => at % MINUTE_MS !== 0);
    // Answers of large records are short although more follow.
    const isLate = last !== undefined && this.#namesSeconds && last.at < wall - LATE_MS;
    shard.behind = records.length >= FULL_BATCH || isLate;
    if (isReadUpToNow(shard)) shard.since = Math.max(shard.since, wall);
    shard.iterator = next;
    if (next !== undefined) return !isReadUpToNow(shard);
    shard.ended = true;
    // Its children must be listed: one, two if it was split, none if the stream was disabled.
    shard.unclearFor = 0;
    this.#listAgain = true;
    return true;
  }

  /** What the state should record about the shards. */
  seen(): ShardsSeen {
    const all = [...this.#shards.values()];
    return {
      listedAt: this.#listedWall,
      shards: this.#listed,
      ended: new Set(all.filter(({ ended }) => ended).map(({ id }) => id)),
      since: new Map(all.map(({ id, since }) => [id, since])),
    };
  }
}
