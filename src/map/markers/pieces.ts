import type { ZRange } from '../../geo/ranges.js';

export interface JoinOptions {
  /** Places of one partition: a range never reaches into the next. */
  readonly partition: number;
  /** What it costs to read what lies between two pieces. */
  readonly weight: (from: number, to: number) => number;
  /** What a range of its own costs. */
  readonly price: number;
  /** Most ranges wanted; more come only where the pieces lie in more partitions than that. */
  readonly most: number;
}

/** Pieces of Z-order (sorted, disjoint) as ranges: joined where that is cheaper than another range, or needs be. */
export function joinPieces(pieces: readonly ZRange[], { partition, weight, price, most }: JoinOptions): ZRange[] {
  const cut: ZRange[] = pieces.flatMap(({ from, to }) => {
    const parts: ZRange[] = [];
    for (let start = from; start < to;) {
      const end = Math.min(to, (Math.floor(start / partition) + 1) * partition);
      parts.push({ from: start, to: end });
      start = end;
    }
    return parts;
  });
  const gapBefore = cut.map(({ from }, index) => {
    const before = cut[index - 1];
    if (!before || Math.floor((before.to - 1) / partition) !== Math.floor(from / partition)) return Infinity;
    return weight(before.to, from);
  });
  const gaps = gapBefore.filter((gap) => gap < Infinity).toSorted((a, b) => b - a);
  const splits = Math.max(0, most - (cut.length - gaps.length));
  const threshold = Math.max(price, gaps[splits] ?? 0);

  const ranges: { from: number; to: number }[] = [];
  cut.forEach((piece, index) => {
    const last = ranges.at(-1);
    if (last && (gapBefore[index] ?? Infinity) <= threshold) last.to = piece.to;
    else ranges.push({ ...piece });
  });
  return ranges;
}

/** What two lists of ranges (each sorted and disjoint) have in common. */
export function intersect(a: readonly ZRange[], b: readonly ZRange[]): ZRange[] {
  const common: ZRange[] = [];
  let i = 0;
  let j = 0;
  for (;;) {
    const one = a[i];
    const other = b[j];
    if (!one || !other) return common;
    const from = Math.max(one.from, other.from);
    const to = Math.min(one.to, other.to);
    if (from < to) common.push({ from, to });
    if (one.to < other.to) i++;
    else j++;
  }
}
