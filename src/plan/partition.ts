import type { ZRange } from '../geo/ranges.js';

/** Pieces of one partition, which one Query can read together. */
export interface Group {
  readonly partition: number;
  readonly pieces: readonly ZRange[];
}

/**
 * Cuts sorted pieces of Z-order at the borders of partitions, each of `size` positions. Partitions are yielded
 * lazily: there may be millions.
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
