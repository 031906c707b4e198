import { setTimeout as wait } from 'node:timers/promises';

/** Time and chance, passed in so that tests control both. Take only the part you need: `Pick<Clock, 'now'>`. */
export interface Clock {
  /** Milliseconds of a clock that never goes back. Only differences mean anything. */
  now(): number;
  /** Milliseconds since 1970, as the machine's clock shows them. */
  wall(): number;
  /** Resolves after `ms` milliseconds, or at once when the signal is aborted; never rejects. */
  sleep(ms: number, signal?: AbortSignal): Promise<void>;
  /** A random number, at least 0 and below 1. */
  random(): number;
}

/** The clock of this process. */
export const systemClock: Clock = {
  now: () => performance.now(),
  wall: () => Date.now(),
  sleep: (ms, signal) => wait(ms, undefined, signal === undefined ? {} : { signal }).catch(() => undefined),
  random: () => Math.random(),
};
