import type { ZRange } from '../geo/ranges.js';

/*
 * The cost model of all plans, in steps of half a read unit, the least that a Query costs. The figures were found by trial
 * on 45 to 66 viewports of 135,233 real cities (bench/viewports.ts, bench/field-figures.ts).
 */

/** Markers that one step pays for: 4 KB of index entries of about 170 bytes. */
const MARKERS_A_STEP = 24;

/** What a round trip is worth: with less, plans make many small Query calls. */
const ROUND_TRIP = 0.75;

/** A gap with fewer markers in it never pays for a Query of its own. */
const LIGHTEST_GAP = 8;

/** Most gaps of a partition that are weighed against each other: the time this takes grows with their square. */
const MOST_GAPS = 48;

/** The price of a Query that reads so many markers: one step at least, else half a step is lost to rounding. */
const price = (markers: number) => ROUND_TRIP + Math.max(1, markers / MARKERS_A_STEP + 0.5);

/** How many markers are expected before a position in Z-order, counted from anywhere: only differences mean something. */
export type MarkersBefore = (z: number) => number;

/**
 * Joins sorted pieces of one partition into the ranges that cost least to read: across a gap where the markers expected
 * in it cost less than a further Query.
 */
export function joinPieces(pieces: readonly ZRange[], before: MarkersBefore): ZRange[] {
  const starts = pieces.map(({ from }) => before(from));
  const ends = pieces.map(({ to }) => before(to));
  const gapBefore = (index: number) => (starts[index] ?? 0) - (ends[index - 1] ?? 0);
  const heavy = pieces
    .map((_, index) => index)
    .filter((index) => index > 0 && gapBefore(index) >= LIGHTEST_GAP)
    .sort((a, b) => gapBefore(b) - gapBefore(a))
    .slice(0, MOST_GAPS)
    .sort((a, b) => a - b);

  // The cheapest way to read all before a heavy gap ends with one Query that begins after an earlier one.
  const borders = [0, ...heavy, pieces.length];
  const cheapest: { cost: number; from: number }[] = [{ cost: 0, from: 0 }];
  for (let to = 1; to < borders.length; to++) {
    const end = ends[(borders[to] ?? 0) - 1] ?? 0;
    let best = { cost: Infinity, from: 0 };
    for (let from = 0; from < to; from++) {
      const cost = (cheapest[from]?.cost ?? 0) + price(end - (starts[borders[from] ?? 0] ?? 0));
      if (cost < best.cost) best = { cost, from };
    }
    cheapest.push(best);
  }

  const joined: ZRange[] = [];
  for (let to = borders.length - 1; to > 0;) {
    const from = cheapest[to]?.from ?? 0;
    const [first, last] = [pieces[borders[from] ?? 0], pieces[(borders[to] ?? 0) - 1]];
    if (first && last) joined.push({ from: first.from, to: last.to });
    to = from;
  }
  return joined.reverse();
}

/**
 * Sorted ranges, each within one partition of `size` positions, joined further until there are at most so many: across
 * the gaps that hold the fewest markers. More are left only where they lie in more partitions than that.
 */
export function joinToFit(ranges: readonly ZRange[], most: number, size: number, before: MarkersBefore): ZRange[] {
  const gaps = ranges.flatMap(({ from }, index) => {
    const last = ranges[index - 1];
    const together = last && Math.floor(last.from / size) === Math.floor(from / size);
    return together ? [{ index, weight: before(from) - before(last.to) }] : [];
  });
  const closed = gaps.toSorted((a, b) => a.weight - b.weight).slice(0, Math.max(0, ranges.length - most));
  const joined = new Set(closed.map(({ index }) => index));
  const fitted: { from: number; to: number }[] = [];
  ranges.forEach((range, index) => {
    const last = fitted.at(-1);
    if (last && joined.has(index)) last.to = range.to;
    else fitted.push({ ...range });
  });
  return fitted;
}
