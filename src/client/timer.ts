import { systemClock } from '../clock.js';

/** Runs one function with a delay. At most one run is pending at a time. */
export class Timer {
  readonly #run: () => void;
  #timeout: ReturnType<typeof setTimeout> | undefined;
  #due = Infinity;

  constructor(run: () => void) {
    this.#run = run;
  }

  /** Runs in `ms`, replacing a pending run. */
  set(ms: number): void {
    this.cancel();
    this.#due = systemClock.wall() + ms;
    this.#timeout = setTimeout(() => {
      this.#due = Infinity;
      this.#run();
    }, ms);
  }

  /** Runs within `ms`: keeps a pending run that is due earlier. */
  within(ms: number): void {
    if (systemClock.wall() + ms < this.#due) this.set(ms);
  }

  cancel(): void {
    clearTimeout(this.#timeout);
    this.#due = Infinity;
  }
}
