import { LRUCache } from 'lru-cache';

import type { ZRange } from '../geo/ranges.js';
import { LAG_MS } from './followed-cache.js';

interface Change extends ZRange {
  readonly number: number;
  readonly at: number;
}

interface Scope {
  readonly changes: Change[];
  /** The number of the last change that was forgotten. */
  forgotten: number;
}

const MOST_CHANGES = 2_000;
const MOST_SCOPES = 500;

/** A moment between two changes. */
export interface Moment {
  readonly number: number;
  /** In milliseconds of a monotonic clock. */
  readonly at: number;
}

/** Where the markers of collections have changed lately, as ranges of Z-order at length 10. */
export class AreaChanges {
  readonly #now: () => number;
  #number = 0;
  /** Nothing is known of the changes up to this one. */
  #blind = 0;
  readonly #scopes = new LRUCache<string, Scope>({
    max: MOST_SCOPES,
    dispose: ({ changes }) => {
      this.#blind = Math.max(this.#blind, changes.at(-1)?.number ?? 0);
    },
  });

  constructor(now: () => number) {
    this.#now = now;
  }

  moment(): Moment {
    return { number: this.#number, at: this.#now() };
  }

  changed(scope: string, ranges: readonly ZRange[]): void {
    const known = this.#scopes.get(scope) ?? { changes: [], forgotten: 0 };
    if (known.changes.length === 0) this.#scopes.set(scope, known);
    for (const { from, to } of ranges) known.changes.push({ from, to, number: ++this.#number, at: this.#now() });
    const more = known.changes.length - MOST_CHANGES;
    if (more > 0) known.forgotten = known.changes.splice(0, more).at(-1)?.number ?? known.forgotten;
  }

  /** Forgets everything: changes may have been missed. */
  clear(): void {
    this.#blind = ++this.#number;
    this.#scopes.clear();
  }

  /**
   * Whether something may have changed in some ranges since a moment, or so shortly before that eventually consistent reads
   * may not have seen it.
   */
  hasChanged(scope: string, ranges: readonly ZRange[], since: Moment): boolean {
    const { changes = [], forgotten = 0 } = this.#scopes.get(scope) ?? {};
    if (since.number < Math.max(this.#blind, forgotten)) return true;
    for (let index = changes.length - 1; index >= 0; index--) {
      const change = changes[index];
      if (change === undefined || (change.number <= since.number && change.at <= since.at - LAG_MS)) return false;
      if (ranges.some(({ from, to }) => from < change.to && change.from < to)) return true;
    }
    return false;
  }
}
