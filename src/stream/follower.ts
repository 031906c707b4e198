import type { Clock } from '../clock.js';
import type { Log } from '../log.js';
import type { StreamRecord } from './change.js';
import type { StreamPort } from './ports.js';
import { RecordsLost, type ReaderOptions, createReader } from './reader.js';
import { pause } from './shared-state.js';
import { KEPT_MS, firstState } from './state.js';

/** What it takes to read a stream without keeping cells. */
export interface FollowerOptions {
  readonly stream: StreamPort;
  readonly clock: Clock;
  readonly keys: ReaderOptions['keys'];
  readonly log: Log;
  readonly onRecord: (record: StreamRecord) => void;
  readonly pollMs?: number;
}

const POLL_MS = 200;
/** Little at a time: sums of cells, which nobody here looks at, would only take memory. */
const AT_A_TIME = { records: 1_000, cells: 1_000 };

async function openReader(options: FollowerOptions, newOnly: boolean, signal: AbortSignal) {
  const { stream, clock, keys, onRecord, pollMs = POLL_MS } = options;
  const state = firstState(await stream.identify(), clock.wall());
  return createReader({ port: stream, clock, keys, pollMs, signal, onRecord, newOnly }, state);
}

/**
 * Reads what is written from now on, as one more reader of each shard, and leaves no trace. `onEnd` is told each time
 * that all was read that was there at a moment of the clock, and gives whether to go on: from the first time on every
 * record is told. `onLoss`: some may have been missed; then it begins anew. Ends when it is told to, or aborted.
 */
export async function followStream(
  options: FollowerOptions,
  { onEnd, onLoss }: { readonly onEnd: (at: number) => boolean; readonly onLoss: (reason: string) => void },
  signal: AbortSignal,
): Promise<void> {
  const { clock, log, pollMs = POLL_MS } = options;
  for (let failures = 0; !signal.aborted;) {
    try {
      const reader = await openReader(options, true, signal);
      for (;;) {
        const { records, endAt } = await reader.gather(AT_A_TIME, () => false);
        if (endAt !== undefined && !onEnd(endAt)) return;
        failures = 0;
        if (records === 0) await clock.sleep(pollMs, signal);
      }
    } catch (error) {
      if (signal.aborted) return;
      log.warn({ err: error }, 'the stream could not be followed; beginning anew');
      onLoss(error instanceof Error ? error.message : String(error));
      await pause(clock, (failures += 1), signal);
    }
  }
}

/** When a stream was switched on, in milliseconds since 1970: the last part of its name says so. */
function bornAt(stream: string): number {
  const label = Date.parse(`${stream.slice(stream.lastIndexOf('/') + 1)}Z`);
  return Number.isNaN(label) ? 0 : label;
}

/**
 * Tells of all records that the stream holds now, those of one item in their order. Gives a time from which on none was
 * missing, in milliseconds since 1970; undefined where it takes longer than `withinMs`, or records were lost meanwhile.
 */
export async function readWholeStream(
  options: FollowerOptions,
  withinMs: number,
  signal: AbortSignal,
): Promise<number | undefined> {
  const { stream, clock } = options;
  const from = clock.wall() - KEPT_MS;
  const late = AbortSignal.timeout(withinMs);
  try {
    const born = bornAt(await stream.identify());
    const reader = await openReader(options, false, AbortSignal.any([signal, late]));
    for (;;) {
      const { endAt } = await reader.gather(AT_A_TIME, () => false);
      if (endAt !== undefined) return Math.max(from, born);
    }
  } catch (error) {
    if (late.aborted || error instanceof RecordsLost) return undefined;
    throw error;
  }
}
