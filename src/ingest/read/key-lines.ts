import { hash } from 'node:crypto';

/** Four words of a key's hash, and its line. */
const WORDS = 5;
const HASH_WORDS = 4;
/** Marks a free slot, and a look-up. */
const NO_LINE = 0;
/** Number of tables that grow independently, so that each growth copies only a small part of the keys. */
const TABLES = 64;
const FIRST_SLOTS = 64;
const FULLEST = 0.7;
const GROWTH = 1.5;

/** The first 128 bits of a key's SHA-256, as four words. */
function wordsOf(key: string): Uint32Array {
  const digest = hash('sha256', key, 'buffer');
  const words = new Uint32Array(HASH_WORDS);
  for (let at = 0; at < HASH_WORDS; at += 1) words[at] = digest.readUInt32LE(at * 4);
  return words;
}

/** A hash table with open addressing, for keys whose hashes share the first word modulo TABLES. */
class Table {
  #slots = FIRST_SLOTS;
  #words = new Uint32Array(FIRST_SLOTS * WORDS);
  #used = 0;

  add(hashed: Uint32Array, line: number): number | undefined {
    const at = this.#find(hashed);
    const before = this.#words[at + HASH_WORDS] ?? 0;
    if (before > 0) return before;
    if (line === NO_LINE) return undefined;
    this.#words.set(hashed, at);
    this.#words[at + HASH_WORDS] = line;
    this.#used += 1;
    if (this.#used > this.#slots * FULLEST) this.#grow();
    return undefined;
  }

  /** Index of a hash, or of the free slot for it. */
  #find(hashed: Uint32Array): number {
    const words = this.#words;
    // The first word has selected the table.
    let slot = (hashed[1] ?? 0) % this.#slots;
    for (;;) {
      const at = slot * WORDS;
      if (words[at + HASH_WORDS] === NO_LINE) return at;
      let word = 0;
      while (word < HASH_WORDS && words[at + word] === hashed[word]) word += 1;
      if (word === HASH_WORDS) return at;
      slot = (slot + 1) % this.#slots;
    }
  }

  #grow(): void {
    const old = this.#words;
    this.#slots = Math.ceil(this.#slots * GROWTH);
    this.#words = new Uint32Array(this.#slots * WORDS);
    for (let at = 0; at < old.length; at += WORDS) {
      if (old[at + HASH_WORDS] === 0) continue;
      const entry = old.subarray(at, at + WORDS);
      this.#words.set(entry, this.#find(entry));
    }
  }
}

/**
 * Records the first line of each key of a file, in about 40 bytes per key of any length. Keys are compared by 128 bits
 * of SHA-256: the probability that any two of a billion keys collide is below 10^-20.
 */
export class KeyLines {
  readonly #tables = Array.from({ length: TABLES }, () => new Table());

  /** Records a key; returns the line, from 1, on which it first occurred, or undefined if it is new. */
  add(key: string, line: number): number | undefined {
    const hashed = wordsOf(key);
    return this.#tables[(hashed[0] ?? 0) % TABLES]?.add(hashed, line);
  }

  /** Whether a key was recorded. */
  has(key: string): boolean {
    return this.add(key, NO_LINE) !== undefined;
  }
}
