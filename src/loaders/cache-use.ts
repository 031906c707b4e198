/** Counts how often a cache has, and has not, what is looked for. */
export class CacheUse {
  #hits = 0;
  #misses = 0;

  /** Returns what was looked for. */
  counted<Value>(value: Value | undefined): Value | undefined {
    if (value === undefined) this.#misses += 1;
    else this.#hits += 1;
    return value;
  }

  figures(bytes = 0) {
    return { bytes, hits: this.#hits, misses: this.#misses };
  }
}
