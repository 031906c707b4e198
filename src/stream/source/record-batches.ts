import type { Clock } from '../../clock.js';
import { CellportError } from '../../errors.js';
import { retry } from '../../retry.js';
import { isFailure } from '../../store/request/failures.js';
import { NoStream, StreamFailure, type RecordBatch, type ShardStart, type StreamPort } from '../ports.js';
import type { Loss } from '../state.js';

/** Records that the state still needs are lost. */
export class RecordsLost extends CellportError {
  override readonly name = 'RecordsLost';
  /** Undefined if it is only known that too much time has passed. */
  readonly loss: Loss | undefined;

  constructor(loss: Loss | undefined, reason: string) {
    super('UNAVAILABLE', loss === undefined ? reason : `records of shard ${loss.shard} are lost: ${reason}`);
    this.loss = loss;
  }
}

/** The stream that was read is no longer the table's: writes in between are in no stream. */
export class StreamReplaced extends CellportError {
  override readonly name = 'StreamReplaced';
  /** The table's current stream; undefined if it has none. */
  readonly stream: string | undefined;

  constructor(before: string, stream: string | undefined) {
    // When each was enabled: the rest of its name is the account, which clients need not see.
    const [from, to] = [before, stream].map((name) => name?.slice(name.lastIndexOf('/') + 1));
    super('UNAVAILABLE', `the stream of ${from} was ${to === undefined ? 'disabled' : `replaced by that of ${to}`}`);
    this.stream = stream;
  }
}

/** A stream to read, by name. */
export interface StreamSource {
  readonly port: StreamPort;
  readonly stream: string;
  readonly clock: Clock;
  readonly signal: AbortSignal;
}

/** Where reading of one shard continues. */
export interface ShardCursor {
  readonly id: string;
  /** Whether to skip records that the shard had when it was found. */
  readonly newOnly?: boolean;
  /** The last record read. */
  after: string | undefined;
  iterator: string | undefined;
}

/** An iterator is valid for 15 minutes, so repeated expiry has another cause. */
const MOST_ITERATORS = 11;

/**
 * Repeats a call to the stream until it succeeds. Throws StreamFailure, NoStream and denied permissions at once, because
 * retrying does not help.
 */
export function untilAnswered<T>(clock: Clock, signal: AbortSignal, call: () => Promise<T>): Promise<T> {
  const retryable = (error: unknown) =>
    !(error instanceof StreamFailure || error instanceof NoStream || isFailure(error, 'AccessDeniedException'));
  const work = async () => {
    signal.throwIfAborted();
    return call();
  };
  return retry(work, { attempts: Infinity, retryable, clock, signal });
}

/** The name of the table's current stream; undefined if it has none to read. */
export async function currentStream(port: StreamPort, clock: Clock, signal: AbortSignal): Promise<string | undefined> {
  try {
    return await untilAnswered(clock, signal, () => port.identify());
  } catch (error) {
    if (error instanceof NoStream) return undefined;
    throw error;
  }
}

/** Where reading of a shard starts. */
export function startOf({ after, newOnly = false }: ShardCursor): ShardStart {
  if (after !== undefined) return { type: 'after', sequence: after };
  return { type: newOnly ? 'newest' : 'oldest' };
}

/** The next records of a shard. Expired iterators are replaced. Throws RecordsLost if they have been trimmed. */
export async function nextRecords(source: StreamSource, cursor: ShardCursor, start: ShardStart): Promise<RecordBatch> {
  const { port, stream, clock, signal } = source;
  for (let iterators = 1; ; iterators += 1) {
    try {
      cursor.iterator ??= await untilAnswered(clock, signal, () => port.openShard(stream, cursor.id, start));
      const { iterator } = cursor;
      return await untilAnswered(clock, signal, () => port.readRecords(iterator));
    } catch (error) {
      if (!(error instanceof StreamFailure)) throw error;
      cursor.iterator = undefined;
      // The oldest records may be trimmed between two calls; whether any of them was needed is decided by their age.
      // The newest position advances: reopened, it would miss records written in between.
      const replaceable =
        (error.kind === 'expired' && start.type !== 'newest') || (error.kind === 'trimmed' && start.type === 'oldest');
      if (replaceable && iterators < MOST_ITERATORS) continue;
      throw new RecordsLost({ shard: cursor.id, kind: error.kind === 'gone' ? 'gone' : 'trimmed' }, error.message);
    }
  }
}
