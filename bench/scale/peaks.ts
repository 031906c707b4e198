import { PUBLISHED } from './published.js';

/** The capacity of an on-demand table: twice its peak of more than half an hour ago, and at least that of a new one. */
export class Peaks {
  readonly #least: number;
  readonly #recent: { readonly until: number; readonly rate: number }[] = [];
  #previous = 0;

  constructor(least: number) {
    this.#least = least;
  }

  /** Capacity in units per second at a time in seconds. */
  capacityAt(now: number): number {
    while (this.#recent[0] && this.#recent[0].until <= now - PUBLISHED.growth.seconds) {
      this.#previous = Math.max(this.#previous, this.#recent.shift()?.rate ?? 0);
    }
    return Math.max(this.#least, PUBLISHED.growth.factor * this.#previous);
  }

  /** Records that this rate, in units per second, was served up to a time. */
  served(until: number, rate: number): void {
    this.#recent.push({ until, rate });
  }
}
