import type { Bounds } from './bounds.js';
import { LONGEST_Z } from './geohash.js';
import type { ZRange } from './ranges.js';

/** How a cell relates to a shape: wholly inside, wholly outside, or (maybe) partly inside. */
export type Relation = 'inside' | 'outside' | 'cut';

interface Node extends Bounds {
  /** Its position in Z-order among the cells of as many bits. */
  readonly z: number;
}

const BITS = 5 * LONGEST_Z;
const WORLD: Node = { z: 0, west: -180, south: -90, east: 180, north: 90 };

/** The two halves of a cell, as the next bit of a geohash parts it. */
function halves({ z, west, south, east, north }: Node, depth: number): [Node, Node] {
  const lng = (west + east) / 2;
  const lat = (south + north) / 2;
  return depth % 2 === 0
    ? [
        { z: 2 * z, west, south, east: lng, north },
        { z: 2 * z + 1, west: lng, south, east, north },
      ]
    : [
        { z: 2 * z, west, south, east, north: lat },
        { z: 2 * z + 1, west, south: lat, east, north },
      ];
}

/**
 * The ranges of geohashes of length 10 that cover a shape of any form, sorted and disjoint, at most `most` of them:
 * cells wholly outside are left out, those on the rim are halved while that fits.
 */
export function coverShape(relationToCell: (cell: Bounds) => Relation, most: number): ZRange[] {
  const ranges: { from: number; to: number }[] = [];
  const add = ({ z }: Node, depth: number) => {
    const size = 2 ** (BITS - depth);
    ranges.push({ from: z * size, to: (z + 1) * size });
  };
  let cut = [WORLD];
  let depth = 0;
  while (depth < BITS && cut.length > 0) {
    const next: Node[] = [];
    const inside: Node[] = [];
    for (const node of cut) {
      for (const half of halves(node, depth)) {
        const relation = relationToCell(half);
        if (relation === 'cut') next.push(half);
        else if (relation === 'inside') inside.push(half);
      }
    }
    if (ranges.length + inside.length + next.length > most) break;
    depth++;
    for (const node of inside) add(node, depth);
    cut = next;
  }
  for (const node of cut) add(node, depth);

  ranges.sort((a, b) => a.from - b.from);
  return ranges.filter((range, index) => {
    const next = ranges[index + 1];
    if (next?.from !== range.to) return true;
    next.from = range.from;
    return false;
  });
}
