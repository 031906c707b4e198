import { createHash } from 'node:crypto';

import type { Units } from './published.js';

/** Neighboring items of one partition key, or a single item, which no partition boundary can divide. */
export interface Stretch {
  readonly pk: string;
  /** Its position among the items of the partition key. */
  readonly sort: number;
  readonly bytes: number;
  readonly isItem?: boolean;
}

/**
 * The position of a partition key, 0 to below 1. DynamoDB's hash function is not published: any that spreads keys
 * evenly will do.
 */
function hashOf(pk: string): number {
  return createHash('md5').update(pk).digest().readUIntBE(0, 6) / 2 ** 48;
}

/**
 * Prefix sums over stretches, so that the sum of a part of the line takes two look-ups. Stretches are evenly filled.
 */
export class LineSums {
  readonly #upTo: Float64Array;

  constructor(values: Float64Array) {
    this.#upTo = new Float64Array(values.length + 1);
    for (let at = 0; at < values.length; at++) this.#upTo[at + 1] = (this.#upTo[at] ?? 0) + (values[at] ?? 0);
  }

  /** The sum before a position on the line. */
  before(place: number): number {
    const at = Math.floor(place);
    const whole = this.#upTo[at] ?? 0;
    return at === place ? whole : whole + (place - at) * ((this.#upTo[at + 1] ?? whole) - whole);
  }

  within(from: number, to: number): number {
    return this.before(to) - this.before(from);
  }

  /** The position that halves the sum of a part of the line. */
  middleOf(from: number, to: number): number {
    const wanted = (this.before(from) + this.before(to)) / 2;
    let [low, high] = [from, to];
    // To far below a thousandth of a stretch, which may contain a whole city.
    for (let step = 0; step < 60; step++) {
      const middle = (low + high) / 2;
      if (this.before(middle) < wanted) low = middle;
      else high = middle;
    }
    return (low + high) / 2;
  }
}

/**
 * All items of a table or index in the order of DynamoDB's partitions: stretch n is the part of a line from n to n + 1.
 */
export class KeyLine {
  readonly stretches: readonly Stretch[];
  readonly bytes: LineSums;
  readonly #hashes: readonly number[];
  readonly #places: readonly number[];
  readonly #splitsKeys: boolean;

  /** Local secondary indexes prevent DynamoDB from splitting a partition key: `splitsKeys` is then false. */
  constructor(stretches: readonly Stretch[], splitsKeys = true) {
    this.#splitsKeys = splitsKeys;
    const hashes = new Map<string, number>();
    for (const { pk } of stretches) if (!hashes.has(pk)) hashes.set(pk, hashOf(pk));
    const hashAt = (index: number) => hashes.get(stretches[index]?.pk ?? '') ?? 0;
    const order = stretches.map((_, index) => index);
    order.sort((a, b) => hashAt(a) - hashAt(b) || (stretches[a]?.sort ?? 0) - (stretches[b]?.sort ?? 0));
    this.stretches = order.flatMap((index) => stretches[index] ?? []);
    this.#hashes = order.map(hashAt);
    const places = order.map(() => 0);
    order.forEach((index, place) => (places[index] = place));
    this.#places = places;
    this.bytes = new LineSums(Float64Array.from(this.stretches, ({ bytes }) => bytes));
  }

  /** Values of stretches, in the order in which they were given, along the line. */
  along(values: Float64Array): LineSums {
    const line = new Float64Array(values.length);
    values.forEach((value, index) => (line[this.#places[index] ?? 0] = value));
    return new LineSums(line);
  }

  /** The position where a share of all hashes ends. */
  placeOf(share: number): number {
    const at = this.#hashes.findIndex((hash) => hash >= share);
    return at < 0 ? this.stretches.length : at;
  }

  /** The nearest position in a part of the line where it can be cut; undefined if there is none. */
  cutNear(place: number, from: number, to: number): number | undefined {
    const at = Math.floor(place);
    if (this.#splitsKeys && this.stretches[at]?.isItem !== true) return place > from && place < to ? place : undefined;
    let [before, after] = [at, at + 1];
    while (!this.#endsAt(before) && before > from) before -= 1;
    while (!this.#endsAt(after) && after < to) after += 1;
    const nearest = place - before <= after - place ? [before, after] : [after, before];
    return nearest.find((cut) => cut > from && cut < to);
  }

  /** Whether something that cannot be split ends at a position between two stretches. */
  #endsAt(place: number): boolean {
    return this.#splitsKeys || this.stretches[place - 1]?.pk !== this.stretches[place]?.pk;
  }
}

/** Units per second along a line. */
export type Demand = Readonly<Record<keyof Units, LineSums>>;
