import type { ZRange } from '../geo/geohash.js';

/** Pieces of one partition, which one Query can read together. */
export interface PartitionPieces {
  readonly partition: number;
  readonly pieces: readonly ZRange[];
}

/**
 * Cuts sorted pieces of Z-order at the borders of partitions of `size` positions. Partitions are yielded lazily: there
 * may be millions.
 */
export function* byPartition(pieces: readonly ZRange[], size: number): Generator<PartitionPieces> {
  let group: { partition: number; pieces: ZRange[] } | undefined;
  for (const { from, to } of pieces) {
    for (let start = from; start < to;) {
      const partition = Math.floor(start / size);
      const end = Math.min(to, (partition + 1) * size);
      if (group?.partition === partition) group.pieces.push({ from: start, to: end });
      else {
        if (group) yield group;
        group = { partition, pieces: [{ from: start, to: end }] };
      }
      start = end;
    }
  }
  if (group) yield group;
}

export interface JoinOptions {
  /** Minimum weight of gaps that are not read. */
  readonly heavy: number;
  /** Maximum number of ranges. Exceeded only if the pieces lie in more partitions. */
  readonly most?: number;
  /** The total weight before a position; only differences are meaningful. Default: the position itself. */
  readonly before?: (z: number) => number;
}

/** Joins sorted pieces, each within one partition of `size` positions, across gaps of little weight. */
export function joinPieces(
  pieces: readonly ZRange[],
  size: number,
  { heavy, most = Infinity, before = (z) => z }: JoinOptions,
): ZRange[] {
  const gaps = pieces.flatMap(({ from }, index) => {
    const last = pieces[index - 1];
    const together = last && Math.floor(last.from / size) === Math.floor(from / size);
    return together ? [{ index, weight: before(from) - before(last.to) }] : [];
  });
  const excess = pieces.length - most;
  const lightest = gaps.sort((a, b) => a.weight - b.weight).filter(({ weight }, at) => weight < heavy || at < excess);
  const closed = new Set(lightest.map(({ index }) => index));
  const joined: { from: number; to: number }[] = [];
  pieces.forEach((piece, index) => {
    const last = joined.at(-1);
    if (last && closed.has(index)) last.to = piece.to;
    else joined.push({ ...piece });
  });
  return joined;
}
