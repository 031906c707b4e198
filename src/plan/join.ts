import type { ZRange } from '../geo/ranges.js';

/** Pieces of one partition, which one Query can read together. */
export interface PartitionPieces {
  readonly partition: number;
  readonly pieces: readonly ZRange[];
}

/**
 * Cuts sorted pieces of Z-order at the borders of partitions, each of `size` positions. Partitions are yielded lazily: there
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
  /** The weight from which a gap is left out. */
  readonly heavy: number;
  /** Most ranges. More are left only where the pieces lie in more partitions. */
  readonly most?: number;
  /** The weight of everything before a position; only differences mean something. By default that position. */
  readonly before?: (z: number) => number;
}

/** Sorted pieces, each within one partition of `size` positions, joined across the gaps that weigh little. */
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
