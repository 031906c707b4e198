import { fromZ, LONGEST_Z, type ZRange } from '../geo/geohash.js';
import { firstIndex } from '../pages/bisect.js';

/** A stretch of Z-order at length 10 with a number of markers, assumed to be evenly spread. */
export interface Stretch extends ZRange {
  readonly markers: number;
}

/** Geohash prefixes of one length with equal numbers of markers. */
export interface EqualPrefixes {
  /** The index of the first of them among the prefixes of its length. */
  readonly prefix: number;
  /** The number of these prefixes; more than one if it is not known which of them has a marker. */
  readonly alike: number;
  /** Number of markers of each. */
  readonly markers: number;
}

/**
 * The distribution of a collection's markers: exact if each has its own stretch, otherwise as fine as the known cells.
 */
export class Distribution {
  readonly stretches: readonly Stretch[];
  /** Number of markers before each stretch, followed by the total. */
  readonly #before: Float64Array;

  /** Stretches are disjoint, except for markers at the same position, and each lies within one cell. */
  constructor(stretches: readonly Stretch[]) {
    this.stretches = stretches.toSorted((a, b) => a.from - b.from);
    this.#before = new Float64Array(stretches.length + 1);
    this.stretches.forEach(({ markers }, index) => {
      this.#before[index + 1] = (this.#before[index] ?? 0) + markers;
    });
  }

  get markers(): number {
    return this.#before[this.stretches.length] ?? 0;
  }

  /** Approximate number of markers before a position. */
  before(z: number): number {
    const at = this.#firstFrom(z);
    const last = this.stretches[at - 1];
    const whole = this.#before[at] ?? 0;
    return last && last.to > z ? whole - (last.markers * (last.to - z)) / (last.to - last.from) : whole;
  }

  /** Approximate number of markers within a range. */
  within({ from, to }: ZRange): number {
    return this.before(to) - this.before(from);
  }

  /** The position of the marker that is preceded by this number of markers. */
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

  /** All non-empty prefixes of a length, in order. */
  *prefixes(length: number): Generator<EqualPrefixes> {
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

  /** The prefix of a length with the most markers, and its share of all markers, 0 to 1. */
  hottest(length: number): { readonly prefix: string; readonly share: number } {
    let hottest: EqualPrefixes = { prefix: 0, alike: 1, markers: 0 };
    for (const each of this.prefixes(length)) if (each.markers > hottest.markers) hottest = each;
    const share = this.markers === 0 ? 0 : hottest.markers / this.markers;
    return { prefix: fromZ(hottest.prefix, length), share };
  }

  /** The given number of markers with the same distribution. */
  scaledTo(markers: number): Distribution {
    const factor = markers / this.markers;
    return new Distribution(this.stretches.map((each) => ({ ...each, markers: each.markers * factor })));
  }

  /** The index of the first stretch that does not begin before a position. */
  #firstFrom(z: number): number {
    return firstIndex(this.stretches.length, (index) => (this.stretches[index]?.from ?? 0) >= z);
  }
}
