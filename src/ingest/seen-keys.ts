import { hash } from 'node:crypto';

/** Four words of a key's hash and one for the line on which it stood. */
const WORDS = 5;
const HASH_WORDS = 4;
const FIRST_SLOTS = 1024;
const FULLEST = 0.6;

/**
 * Remembers which keys a file has had and on which line, in about 40 bytes a key whatever its length. Keys are told apart by 128 bits of SHA-256:
 * that two of a billion keys share them is less likely than one in 10^20.
 */
export class SeenKeys {
  #slots = FIRST_SLOTS;
  #table = new Uint32Array(FIRST_SLOTS * WORDS);
  #used = 0;

  /** The line on which the key stood before, or undefined where this is its first; it is remembered then. Lines count from 1. */
  add(key: string, line: number): number | undefined {
    const digest = hash('sha256', key, 'buffer');
    const words = Array.from({ length: HASH_WORDS }, (_, at) => digest.readUInt32LE(at * 4));
    const slot = this.#find(words);
    const before = this.#table[slot + HASH_WORDS] ?? 0;
    if (before > 0) return before;
    this.#table.set([...words, line], slot);
    this.#used += 1;
    if (this.#used > this.#slots * FULLEST) this.#grow();
    return undefined;
  }

  /** Where a hash stands in the table, or the free place where it would. A line of 0 marks a free place. */
  #find(words: ArrayLike<number>): number {
    let slot = (words[0] ?? 0) % this.#slots;
    for (;;) {
      const at = slot * WORDS;
      if (this.#table[at + HASH_WORDS] === 0) return at;
      let same = true;
      for (let word = 0; word < HASH_WORDS; word += 1) same &&= this.#table[at + word] === words[word];
      if (same) return at;
      slot = (slot + 1) % this.#slots;
    }
  }

  #grow(): void {
    const old = this.#table;
    this.#slots *= 2;
    this.#table = new Uint32Array(this.#slots * WORDS);
    for (let at = 0; at < old.length; at += WORDS) {
      if (old[at + HASH_WORDS] === 0) continue;
      const entry = old.subarray(at, at + WORDS);
      this.#table.set(entry, this.#find(entry));
    }
  }
}
