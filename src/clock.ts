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

function sleep(ms: number, signal?: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    if (signal?.aborted === true) return resolve();
    const end = () => {
      clearTimeout(timer);
      signal?.removeEventListener('abort', end);
      resolve();
    };
    const timer = setTimeout(end, ms);
    signal?.addEventListener('abort', end);
  });
}

/** The clock of this process or browser. */
export const systemClock: Clock = {
  now: () => performance.now(),
  wall: () => Date.now(),
  sleep,
  random: () => Math.random(),
};
