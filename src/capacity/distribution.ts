import { LONGEST_Z, fromZ } from '../geo/geohash.js';
import type { ZRange } from '../geo/ranges.js';

/** A stretch of Z-order at length 10 and how many markers it holds, evenly spread. */
export interface Stretch extends ZRange {
  readonly markers: number;
}

/** Geohash prefixes of a length that have equally many markers. */
export interface Prefixes {
  /** The first of them, by its position among those of its length. */
  readonly prefix: number;
  /** How many there are: more than one where it is not known which of them has a marker. */
  readonly alike: number;
  /** Markers of each. */
  readonly markers: number;
}

/** Where the markers of a collection are: exactly if each has a stretch of its own, else as finely as cells were known. */
export class Distribution {
  readonly stretches: readonly Stretch[];
  /** How many markers come before each stretch, and how many there are. */
  readonly #before: Float64Array;

  /** Stretches are disjoint, apart from markers on one spot, and each lies within one cell. */
  constructor(stretches: readonly Stretch[]) {
    this.stretches = stretches.toSorted((a, b) => a.from - b.from);
    this.#before = new Float64Array(stretches.length + 1);
    this.stretches.forEach(({ markers }, index) => {
      this.#before[index + 1] = (this.#before[index] ?? 0) + markers;
    });
  }

  /** How many markers there are. */
  get markers(): number {
    return this.#before[this.stretches.length] ?? 0;
  }

  /** About how many markers come before a position. */
  before(z: number): number {
    const at = this.#firstFrom(z);
    const last = this.stretches[at - 1];
    const whole = this.#before[at] ?? 0;
    return last && last.to > z ? whole - (last.markers * (last.to - z)) / (last.to - last.from) : whole;
  }

  /** About how many markers are in a range. */
  within({ from, to }: ZRange): number {
    return this.before(to) - this.before(from);
  }

  /** The position of the marker that has so many before it. */
  positionAt(markers: number): number {
    let low = 0;
    let high = this.stretches.length - 1;
    while (low < high) {
      const middle = (low + high + 1) >> 1;
      if ((this.#before[middle] ?? 0) <= markers) low = middle;
      else high = middle - 1;
    }
    const stretch = this.stretches[low];
    if (!stretch) return 0;
    const part = (markers - (this.#before[low] ?? 0)) / stretch.markers;
    return Math.min(stretch.to - 1, stretch.from + Math.floor(part * (stretch.to - stretch.from)));
  }

  /** All prefixes of a length that have markers, in their order. */
  *prefixes(length: number): Generator<Prefixes> {
    const size = 32 ** (LONGEST_Z - length);
    let open: { prefix: number; alike: number; markers: number } | undefined;
    for (const { from, to, markers } of this.stretches) {
      const prefix = Math.floor(from / size);
      const alike = Math.max(1, (to - from) / size);
      if (open?.prefix === prefix) open.markers += markers;
      else {
        if (open) yield open;
        open = { prefix, alike, markers: markers / alike };
      }
    }
    if (open) yield open;
  }

  /** The prefix of a length that has most markers, and its part of all markers, 0 to 1. */
  hottest(length: number): { readonly prefix: string; readonly share: number } {
    let hottest: Prefixes = { prefix: 0, alike: 1, markers: 0 };
    for (const each of this.prefixes(length)) if (each.markers > hottest.markers) hottest = each;
    const share = this.markers === 0 ? 0 : hottest.markers / this.markers;
    return { prefix: fromZ(hottest.prefix, length), share };
  }

  /** The given number of markers, spread as these are. */
  scaledTo(markers: number): Distribution {
    const factor = markers / this.markers;
    return new Distribution(this.stretches.map((each) => ({ ...each, markers: each.markers * factor })));
  }

  /** The index of the first stretch that does not begin before a position. */
  #firstFrom(z: number): number {
    let low = 0;
    let high = this.stretches.length;
    while (low < high) {
      const middle = (low + high) >> 1;
      if ((this.stretches[middle]?.from ?? 0) < z) low = middle + 1;
      else high = middle;
    }
    return low;
  }
}
