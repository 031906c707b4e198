import { systemClock } from '../clock.js';
import { CONSUMER, loadStreamState, type StreamState } from '../store/cell/stream-state.js';
import type { Database } from '../store/database.js';
import { newCall } from '../store/request/meter.js';
import { DERIVED_FORMAT } from '../stream/change.js';
import { reportOf } from '../stream/consume/consumer.js';
import { CLOCKS_DIFFER_MS, reachedBy, type Followed } from '../stream/consume/follower.js';
import { KEPT_MS } from '../stream/state.js';
import { inBackground } from './background.js';
import { inStreamBy, noConsumer, type DerivedData } from './consumer.js';

const LOOK_EVERY_MS = 2_000;
const POLL_MS = 200;

/**
 * Derived data that other processes alone update, such as an AWS Lambda: what their state says, and a follower of the stream
 * in this process.
 */
export function watchConsumer(database: Database, ends: readonly Followed[]): DerivedData {
  const { clock } = database;
  let state: StreamState | undefined;
  const looking = inBackground(async (signal) => {
    while (!signal.aborted) {
      // What was read before stays true, only its age grows.
      state = await loadStreamState(database, CONSUMER, newCall(signal), { consistent: false }).catch(() => state);
      await systemClock.sleep(LOOK_EVERY_MS, signal);
    }
  });
  const endNow = () => (state === undefined ? null : reachedBy(state, ends));
  return {
    status() {
      const unknown = noConsumer().status();
      if (state?.layout !== DERIVED_FORMAT) return unknown;
      const { gap, deadLetters, batch, records: recordsFolded } = state;
      const endAt = endNow();
      const behindMs = endAt === null ? undefined : Math.max(0, clock.wall() - endAt);
      // What was not read for longer may be lost, although nobody has missed it yet.
      const countsExact = gap === null && behindMs !== undefined && behindMs < KEPT_MS;
      return { ...unknown, ...reportOf(state), endAt, behindMs, countsExact, gap, deadLetters, batch, recordsFolded };
    },
    async caughtUp(signal) {
      const from = clock.wall() + CLOCKS_DIFFER_MS + inStreamBy(database) - systemClock.now();
      while ((endNow() ?? 0) < from) {
        signal.throwIfAborted();
        await systemClock.sleep(POLL_MS, signal);
      }
    },
    stop: () => looking.stop(),
  };
}
