import { LRUCache } from 'lru-cache';

import type { ZRange } from '../../geo/ranges.js';
import { AreaChanges, type Moment } from '../../loaders/area-changes.js';

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

interface Kept {
  readonly answer: KeptAnswer;
  readonly scope: string;
  readonly ranges: readonly ZRange[];
  /** Nothing that it shows has changed since. */
  since: Moment;
}

export interface AnswerMemoryOptions {
  readonly maxBytes: number;
  /** Whether `changed` is called for every change of the collection with this scope soon after it can be read. */
  readonly trusted: (scope: string) => boolean;
  /** Monotonic time, and milliseconds since 1970. */
  readonly now: () => number;
  readonly wall: () => number;
}

const ENTRY_BYTES = 1_000;
/** Each of the encodings may take as much as the body. */
const sizeOf = ({ body }: KeptAnswer, name: string) => ENTRY_BYTES + 2 * name.length + 3 * body.length;

/** Answers of this process, each as long as nothing has changed in its area. */
export class AnswerMemory {
  readonly #options: AnswerMemoryOptions;
  readonly #changes: AreaChanges;
  readonly #kept: LRUCache<string, Kept> | undefined;

  constructor(options: AnswerMemoryOptions) {
    this.#options = options;
    this.#changes = new AreaChanges(options.now);
    const { maxBytes: maxSize } = options;
    if (maxSize > 0)
      this.#kept = new LRUCache({ maxSize, sizeCalculation: ({ answer }, name) => sizeOf(answer, name) });
  }

  /** Call before the reads for an answer that will be put. */
  moment(): Moment {
    return this.#changes.moment();
  }

  get(name: string): KeptAnswer | undefined {
    const kept = this.#kept?.get(name);
    if (kept === undefined || !this.#options.trusted(kept.scope)) return undefined;
    const { answer, scope, ranges, since } = kept;
    if (this.#options.wall() >= answer.expiresAt || this.#changes.hasChanged(scope, ranges, since)) {
      this.#kept?.delete(name);
      return undefined;
    }
    // The changes up to now need not be looked at again.
    kept.since = { ...since, number: this.#changes.moment().number };
    return answer;
  }

  /** Keeps an answer whose reads began at a moment. */
  put(
    name: string,
    answer: KeptAnswer,
    area: { readonly scope: string; readonly ranges: readonly ZRange[] },
    since: Moment,
  ): void {
    const { scope, ranges } = area;
    if (!this.#options.trusted(scope) || this.#changes.hasChanged(scope, ranges, since)) return;
    this.#kept?.set(name, { answer, scope, ranges, since });
  }

  /** Call for every change, when it can be read: ranges of Z-order at length 10. */
  changed(scope: string, ranges: readonly ZRange[]): void {
    this.#changes.changed(scope, ranges);
  }

  /** Forgets everything, because changes may have been missed. */
  clear(): void {
    this.#changes.clear();
    this.#kept?.clear();
  }
}
