import { systemClock } from '../clock.js';
import { CONSUMER, loadStreamState, type StreamState } from '../store/cell/stream-state.js';
import { newCall, type Database } from '../store/database.js';
import { DERIVED_FORMAT } from '../stream/change.js';
import { reportOf, type ConsumerStatus } from '../stream/consume/consumer.js';
import { CLOCKS_DIFFER_MS, reachedBy, type Followed } from '../stream/consume/follower.js';
import { KEPT_MS } from '../stream/state.js';
import { inBackground } from './background.js';
import { inStreamBy, noConsumer, type DerivedData } from './consumer.js';

const LOOK_EVERY_MS = 2_000;
const POLL_MS = 200;

/**
 * What the state of a consumer in another process says, such as an AWS Lambda, and a follower of the stream in this process.
 * `look` reads the state unless it has been read within two seconds.
 */
export function consumerOfOthers(database: Database, ends: readonly Followed[]) {
  const { clock } = database;
  let state: StreamState | undefined;
  let lookedAt = -Infinity;
  const endNow = () => (state === undefined ? null : reachedBy(state, ends));
  return {
    endNow,
    async look(this: void, signal?: AbortSignal): Promise<void> {
      if (clock.now() - lookedAt < LOOK_EVERY_MS) return;
      lookedAt = clock.now();
      // What was read before stays true, only its age grows.
      state = await loadStreamState(newCall(database, signal), CONSUMER, { consistent: false }).catch(() => state);
    },
    status(this: void): ConsumerStatus {
      const unknown = noConsumer().status();
      if (state?.layout !== DERIVED_FORMAT) return unknown;
      const { gap, deadLetters, batch, records: recordsFolded } = state;
      const endAt = endNow();
      const behindMs = endAt === null ? undefined : Math.max(0, clock.wall() - endAt);
      // What was not read for longer may be lost, although nobody has missed it yet.
      const countsExact = gap === null && behindMs !== undefined && behindMs < KEPT_MS;
      return { ...unknown, ...reportOf(state), endAt, behindMs, countsExact, gap, deadLetters, batch, recordsFolded };
    },
  };
}

/** Derived data that other processes alone update. */
export function watchConsumer(database: Database, ends: readonly Followed[]): DerivedData {
  const { look, endNow, status } = consumerOfOthers(database, ends);
  const looking = inBackground(async (signal) => {
    while (!signal.aborted) {
      await look(signal);
      await systemClock.sleep(LOOK_EVERY_MS, signal);
    }
  });
  return {
    status,
    async caughtUp(signal) {
      const from = database.clock.wall() + CLOCKS_DIFFER_MS + inStreamBy(database) - systemClock.now();
      while ((endNow() ?? 0) < from) {
        signal.throwIfAborted();
        await systemClock.sleep(POLL_MS, signal);
      }
    },
    stop: () => looking.stop(),
  };
}
