import type { ZRange } from '../geo/ranges.js';

/** Pieces joined into one range. */
export interface JoinedRange extends ZRange {
  /** Markers to be expected in the pieces, without what lies between them. */
  readonly held: number;
}

/** Markers that half a read unit pays for: 4 KB of index entries of about 170 bytes. */
const MARKERS_A_STEP = 24;

/** What a round trip is worth, in steps of half a read unit: by trial on real cities, where less gives many small Query calls. */
const ROUND_TRIP = 0.75;

/** A gap with fewer markers in it never pays for a Query of its own. */
const LIGHTEST_GAP = 8;

/** Most gaps of a partition that are weighed against each other: the time this takes grows with their square. */
const MOST_GAPS = 48;

/** The price of a Query that reads so many markers, in steps of half a read unit: one at least, else half a step is lost. */
const price = (markers: number) => ROUND_TRIP + Math.max(1, markers / MARKERS_A_STEP + 0.5);

/**
 * Joins sorted pieces of one partition into the ranges that cost least to read: across a gap where the markers to be
 * expected in it cost less than a further Query. `before` gives the markers to be expected before a place.
 */
export function joinPieces(pieces: readonly ZRange[], before: (z: number) => number): JoinedRange[] {
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

  const joined: JoinedRange[] = [];
  for (let to = borders.length - 1; to > 0;) {
    const from = cheapest[to]?.from ?? 0;
    joined.push(rangeOf(borders[from] ?? 0, borders[to] ?? 0));
    to = from;
  }
  return joined.reverse();

  /** The range of some pieces, from one up to before another. */
  function rangeOf(one: number, another: number): JoinedRange {
    const first = pieces[one];
    const last = pieces[another - 1];
    if (!first || !last) throw new Error('a range is joined from at least one piece');
    let held = 0;
    for (let index = one; index < another; index++) held += (ends[index] ?? 0) - (starts[index] ?? 0);
    return { from: first.from, to: last.to, held };
  }
}
