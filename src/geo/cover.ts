import type { Bounds } from './bounds.js';
import { LONGEST_Z, type ZRange } from './geohash.js';
import { atOnce, type Steps } from './steps.js';

/** How a cell relates to a shape: entirely inside, entirely outside, or possibly partly inside. */
export type Relation = 'inside' | 'outside' | 'cut';

/**
 * A rectangle obtained by halving the world `depth` times, alternating longitude and latitude like the bits of a
 * geohash.
 */
export interface Halving extends Bounds {
  readonly depth: number;
  /** The bits as an integer: its position in Z-order among the rectangles of this depth. */
  readonly z: number;
}

export const WORLD: Halving = { depth: 0, z: 0, west: -180, south: -90, east: 180, north: 90 };
const BITS = 5 * LONGEST_Z;

/** The two halves, the western or southern one first. */
export function halves({ depth: before, z, west, south, east, north }: Halving): readonly [Halving, Halving] {
  const depth = before + 1;
  const lng = (west + east) / 2;
  const lat = (south + north) / 2;
  return before % 2 === 0
    ? [
        { depth, z: 2 * z, west, south, east: lng, north },
        { depth, z: 2 * z + 1, west: lng, south, east, north },
      ]
    : [
        { depth, z: 2 * z, west, south, east, north: lat },
        { depth, z: 2 * z + 1, west, south: lat, east, north },
      ];
}

/**
 * At most `most` sorted, disjoint ranges of geohashes of length 10 that cover any shape: cells outside are omitted, and
 * cells on the edge are halved as long as the budget allows.
 */
export function coverShape(relationToCell: (cell: Bounds) => Relation, most: number): ZRange[] {
  return atOnce(coverInSteps(relationToCell, most));
}

/** The same in steps, one per halved cell. */
export function* coverInSteps(relationToCell: (cell: Bounds) => Relation, most: number): Steps<ZRange[]> {
  const ranges: { from: number; to: number }[] = [];
  const add = ({ depth, z }: Halving) => {
    const size = 2 ** (BITS - depth);
    ranges.push({ from: z * size, to: (z + 1) * size });
  };
  let cut = [WORLD];
  for (let depth = 0; depth < BITS && cut.length > 0; depth++) {
    const next: Halving[] = [];
    const inside: Halving[] = [];
    for (const halving of cut) {
      yield;
      for (const half of halves(halving)) {
        const relation = relationToCell(half);
        if (relation === 'cut') next.push(half);
        else if (relation === 'inside') inside.push(half);
      }
    }
    if (ranges.length + inside.length + next.length > most) break;
    inside.forEach(add);
    cut = next;
  }
  cut.forEach(add);

  ranges.sort((a, b) => a.from - b.from);
  return ranges.filter((range, index) => {
    const next = ranges[index + 1];
    if (next?.from !== range.to) return true;
    next.from = range.from;
    return false;
  });
}
