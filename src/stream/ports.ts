import type { Clock } from '../clock.js';
import { CellportError } from '../errors.js';
import type { MarkerDay } from '../keys/derived-keyspace.js';
import type { Keyspace } from '../keys/keyspace.js';
import type { Log } from '../log.js';
import type { Collection } from '../model/collection.js';
import type { DirectoryPart } from '../pages/directory.js';
import type { RecentPart } from '../pages/recent-writes.js';
import type { BlockName, BlockOutcome, BlockWrite, StoredBlock } from '../store/cell/blocks.js';
import type { DeadLetter } from '../store/cell/dead-letters.js';
import type { StreamState } from '../store/cell/stream-state.js';
import type { PageReplacement, RawPage } from '../store/page/pages.js';
import type { DueDay, KeptDay, OpenDay, StoredDay } from '../store/reading/kept-days.js';
import type { Ranking, Winner, WinnerWrite } from '../store/source/winners.js';
import type { StreamRecord } from './change.js';

/** A shard as the stream lists it. */
export interface ListedShard {
  readonly id: string;
  readonly parent: string | undefined;
}

/** Where reading of a shard begins: at the oldest record available, after the newest one, at a record, or after one. */
export type ShardStart =
  | { readonly type: 'oldest' }
  | { readonly type: 'newest' }
  | { readonly type: 'at'; readonly sequence: string }
  | { readonly type: 'after'; readonly sequence: string };

/** Some records of a shard, in order. */
export interface RecordBatch {
  readonly records: readonly StreamRecord[];
  /** The iterator of the next batch; undefined at the end of a closed shard. */
  readonly next: string | undefined;
  /** When it was asked for, by the clock of this process; undefined if that was by this call. */
  readonly begunAt?: number;
}

/**
 * Why records cannot be read: the iterator has expired, the stream has trimmed them, or the shard is gone with all of them.
 */
export type StreamFailureKind = 'expired' | 'trimmed' | 'gone';

/** A stream failure that a retry does not help. */
export class StreamFailure extends Error {
  readonly kind: StreamFailureKind;

  constructor(kind: StreamFailureKind, options?: ErrorOptions) {
    super(`the stream failed: ${kind}`, options);
    this.name = 'StreamFailure';
    this.kind = kind;
  }
}

/** The table has no stream, or one without both images of each item. */
export class NoStream extends CellportError {
  override readonly name = 'NoStream';

  constructor(message: string) {
    super('UNAVAILABLE', message);
  }
}

/** The calls of a stream. Any of them may fail temporarily, with any error but StreamFailure and NoStream. */
export interface StreamPort {
  /**
   * The name of the table's current stream: a table that was created again, or whose stream was disabled and enabled,
   * has another one. Throws NoStream if there is none to read.
   */
  identify(): Promise<string>;
  /** Some of that stream's shards; `after` is the last one before them. */
  listShards(stream: string, after: string | undefined): Promise<{ shards: readonly ListedShard[]; more: boolean }>;
  openShard(stream: string, shard: string, start: ShardStart): Promise<string>;
  readRecords(iterator: string): Promise<RecordBatch>;
}

/** What reading a stream takes. */
export interface StreamParts {
  readonly stream: StreamPort;
  readonly clock: Clock;
  readonly keys: Keyspace;
  readonly log: Log;
}

/** Where consumers store their shared state. */
export interface StatePort {
  load(): Promise<StreamState | undefined>;
  /**
   * Replaces the state of version `next.version - 1`; returns false if there is another version. May succeed and still
   * throw.
   */
  put(next: StreamState): Promise<boolean>;
  putDeadLetters(records: readonly DeadLetter[]): Promise<void>;
}

/** Work that goes on while a lease is held. */
export interface LeasedWork {
  readonly clock: Clock;
  readonly log: Log;
  readonly signal: AbortSignal;
  /** Whether the lease was ours a moment ago. Without a renewed lease nothing is written: the next renewal decides. */
  readonly holds: () => boolean;
}

/** Which items of a source are its markers, where several may be the same one. */
export interface WinnersPort {
  /** Strongly consistent. */
  read(keys: readonly string[]): Promise<readonly (Winner | undefined)[]>;
  /** Returns for each whether it was written; `false` if another had been since it was read. */
  write(writes: readonly WinnerWrite[]): Promise<readonly boolean[]>;
  /** The contenders that the source's table has for a key now; undefined if the key does not tell where they are. */
  ask(key: string): Promise<Ranking | undefined>;
}

/** Where cells are stored: at most 100 blocks per call. */
export interface CellsPort {
  read(blocks: readonly BlockName[], consistent: boolean): Promise<readonly StoredBlock[]>;
  write(writes: readonly BlockWrite[]): Promise<readonly BlockOutcome[]>;
}

/** Where summaries of readings are stored, by day. */
export interface DaysPort {
  /** All collections in use, by scope, strongly consistent. */
  collections(): Promise<ReadonlyMap<string, Collection>>;
  /** See `openDays`. May throw although some were opened. */
  open(days: readonly MarkerDay[], epoch: number): Promise<void>;
  due(collection: Collection, upTo: string): AsyncIterable<readonly DueDay[]>;
  read(days: readonly MarkerDay[]): Promise<readonly (StoredDay | undefined)[]>;
  claim(day: MarkerDay, seen: OpenDay, epoch: number): Promise<OpenDay | undefined>;
  summarize(collection: Collection, day: MarkerDay, now: number): Promise<KeptDay | undefined>;
  close(day: MarkerDay, seen: OpenDay, kept: KeptDay | undefined): Promise<boolean>;
  forget(due: DueDay): Promise<void>;
  remove(days: readonly MarkerDay[]): Promise<void>;
}

/** What changes are published as. Of one version of the state, the last attempt counts. */
export interface Publication {
  readonly version: number;
  readonly attempt: number;
}

/** Where changes are published that pages and blocks may lack. */
export interface RecentPort {
  /** Returns the number of items. */
  put(scope: string, as: Publication, part: RecentPart): Promise<number>;
}

/** Where pages of markers are stored. */
export interface PagesPort {
  /** The page for a position, strongly consistent; undefined if its partition has no pages. */
  find(scope: string, position: string): Promise<RawPage | undefined>;
  /** Some pages of a partition in order, starting with this begin, strongly consistent. */
  from(scope: string, begin: string, limit: number): Promise<readonly RawPage[]>;
  /**
   * Returns for each page whether it was replaced; `false` if it had changed since it was read. May throw although some
   * were replaced.
   */
  write(replacements: readonly PageReplacement[]): Promise<readonly boolean[]>;
  /** The part of the directory that a position belongs to; undefined if none of its partition begins before. */
  findDirectoryPart(scope: string, position: string): Promise<DirectoryPart | undefined>;
  putDirectoryPart(scope: string, part: DirectoryPart): Promise<void>;
}
