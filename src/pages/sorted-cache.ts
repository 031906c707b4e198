import { LRUCache } from 'lru-cache';

import { compareBytes } from '../keys/byte-order.js';
import { firstIndex } from './bisect.js';

interface Kept<Value> {
  readonly group: string;
  readonly begin: string;
  readonly value: Value;
}

/** The number of sorted begins at or before a position. */
export function beginsUpTo(begins: readonly string[], position: string): number {
  return firstIndex(begins.length, (index) => compareBytes(begins[index] ?? '', position) > 0);
}

/** Caches values by group and by the position at which they begin, within a limit in bytes; the least recently used are evicted. */
export class SortedCache<Value extends object> {
  readonly #values: LRUCache<string, Kept<Value>> | undefined;
  /** Where the values of each group begin, in order. */
  readonly #begins = new Map<string, string[]>();

  /** With 0 bytes it caches nothing. */
  constructor(maxBytes: number, bytesOf: (value: Value) => number) {
    if (maxBytes <= 0) return;
    this.#values = new LRUCache<string, Kept<Value>>({
      maxSize: maxBytes,
      sizeCalculation: ({ value }, name) => bytesOf(value) + 2 * name.length,
      dispose: (kept, _, reason) => {
        if (reason !== 'set') this.#dropBegin(kept);
      },
    });
  }

  /** Where the values of a group begin, in order. */
  begins(group: string): readonly string[] {
    return this.#begins.get(group) ?? [];
  }

  /** The last value of a group that begins at a position or before it. */
  upTo(group: string, position: string): Value | undefined {
    const begins = this.begins(group);
    const begin = begins[beginsUpTo(begins, position) - 1];
    return begin === undefined ? undefined : this.#values?.get(`${group}\n${begin}`)?.value;
  }

  /** The value with a begin; this does not count as a use of it. */
  peek(group: string, begin: string): Value | undefined {
    return this.#values?.peek(`${group}\n${begin}`)?.value;
  }

  put(group: string, begin: string, value: Value): void {
    const name = `${group}\n${begin}`;
    this.#values?.delete(name);
    this.#values?.set(name, { group, begin, value });
    // A value that is larger than the limit is not cached.
    if (!this.#values?.has(name)) return;
    const begins = this.#begins.get(group) ?? [];
    this.#begins.set(group, begins);
    begins.splice(beginsUpTo(begins, begin), 0, begin);
  }

  delete(group: string, begin: string): void {
    this.#values?.delete(`${group}\n${begin}`);
  }

  /** Drops the groups whose names begin with a text. */
  deleteGroups(prefix: string): void {
    for (const [group, begins] of this.#begins)
      if (group.startsWith(prefix)) for (const begin of begins.toReversed()) this.delete(group, begin);
  }

  clear(): void {
    this.#values?.clear();
    this.#begins.clear();
  }

  #dropBegin({ group, begin }: Kept<Value>): void {
    const begins = this.#begins.get(group) ?? [];
    const at = beginsUpTo(begins, begin) - 1;
    if (begins[at] === begin) begins.splice(at, 1);
    if (begins.length === 0) this.#begins.delete(group);
  }
}
