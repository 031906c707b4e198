import { GEOHASH_ALPHABET, LONGEST_Z, toZ, type ZRange } from '../geo/geohash.js';
import { compareBytes } from '../keys/byte-order.js';
import { firstIndex } from './bisect.js';

/** A directory's entry for a page: its begin, and its approximate number of markers and bytes. */
export interface PageHint {
  readonly begin: string;
  readonly markers: number;
  readonly bytes: number;
  /** Whether the directory from here to the next hint is unknown: it may have any number of pages. */
  readonly isGap?: true;
}

/** Neighboring pages of a partition, as listed in one item of the directory: those that begin between its begin and its end. */
export interface DirectoryPart {
  readonly begin: string;
  readonly hints: readonly PageHint[];
  /** Where the next part begins, or a position after the partition. */
  readonly end: string;
}

/** Hints of neighboring pages as parts of `size` pages; the last one ends at `end`. */
export function partsOfHints(hints: readonly PageHint[], end: string, size: number): DirectoryPart[] {
  const parts: DirectoryPart[] = [];
  for (let from = 0; from < hints.length; from += size) {
    const some = hints.slice(from, from + size);
    parts.push({ begin: some[0]?.begin ?? end, hints: some, end: hints[from + size]?.begin ?? end });
  }
  return parts;
}

/** The size of a gap: too large for any plan to read across it. */
export const GAP_BYTES = 2 ** 40;
const gapAt = (begin: string): PageHint => ({ begin, markers: 0, bytes: GAP_BYTES, isGap: true });

/**
 * The pages of a partition listed in the known parts of its directory, which are sorted. A gap begins with a page, as parts do. A
 * part may be old, or written late by a process that does not know that another one begins within it.
 */
export function pagesOfParts(partition: string, parts: readonly DirectoryPart[]): PartitionPages {
  const hints: PageHint[] = [];
  let at = partition;
  for (const [index, part] of parts.entries()) {
    if (compareBytes(at, part.begin) < 0) hints.push(gapAt(at));
    const next = parts[index + 1]?.begin;
    const isCut = next !== undefined && compareBytes(next, part.end) < 0;
    at = isCut ? next : part.end;
    hints.push(...(isCut ? part.hints.filter(({ begin }) => compareBytes(begin, next) < 0) : part.hints));
  }
  if (compareBytes(at, afterPartition(partition)) < 0) hints.push(gapAt(at));
  return new PartitionPages(hints);
}

const FIRST = GEOHASH_ALPHABET.charAt(0);
/** A position after all pages of a position's partition: `~` sorts after all geohash characters. */
export const afterPartition = (position: string): string => `${position.charAt(0)}~`;

const PARTITION_SIZE = 32 ** (LONGEST_Z - 1);

/** The Z-order position, at length 10, of the first geohash whose markers a page with this begin can have. */
export const positionOf = (begin: string) => toZ(begin.slice(0, LONGEST_Z).padEnd(LONGEST_Z, FIRST));

/** The Z-order positions of a partition at length 10. */
export function partitionRange(partition: string): ZRange {
  const z = toZ(partition);
  return { from: z * PARTITION_SIZE, to: (z + 1) * PARTITION_SIZE };
}

/** Whether a partition overlaps sorted, disjoint ranges of Z-order at length 10. */
export function overlaps(partition: string, cover: readonly ZRange[]): boolean {
  const { from, to } = partitionRange(partition);
  const next = cover[firstIndex(cover.length, (index) => (cover[index]?.to ?? Infinity) > from)];
  return next !== undefined && next.from < to;
}

/** The index of the first of some sorted numbers that exceeds a value; their number if none does. */
const firstAbove = (sorted: readonly number[], value: number) =>
  firstIndex(sorted.length, (index) => (sorted[index] ?? Infinity) > value);

/** The prefix sums of some numbers: before each of them, and the total. */
function sumsOf(numbers: readonly number[]): number[] {
  const sums = [0];
  for (const number of numbers) sums.push((sums.at(-1) ?? 0) + number);
  return sums;
}

/** Neighboring pages, by first and last index in a directory, both included. */
export interface PageRun {
  readonly first: number;
  readonly last: number;
}

/** Runs in order, those joined that overlap or adjoin. */
export function joinedRuns(runs: Iterable<PageRun>): PageRun[] {
  const joined: { first: number; last: number }[] = [];
  for (const { first, last } of runs) {
    const run = joined.at(-1);
    if (run && run.last >= first - 1) run.last = Math.max(run.last, last);
    else joined.push({ first, last });
  }
  return joined;
}

/**
 * The pages of a partition, identified by the first character of geohashes, in order. It may lag behind: every page in
 * it exists, but others may have split from it.
 */
export class PartitionPages {
  readonly hints: readonly PageHint[];
  /** Where each page's stretch begins in Z-order at length 10, followed by the end of the partition. */
  readonly #from: readonly number[];
  /** Where each page's stretch ends. A stretch that ends within a geohash shares that position with the next page. */
  readonly #to: readonly number[];
  readonly #bytes: readonly number[];
  readonly #markers: readonly number[];

  constructor(hints: readonly PageHint[]) {
    this.hints = hints;
    const begins = hints.map(({ begin }) => begin);
    this.#from = begins.map(positionOf);
    const { to: end } = partitionRange(begins[0]?.charAt(0) ?? FIRST);
    this.#to = hints.map((_, index) => {
      const next = begins[index + 1];
      return next === undefined ? end : positionOf(next) + (next.length > LONGEST_Z ? 1 : 0);
    });
    this.#bytes = sumsOf(hints.map(({ bytes }) => bytes));
    this.#markers = sumsOf(hints.map(({ markers }) => markers));
  }

  /** The Z-order positions, at length 10, of the pages from one index to another, both included. */
  range(first: number, last: number): ZRange {
    return { from: this.#from[first] ?? 0, to: this.#to[last] ?? 0 };
  }

  /** The approximate number of bytes of the pages from one index to another, both included. */
  bytes(first: number, last: number): number {
    return (this.#bytes[last + 1] ?? 0) - (this.#bytes[first] ?? 0);
  }

  /** The approximate number of markers of the pages from one index to another, both included. */
  markers(first: number, last: number): number {
    return (this.#markers[last + 1] ?? 0) - (this.#markers[first] ?? 0);
  }

  /**
   * The first and last of the pages whose stretches overlap a range of Z-order; the first is after the last if there
   * are none.
   */
  meeting({ from, to }: ZRange): PageRun {
    return { first: firstAbove(this.#to, from), last: firstAbove(this.#from, to - 1) - 1 };
  }

  /** The runs of neighboring pages whose stretches overlap sorted, disjoint ranges of Z-order. */
  overlapping(cover: readonly ZRange[]): PageRun[] {
    return joinedRuns(cover.map((range) => this.meeting(range)).filter(({ first, last }) => first <= last));
  }
}

/** The pages of a collection by partition. */
export type Directory = ReadonlyMap<string, PartitionPages>;
