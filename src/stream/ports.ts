import type { BlockName, BlockOutcome, BlockWrite, StoredBlock } from '../store/cell/blocks.js';
import type { DeadLetter, StreamState } from '../store/cell/stream-state.js';
import type { StreamRecord } from './change.js';

/** A shard as the stream lists it. */
export interface ListedShard {
  readonly id: string;
  readonly parent: string | undefined;
}

/** Where reading of a shard begins: at the oldest record there is, behind the newest one, at a record, or after one. */
export type ShardStart =
  | { readonly type: 'oldest' }
  | { readonly type: 'newest' }
  | { readonly type: 'at'; readonly sequence: string }
  | { readonly type: 'after'; readonly sequence: string };

export interface RecordPage {
  readonly records: readonly StreamRecord[];
  /** Where to go on; undefined at the end of a shard that is closed. */
  readonly next: string | undefined;
}

/**
 * Why records cannot be had: an iterator that lived too long, records that the stream has forgotten, or a shard that is
 * gone with all of them.
 */
export type StreamFailureKind = 'expired' | 'trimmed' | 'gone';

/** A refusal of the stream that trying again does not help. */
export class StreamFailure extends Error {
  readonly kind: StreamFailureKind;

  constructor(kind: StreamFailureKind, options?: ErrorOptions) {
    super(`the stream says: ${kind}`, options);
    this.name = 'StreamFailure';
    this.kind = kind;
  }
}

/** The stream's three calls. Any of them may fail for a moment, with any error but StreamFailure. */
export interface StreamPort {
  /** Which stream this is now: a table made anew has another one. */
  identify(): Promise<string>;
  /** Shards of that stream, a page; `after` is the last shard of the page before. */
  listShards(stream: string, after: string | undefined): Promise<{ shards: readonly ListedShard[]; more: boolean }>;
  openShard(stream: string, shard: string, start: ShardStart): Promise<string>;
  readRecords(iterator: string): Promise<RecordPage>;
}

/** Where consumers keep what they share. */
export interface StatePort {
  load(): Promise<StreamState | undefined>;
  /** Replaces the state of version `next.version - 1`; false where there is another version. May be done and yet fail. */
  put(next: StreamState): Promise<boolean>;
  putDeadLetters(records: readonly DeadLetter[]): Promise<void>;
}

/** Where cells are kept: at most 100 blocks a call. */
export interface CellsPort {
  read(blocks: readonly BlockName[], consistent: boolean): Promise<readonly StoredBlock[]>;
  write(writes: readonly BlockWrite[]): Promise<readonly BlockOutcome[]>;
}
