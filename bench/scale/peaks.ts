import { PUBLISHED } from './published.js';

/** What a table on demand takes at once: twice its peak of more than half an hour ago, and at least what a new one takes. */
export class Peaks {
  readonly #least: number;
  readonly #recent: { readonly until: number; readonly rate: number }[] = [];
  #previous = 0;

  constructor(least: number) {
    this.#least = least;
  }

  /** Units a second that are taken at a time, in seconds. */
  capacityAt(now: number): number {
    while (this.#recent[0] && this.#recent[0].until <= now - PUBLISHED.growth.seconds) {
      this.#previous = Math.max(this.#previous, this.#recent.shift()?.rate ?? 0);
    }
    return Math.max(this.#least, PUBLISHED.growth.factor * this.#previous);
  }

  /** Units a second were served up to this time. */
  served(until: number, rate: number): void {
    this.#recent.push({ until, rate });
  }
}
