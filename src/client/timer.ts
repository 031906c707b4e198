import { systemClock } from '../clock.js';

/** Runs one function with a delay. At most one run is pending at a time. */
export interface Timer {
  /** Runs in `ms`, replacing a pending run. */
  set(ms: number): void;
  /** Runs within `ms`: keeps a pending run that is due earlier. */
  within(ms: number): void;
  cancel(): void;
}

export function createTimer(run: () => void): Timer {
  let timeout: ReturnType<typeof setTimeout> | undefined;
  let due = Infinity;
  const cancel = () => {
    clearTimeout(timeout);
    due = Infinity;
  };
  const set = (ms: number) => {
    cancel();
    due = systemClock.wall() + ms;
    timeout = setTimeout(() => {
      due = Infinity;
      run();
    }, ms);
  };
  return {
    set,
    within(ms) {
      if (systemClock.wall() + ms < due) set(ms);
    },
    cancel,
  };
}
