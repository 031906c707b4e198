import { ringRelation } from '../geo/circle.js';
import { coverShape } from '../geo/cover.js';
import type { Point } from '../geo/point.js';
import type { ZRange } from '../geo/ranges.js';
import { type PlannedRange, planWhole } from './markers.js';

/** Everything farther from a center than one distance and no farther than another, in metres. */
export interface Ring {
  readonly center: Point;
  readonly from: number;
  readonly to: number;
}

/** Ranges of Z-order that a ring is cut into before they are joined. */
const FINENESS = 192;

/** Ranges of Z-order that cover a ring. */
export const ringCover = ({ center, from, to }: Ring): ZRange[] => coverShape(ringRelation(center, from, to), FINENESS);

/** The ranges of a geo index that hold the markers of a ring; undefined where it takes more than `most` of them. */
export function planRing(ring: Ring, prefixLength: number, most: number): readonly PlannedRange[] | undefined {
  const search = { cover: ringCover(ring), prefixLength };
  const ranges = planWhole(search, Infinity);
  if (!ranges || ranges.length <= most) return ranges;
  // As few Query calls as can be, one a partition: some are left for the next ring.
  const fewest = planWhole(search, 0);
  return fewest && fewest.length <= most ? fewest : undefined;
}
