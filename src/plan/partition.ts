import type { ZRange } from '../geo/ranges.js';

/** Pieces of one partition, which nothing but a Query's price keeps apart. */
export interface Group {
  readonly partition: number;
  readonly pieces: readonly ZRange[];
}

/**
 * Cuts sorted pieces of Z-order at the borders of partitions, each of `size` places. Partitions are made one at a time,
 * so that nothing is done for those never asked for.
 */
export function* byPartition(pieces: readonly ZRange[], size: number): Generator<Group> {
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
