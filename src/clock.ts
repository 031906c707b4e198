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

/** A moment in this process. */
export type Moment = Readonly<Record<'now' | 'wall', number>>;

export const momentOf = (clock: Pick<Clock, 'now' | 'wall'>): Moment => ({ now: clock.now(), wall: clock.wall() });

/**
 * Milliseconds since a moment, at least: `now()` may not count the time in which a machine sleeps, and its wall clock may
 * be set back.
 */
export const elapsedSince = ({ now, wall }: Moment, clock: Pick<Clock, 'now' | 'wall'>): number =>
  Math.max(clock.now() - now, clock.wall() - wall);

/**
 * When something that has just been answered began, in milliseconds since 1970, given `now()` at its begin: the wall clock
 * may have been set since, by its owner or by the answer.
 */
export const wallAt = (began: number, clock: Pick<Clock, 'now' | 'wall'>): number =>
  clock.wall() - (clock.now() - began);

/** A clock that is set by the answers of a server, so that processes agree on the time although their machines do not. */
export interface ServerClock extends Clock {
  /**
   * Call with the date of each answer (whole seconds in milliseconds since 1970; NaN if it has none) and how long the
   * request took. The clock is right within a second at once, and to within a round trip after some answers.
   */
  readonly answered: (date: number, tookMs: number) => void;
  /**
   * By how many milliseconds the machine's own clock is ahead; negative if it is behind. Undefined before the first
   * answer, null if answers have no date: `wall()` is then that of the machine.
   */
  readonly machineAhead: () => number | null | undefined;
  /** Between which times it is now, whatever happened to the machine's clock since the last answer. Before the first, any. */
  readonly bounds: () => Readonly<Record<'earliest' | 'latest', number>>;
}

/** Creates a clock that begins as the machine's own. It is set by the least that makes it agree with each answer. */
export function createServerClock(own: Clock): ServerClock {
  let correction: number | null | undefined;
  let last = { ...momentOf(own), earliest: 0, latest: Infinity };
  const wall = () => own.wall() + (correction ?? 0);
  return {
    ...own,
    wall,
    bounds() {
      // Which of the two is right is unknown: one clock may have been set, the other does not count a machine's sleep.
      const passed = [own.now() - last.now, own.wall() - last.wall];
      return { earliest: last.earliest + Math.min(...passed), latest: last.latest + Math.max(...passed) };
    },
    answered(date, tookMs) {
      if (Number.isNaN(date)) {
        correction ??= null;
        last = { ...momentOf(own), earliest: wall(), latest: wall() };
        return;
      }
      const at = wall();
      // The answer was made after the request, and within the second that it names.
      const latest = date + 1_000 + Math.ceil(tookMs);
      last = { ...momentOf(own), earliest: date, latest };
      // Far behind, it is set to the latest time possible: nothing must be taken for younger than it is.
      const right = at < date - 1_000 ? latest : Math.min(Math.max(at, date), latest);
      correction = (correction ?? 0) + right - at;
    },
    machineAhead: () => (typeof correction === 'number' ? 0 - correction : correction),
  };
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
