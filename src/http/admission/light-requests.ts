import { LRUCache } from 'lru-cache';

import { average } from './moving-average.js';

/**
 * Kinds of requests that recently took less than this start before others, which they hardly delay. They do so until
 * they take twice as long: with one threshold, all requests of a kind near it would change queues again and again, each
 * time with a queue still to be answered.
 */
const LIGHT_MS = 5;
const NO_LONGER_LIGHT_MS = 10;
/** Minimum estimate, because receiving and sending a request is not measured. */
const LEAST_MS = 0.2;
/** How much light work starts in one turn of the event loop, and how much may wait. */
const TURN_MS = 10;
const WAIT_MS = 100;
const KINDS = 1_000;
/** Longer documents are not remembered. */
const LONGEST_DOCUMENT = 10_000;

interface Waiting {
  readonly expectedMs: number;
  /** Called with the number of requests that start in the same turn. */
  readonly admit: (starting: number) => void;
}

/** How long requests of each kind recently took, and those waiting that are expected to be short. */
export class LightRequests {
  readonly #kinds = new LRUCache<string, { readonly ms: number; readonly isLight: boolean }>({ max: KINDS });
  readonly #waiting: Waiting[] = [];
  #waitingMs = 0;

  /** Expected duration in milliseconds of requests with this document; Infinity if unknown. */
  expected(document: string): number {
    return Math.max(LEAST_MS, this.#kinds.get(document)?.ms ?? Infinity);
  }

  isLight(document: string): boolean {
    return this.#kinds.get(document)?.isLight ?? false;
  }

  took(document: string, ms: number): void {
    if (document.length > LONGEST_DOCUMENT) return;
    const before = this.#kinds.get(document);
    const recentMs = average(before?.ms, ms);
    const isLight = recentMs <= (before?.isLight === true ? NO_LONGER_LIGHT_MS : LIGHT_MS);
    this.#kinds.set(document, { ms: recentMs, isLight });
  }

  get areWaiting(): boolean {
    return this.#waiting.length > 0;
  }

  /** Makes a request wait; returns false if too much light work waits already. */
  add(expectedMs: number, admit: Waiting['admit']): boolean {
    if (this.#waitingMs + expectedMs > WAIT_MS) return false;
    this.#waitingMs += expectedMs;
    this.#waiting.push({ expectedMs, admit });
    return true;
  }

  /** Starts some requests; returns whether there were any. */
  start(): boolean {
    const starting: Waiting[] = [];
    for (let ms = 0; ms < TURN_MS;) {
      const first = this.#waiting.shift();
      if (first === undefined) break;
      this.#waitingMs -= first.expectedMs;
      ms += first.expectedMs;
      starting.push(first);
    }
    for (const { admit } of starting) admit(starting.length);
    return starting.length > 0;
  }
}
