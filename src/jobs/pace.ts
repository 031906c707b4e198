import type { Clock } from '../clock.js';
import type { Meter } from '../store/request/meter.js';

/** Unused capacity of at most this long may be consumed later. */
const SAVED_MS = 1_000;

/**
 * Returns a function that waits until the write units of a meter are no more than `maxWcu` per second, on average over
 * a second. Call it between pieces of work.
 */
export function paceWrites(
  meter: Pick<Meter, 'writeUnits'>,
  maxWcu: number,
  clock: Pick<Clock, 'now' | 'sleep'>,
): (signal: AbortSignal) => Promise<void> {
  let paid = meter.writeUnits;
  /** When what was consumed so far is within the limit. */
  let dueAt = clock.now();
  return async (signal) => {
    const spent = meter.writeUnits - paid;
    paid = meter.writeUnits;
    dueAt = Math.max(dueAt, clock.now() - SAVED_MS) + (spent / maxWcu) * 1_000;
    const wait = dueAt - clock.now();
    if (wait > 0) await clock.sleep(wait, signal);
    signal.throwIfAborted();
  };
}
