import { reasonFor } from '../../errors.js';
import { restartOnFailure } from '../../retry.js';
import type { StreamState } from '../../store/cell/stream-state.js';
import { isAfter, type StreamRecord } from '../change.js';
import { NoStream, type StreamParts } from '../ports.js';
import { RecordsLost, StreamReplaced } from '../source/record-batches.js';
import { LIST_EVERY_MS } from '../source/shards.js';
import { firstState, KEPT_MS } from '../state.js';
import { StreamReader } from './reader.js';

/** Dependencies for reading a stream without maintaining cells. */
export interface FollowerOptions extends StreamParts {
  readonly onRecord: (record: StreamRecord) => void;
  readonly pollMs?: number;
}

/** How far a follower has read; times in milliseconds since 1970. */
export interface Followed {
  /** It has read everything that was written from `since` to `endAt`. */
  readonly since: number;
  readonly endAt: number;
  /** The last record that it has read of each shard. */
  readonly read: ReadonlyMap<string, string>;
}

/** Clocks that are set by DynamoDB are right within a second. */
export const CLOCKS_DIFFER_MS = 2_000;

/**
 * The time, in milliseconds since 1970, up to which a state has everything; null if it is unknown. Its owner may have
 * stopped when there was nothing to do, so a follower's ends tell, too: what it has read since is in the state, or nothing.
 */
export function reachedBy({ endAt, shards }: StreamState, ends: readonly Followed[]): number | null {
  if (endAt === null) return null;
  const isIncluded = ([shard, sequence]: readonly [string, string]): boolean => {
    const after = shards[shard]?.after;
    return after !== undefined && !isAfter(sequence, after);
  };
  const end = ends.findLast(({ since, read }) => endAt >= since + CLOCKS_DIFFER_MS && [...read].every(isIncluded));
  return Math.max(endAt, end?.endAt ?? 0);
}

const POLL_MS = 200;
/** Small, because a follower does not use the sums of cells, which would only take memory. */
const LIMITS = { records: 1_000, cells: 1_000 };

function readerFrom(
  { stream, clock, keys, onRecord, pollMs = POLL_MS }: FollowerOptions,
  state: StreamState,
  signal: AbortSignal,
  newOnly = false,
): StreamReader {
  return new StreamReader(stream, state, keys, { clock, signal, pollMs, onRecord, newOnly });
}

/**
 * Reads everything written from now on, as one more reader of each shard, without stored state. Calls `onEnd` each time
 * that all records up to some moment, by the clock of this process, have been read, and ends if that returns false;
 * from the first call on no record is missed. Calls `onLoss` if some may have been missed, and starts over. Ends when
 * it is aborted.
 */
export async function followStream(
  options: FollowerOptions,
  {
    onEnd,
    onLoss,
  }: { readonly onEnd: (at: number, followed: Followed) => boolean; readonly onLoss: (reason: string) => void },
  signal: AbortSignal,
): Promise<void> {
  const { stream, clock, log, pollMs = POLL_MS } = options;
  await restartOnFailure(
    async (progressed) => {
      const reader = readerFrom(options, firstState(await stream.identify(), clock.wall()), signal, true);
      const read = new Map<string, string>();
      let since: number | undefined;
      for (;;) {
        const { records, ranges, endAt, endWall } = await reader.gather(LIMITS, () => false);
        for (const [shard, { to }] of Object.entries(ranges)) read.set(shard, to);
        if (endAt !== undefined && endWall !== undefined) {
          since ??= endWall;
          if (!onEnd(endAt, { since, endAt: endWall, read: new Map(read) })) return;
        }
        progressed();
        if (records === 0) await clock.sleep(pollMs, signal);
      }
    },
    {
      clock,
      signal,
      async onFailure(error) {
        log.warn({ err: error }, 'Cannot follow the stream; starting over');
        onLoss(reasonFor(error));
        if (error instanceof NoStream) await clock.sleep(LIST_EVERY_MS, signal);
      },
    },
  );
}

/** When a stream was enabled, in milliseconds since 1970: the last part of its name is that time. */
function enabledAt(stream: string): number {
  const label = Date.parse(`${stream.slice(stream.lastIndexOf('/') + 1)}Z`);
  return Number.isNaN(label) ? 0 : label;
}

/**
 * Reads all records that the stream currently has, those of one item in order. Returns the time since which none is
 * missing, in milliseconds since 1970; undefined if it takes longer than `withinMs`, or records were lost meanwhile.
 */
export async function readWholeStream(
  options: FollowerOptions,
  withinMs: number,
  signal: AbortSignal,
): Promise<number | undefined> {
  const { stream, clock } = options;
  const late = AbortSignal.timeout(withinMs);
  try {
    const identity = await stream.identify();
    // By a clock that the answer has set.
    const from = clock.wall() - KEPT_MS;
    const reader = readerFrom(options, firstState(identity, clock.wall()), AbortSignal.any([signal, late]));
    for (;;) {
      const { endAt } = await reader.gather(LIMITS, () => false);
      if (endAt !== undefined) return Math.max(from, enabledAt(identity));
    }
  } catch (error) {
    if (late.aborted || error instanceof RecordsLost || error instanceof StreamReplaced) return undefined;
    throw error;
  }
}

/**
 * Reads the records that cells of this state may lack, up to those written by `until`, by the clock of this process;
 * stores nothing. Throws RecordsLost or StreamReplaced if some are lost.
 */
export async function readBeyond(
  options: FollowerOptions,
  state: StreamState,
  until: number,
  signal: AbortSignal,
): Promise<void> {
  const { clock, pollMs = POLL_MS } = options;
  // Some of the blocks may lack the planned batch.
  const reader = readerFrom(options, { ...state, plan: null }, signal);
  for (;;) {
    const { endAt = -Infinity } = await reader.gather(LIMITS, () => false);
    if (endAt >= until) return;
    await clock.sleep(pollMs, signal);
    signal.throwIfAborted();
  }
}
