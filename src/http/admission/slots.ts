/** The state of the server since the last call. */
export interface ServerLoad {
  /** Mean time for which the event loop was late, and steps of work waited for their turn. */
  readonly lagMs: number;
  /** Mean time of a read of the database; undefined if there were too few. */
  readonly readMs: number | undefined;
}

const SLOTS = { first: 16, least: 4, most: 512 };
/** Mean over a tenth of a second. With more lag, refusals would also take too long. */
const MOST_LAG_MS = 4;
/** Below this lag there is room for more requests. */
const LITTLE_LAG_MS = 2.5;
/** Reads count as slow if they take this long, and this many times their best recent time. */
const SLOW_READ_MS = 50;
const SLOW_READ_FACTOR = 3;
/** Decay of the best recent time, applied ten times a second: it doubles in half a minute. */
const FORGET_BEST = 1.002;
const DECREASE = 0.8;

/**
 * Keeps as many slots as keep the event loop and the database responsive: one more while both are, a fifth fewer when
 * one is not (additive increase, multiplicative decrease).
 */
export class Slots {
  #total = SLOTS.first;
  #used = 0;
  /** Maximum number in use since the last adjustment. */
  #mostUsed = 0;
  #bestReadMs: number | undefined;

  get used(): number {
    return this.#used;
  }

  get free(): number {
    return Math.max(0, this.#total - this.#used);
  }

  take(count: number): void {
    this.#used += count;
    this.#mostUsed = Math.max(this.#mostUsed, this.#used);
  }

  leave(): void {
    this.#used -= 1;
  }

  /** Adapts the number of slots; call about ten times a second while there is work. */
  adjust({ lagMs, readMs }: ServerLoad): void {
    if (readMs !== undefined) this.#bestReadMs = Math.min(readMs, (this.#bestReadMs ?? Infinity) * FORGET_BEST);
    const slow = readMs !== undefined && readMs > Math.max(SLOW_READ_MS, SLOW_READ_FACTOR * (this.#bestReadMs ?? 0));
    if (slow || lagMs > MOST_LAG_MS) {
      const fewer = Math.floor(Math.min(this.#total, this.#mostUsed) * DECREASE);
      this.#total = Math.max(SLOTS.least, fewer);
    } else if (this.#mostUsed >= this.#total && lagMs < LITTLE_LAG_MS) {
      this.#total = Math.min(SLOTS.most, this.#total + 1);
    }
    this.#mostUsed = this.#used;
  }
}
