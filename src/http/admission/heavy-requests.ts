import { average } from './moving-average.js';
import type { Slots } from './slots.js';

/** Requests wait up to the time of an answer, within these bounds. */
const WAIT_MS = { least: 100, most: 300 };
/** A request that has waited longer, because its wait was underestimated, is refused after all. */
const LONGEST_WAIT_MS = 3_000;
const MOST_WAITING = 1_000;
/** This many may always wait. */
const FEW_WAITING = 16;
/** The same for a while after a refusal: in a queue that never empties, requests only delay those after them. */
const OVERLOAD = { forMs: 1_000, waitMs: 20, fewWaiting: 3 };
/**
 * For every 20 refusals in one turn, one more request starts in the next: clients that retry at once also cost time.
 */
const REFUSALS_PER_START = 20;

interface Waiting {
  readonly since: number;
  /** Called with the number of requests that start in the same turn; 0 if it is refused. */
  readonly admit: (starting: number) => void;
}

/** Requests that take a slot each, and wait for a moment while none is free. */
export class HeavyRequests {
  readonly #slots: Slots;
  readonly #now: () => number;
  readonly #waiting: Waiting[] = [];
  /** Moving averages: duration of an answer, and time between two answers while requests wait. */
  #answerMs: number | undefined;
  #intervalMs = 0;
  /** When the last answer was given, or the first waiting request arrived. */
  #lastProgress = 0;
  /** Requests refused since others last started. */
  #refused = 0;
  #lastRefusal = -Infinity;

  constructor(slots: Slots, now: () => number) {
    this.#slots = slots;
    this.#now = now;
  }

  get canStart(): boolean {
    return this.#slots.free > 0 && this.#waiting.length > 0;
  }

  /** Expected wait of the next request. While connections are accepted nothing progresses, which is no sign of slow answers. */
  #expectedWait(): number {
    const sinceProgress = this.#slots.used > 0 ? this.#now() - this.#lastProgress : 0;
    return (this.#waiting.length + 1) * Math.max(this.#intervalMs, sinceProgress);
  }

  /** Whether a request would be refused. */
  isFull(): boolean {
    const isOverload = this.#now() - this.#lastRefusal < OVERLOAD.forMs;
    const waiting = this.#waiting.length;
    if (waiting < (isOverload ? OVERLOAD.fewWaiting : FEW_WAITING)) return false;
    const answerMs = Math.min(WAIT_MS.most, Math.max(WAIT_MS.least, this.#answerMs ?? 0));
    return waiting >= MOST_WAITING || this.#expectedWait() > (isOverload ? OVERLOAD.waitMs : answerMs);
  }

  /** Makes a request wait; returns false if it is refused. */
  add(admit: Waiting['admit']): boolean {
    if (this.isFull()) {
      this.countRefusal();
      this.#lastRefusal = this.#now();
      return false;
    }
    if (this.#waiting.length === 0 && this.#slots.free > 0) this.#lastProgress = this.#now();
    this.#waiting.push({ since: this.#now(), admit });
    return true;
  }

  /** Counts a request that was refused, of any kind. */
  countRefusal(): void {
    this.#refused += 1;
  }

  /** Refuses requests that have waited too long. */
  refuseLate(): void {
    const isLate = ({ since }: Waiting) => this.#now() - since > LONGEST_WAIT_MS;
    while (this.#waiting[0] !== undefined && isLate(this.#waiting[0])) this.#waiting.shift()?.admit(0);
  }

  start(): void {
    const most = 1 + Math.floor(this.#refused / REFUSALS_PER_START);
    this.#refused = 0;
    const starting = this.#waiting.splice(0, Math.min(most, this.#slots.free));
    if (this.#slots.used === 0) this.#lastProgress = this.#now();
    this.#slots.take(starting.length);
    for (const { admit } of starting) admit(starting.length);
  }

  /** Frees the slot of a request that took this long. */
  leave(ms: number): void {
    this.#answerMs = average(this.#answerMs, ms);
    if (this.#waiting.length > 0 || this.#slots.free === 0)
      this.#intervalMs = average(this.#intervalMs, this.#now() - this.#lastProgress);
    this.#lastProgress = this.#now();
    this.#slots.leave();
    if (this.#slots.used === 0 && this.#waiting.length === 0) this.#intervalMs = 0;
  }
}
