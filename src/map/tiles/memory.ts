import { LRUCache } from 'lru-cache';

import type { ZRange } from '../../geo/ranges.js';
import { LAG_MS } from '../../loaders/followed-cache.js';

/** An answer made of what a collection has in an area. */
export interface KeptAnswer {
  readonly body: Buffer;
  /** In other encodings, by their names. */
  readonly encoded: Map<string, Buffer>;
  /** Changes exactly when the body does. */
  readonly hash: string;
  readonly count: number;
  /** In milliseconds since 1970. */
  readonly expiresAt: number;
}

/** Some ranges of Z-order at length 10 of the collection with a scope. */
export interface KeptArea {
  readonly scope: string;
  readonly ranges: readonly ZRange[];
}

/** The number of the last change, and a monotonic time in milliseconds. */
interface Moment {
  readonly number: number;
  readonly at: number;
}

export interface AnswerMemoryOptions {
  readonly maxBytes: number;
  /** Whether `changed` is called for every change of the collection with this scope soon after it can be read. */
  readonly trusted: (scope: string) => boolean;
  /** Monotonic time, and milliseconds since 1970. */
  readonly now: () => number;
  readonly wall: () => number;
}

const MOST_CHANGES = 10_000;
const ENTRY_BYTES = 1_000;
/** Each of the encodings may take as much as the body. */
const sizeOf = ({ body }: KeptAnswer, name: string) => ENTRY_BYTES + 2 * name.length + 3 * body.length;

const meet = (a: KeptArea, b: KeptArea) =>
  a.scope === b.scope && a.ranges.some(({ from, to }) => b.ranges.some((other) => from < other.to && other.from < to));

/** Answers of this process, each as long as nothing has changed in its area. */
export class AnswerMemory {
  readonly #options: AnswerMemoryOptions;
  /** Where something has changed lately, in order. */
  #changes: (KeptArea & Moment)[] = [];
  #number = 0;
  /** The last change that was forgotten. */
  #forgotten = 0;
  readonly #kept: LRUCache<string, { readonly answer: KeptAnswer; readonly area: KeptArea; since: Moment }> | undefined;

  constructor(options: AnswerMemoryOptions) {
    this.#options = options;
    const { maxBytes: maxSize } = options;
    if (maxSize > 0)
      this.#kept = new LRUCache({ maxSize, sizeCalculation: ({ answer }, name) => sizeOf(answer, name) });
  }

  /** Call before the reads for an answer that will be put. */
  moment(): Moment {
    return { number: this.#number, at: this.#options.now() };
  }

  get(name: string): KeptAnswer | undefined {
    const kept = this.#kept?.get(name);
    if (kept === undefined || !this.#options.trusted(kept.area.scope)) return undefined;
    const { answer, area, since } = kept;
    if (this.#options.wall() >= answer.expiresAt || this.#hasChanged(area, since)) {
      this.#kept?.delete(name);
      return undefined;
    }
    // The changes up to now need not be looked at again.
    kept.since = { ...since, number: this.#number };
    return answer;
  }

  /** Keeps an answer whose reads began at a moment. */
  put(name: string, answer: KeptAnswer, area: KeptArea, since: Moment): void {
    if (this.#options.trusted(area.scope) && !this.#hasChanged(area, since))
      this.#kept?.set(name, { answer, area, since });
  }

  /** Call for every change, when it can be read. */
  changed(scope: string, ranges: readonly ZRange[]): void {
    if (ranges.length > 0) this.#changes.push({ scope, ranges, number: ++this.#number, at: this.#options.now() });
    // A half at a time, as each time takes long.
    if (this.#changes.length > MOST_CHANGES) {
      this.#forgotten = this.#changes[MOST_CHANGES / 2]?.number ?? this.#number;
      this.#changes = this.#changes.slice(MOST_CHANGES / 2 + 1);
    }
  }

  /** Forgets everything, because changes may have been missed. */
  clear(): void {
    this.#forgotten = ++this.#number;
    this.#kept?.clear();
  }

  /** Whether something may have changed since a moment, or so shortly before that lagging reads may not have seen it. */
  #hasChanged(area: KeptArea, since: Moment): boolean {
    if (since.number < this.#forgotten) return true;
    for (let index = this.#changes.length - 1; index >= 0; index--) {
      const change = this.#changes[index];
      if (change === undefined || (change.number <= since.number && change.at <= since.at - LAG_MS)) return false;
      if (meet(change, area)) return true;
    }
    return false;
  }
}
