import { LRUCache } from 'lru-cache';

import type { ZRange } from '../geo/geohash.js';
import { CacheUse } from './cache-use.js';
import { LAG_MS } from './followed-cache.js';

/** Some ranges of Z-order at length 10 of the collection with a scope. */
export interface KeptArea {
  readonly scope: string;
  readonly ranges: readonly ZRange[];
}

/** The number of the last change, and a monotonic time in milliseconds. */
export interface Moment {
  readonly number: number;
  readonly at: number;
}

/** Changes and their ranges that are remembered, some 80 bytes each: of one batch, there may be thousands of ranges. */
const MOST_CHANGES = 20_000;
const RANGE_BYTES = 80;

const meet = (a: KeptArea, b: KeptArea) =>
  a.scope === b.scope && a.ranges.some(({ from, to }) => b.ranges.some((other) => from < other.to && other.from < to));

/** Where collections have changed lately. */
export class ChangeLog {
  readonly #now: () => number;
  /** In order. */
  #changes: (KeptArea & Moment)[] = [];
  /** How many they are, with their ranges. */
  #size = 0;
  #number = 0;
  /** That of the last change that was forgotten. */
  #forgotten: Moment = { number: 0, at: -Infinity };

  /** `now`: monotonic time in milliseconds. */
  constructor(now: () => number) {
    this.#now = now;
  }

  moment(): Moment {
    return { number: this.#number, at: this.#now() };
  }

  /** Call for every change, when it can be read. */
  changed(scope: string, ranges: readonly ZRange[]): void {
    if (ranges.length === 0) return;
    this.#changes.push({ scope, ranges, number: ++this.#number, at: this.#now() });
    this.#size += 1 + ranges.length;
    if (this.#size <= MOST_CHANGES) return;
    // A half at a time, as each time takes long.
    let first = 0;
    for (; this.#size > MOST_CHANGES / 2; first += 1) {
      const { ranges: forgotten = [], number: last = 0, at = 0 } = this.#changes[first] ?? {};
      this.#size -= 1 + forgotten.length;
      this.#forgotten = { number: last, at };
    }
    this.#changes = this.#changes.slice(first);
  }

  /** Call if changes may have been missed: from now on, everything may have changed before. */
  clear(): void {
    this.#forgotten = { ...this.#forgotten, number: ++this.#number };
    this.#changes = [];
    this.#size = 0;
  }

  /** Whether something may have changed since a moment, or so shortly before that lagging reads may not have seen it. */
  hasChanged(area: KeptArea, since: Moment): boolean {
    if (since.number < this.#forgotten.number || since.at - LAG_MS < this.#forgotten.at) return true;
    for (let index = this.#changes.length - 1; index >= 0; index--) {
      const change = this.#changes[index];
      if (change === undefined || (change.number <= since.number && change.at <= since.at - LAG_MS)) return false;
      if (meet(change, area)) return true;
    }
    return false;
  }
}

export interface AreaMemoryOptions<Value> {
  /** 0 turns the memory off. */
  readonly maxBytes: number;
  readonly bytesOf: (value: Value, name: string) => number;
  readonly changes: ChangeLog;
  /** Whether `changes` has every change of the collection with this scope soon after it can be read. */
  readonly trusted: (scope: string) => boolean;
}

interface Kept<Value> {
  readonly value: Value;
  readonly area: KeptArea;
  /** Changes up to this moment need not be looked at again. */
  since: Moment;
}

/** Values that were made of what a collection has in some area, each as long as nothing has changed there. */
export class AreaMemory<Value extends object> {
  readonly #options: AreaMemoryOptions<Value>;
  readonly #kept: LRUCache<string, Kept<Value>> | undefined;
  readonly #use = new CacheUse();

  constructor(options: AreaMemoryOptions<Value>) {
    this.#options = options;
    const { maxBytes: maxSize, bytesOf } = options;
    const sizeCalculation = ({ value, area }: Kept<Value>, name: string) =>
      bytesOf(value, name) + RANGE_BYTES * area.ranges.length;
    if (maxSize > 0) this.#kept = new LRUCache({ maxSize, sizeCalculation });
  }

  /** Whether values of the collection with this scope are kept now. */
  keeps(scope: string): boolean {
    return this.#kept !== undefined && this.#options.trusted(scope);
  }

  /** Call before the reads for a value that will be put. */
  moment(): Moment {
    return this.#options.changes.moment();
  }

  get(name: string): Value | undefined {
    return this.#use.counted(this.#find(name));
  }

  readonly figures = () => this.#use.figures(this.#kept?.calculatedSize);

  #find(name: string): Value | undefined {
    const kept = this.#kept?.get(name);
    if (kept === undefined || !this.#options.trusted(kept.area.scope)) return undefined;
    const { changes } = this.#options;
    if (changes.hasChanged(kept.area, kept.since)) {
      this.#kept?.delete(name);
      return undefined;
    }
    kept.since = { ...changes.moment(), at: Infinity };
    return kept.value;
  }

  /** Keeps a value whose reads began at a moment. */
  put(name: string, value: Value, area: KeptArea, since: Moment): void {
    const { changes, trusted } = this.#options;
    if (trusted(area.scope) && !changes.hasChanged(area, since)) this.#kept?.set(name, { value, area, since });
  }
}
