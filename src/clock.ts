import { setTimeout as wait } from 'node:timers/promises';

/** Time and randomness, passed in so that tests control both. Take only the methods you need: `Pick<Clock, 'now'>`. */
export interface Clock {
  /** Monotonic time in milliseconds; only differences are meaningful. */
  now(): number;
  /** Wall-clock time in milliseconds since 1970. */
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
