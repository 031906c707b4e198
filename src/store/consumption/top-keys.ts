import { PARTITION_LIMITS } from '../../model/dynamodb-limits.js';

/** Read and write units. */
export interface Units {
  readonly readUnits: number;
  readonly writeUnits: number;
}

const READS_OF_A_WRITE = PARTITION_LIMITS.readUnits / PARTITION_LIMITS.writeUnits;

/** Units as one number, by the share of a partition that they take: a write unit weighs as much as three read units. */
export function weightOf({ readUnits, writeUnits }: Units): number {
  return readUnits + READS_OF_A_WRITE * writeUnits;
}

/**
 * The partition keys that consume most, in constant memory: the space-saving sketch (Metwally, Agrawal, El Abbadi 2005) with
 * weights. A key without a counter takes over the one that weighs least and inherits its weight. So every key that has
 * consumed more than `missedAtMost` has a counter, and no counter misses more than that of its key; it never shows too much.
 */
export class TopKeys {
  readonly #counters: number;
  readonly #slots = new Map<string, number>();
  readonly #names: string[] = [];
  readonly #weights: Float64Array;
  readonly #readUnits: Float64Array;
  readonly #writeUnits: Float64Array;

  constructor(counters: number) {
    this.#counters = counters;
    this.#weights = new Float64Array(counters);
    this.#readUnits = new Float64Array(counters);
    this.#writeUnits = new Float64Array(counters);
  }

  /** The most weight that a key can have consumed beyond what is shown: at most the weight of all keys / counters. */
  get missedAtMost(): number {
    return this.#names.length < this.#counters ? 0 : (this.#weights[this.#lightest()] ?? 0);
  }

  add(name: string, units: Units): void {
    const slot = this.#slots.get(name) ?? this.#take(name);
    this.#weights[slot] = (this.#weights[slot] ?? 0) + weightOf(units);
    this.#readUnits[slot] = (this.#readUnits[slot] ?? 0) + units.readUnits;
    this.#writeUnits[slot] = (this.#writeUnits[slot] ?? 0) + units.writeUnits;
  }

  /** The keys that have a counter, with what they have consumed since they got it. */
  *entries(): Generator<readonly [name: string, units: Units], void, undefined> {
    for (const [slot, name] of this.#names.entries()) {
      yield [name, { readUnits: this.#readUnits[slot] ?? 0, writeUnits: this.#writeUnits[slot] ?? 0 }];
    }
  }

  #take(name: string): number {
    const slot = this.#names.length < this.#counters ? this.#names.length : this.#lightest();
    const before = this.#names[slot];
    if (before !== undefined) this.#slots.delete(before);
    this.#names[slot] = name;
    this.#slots.set(name, slot);
    this.#readUnits[slot] = 0;
    this.#writeUnits[slot] = 0;
    return slot;
  }

  #lightest(): number {
    const weights = this.#weights;
    let lightest = 0;
    // An iterator would take ten times as long.
    for (let slot = 1; slot < weights.length; slot += 1) {
      if ((weights[slot] ?? 0) < (weights[lightest] ?? 0)) lightest = slot;
    }
    return lightest;
  }
}
