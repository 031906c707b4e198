import { greatestDistance, leastDistance, ringRelation } from '../geo/circle.js';
import { coverShape } from '../geo/cover.js';
import { cellBounds } from '../geo/geohash.js';
import type { Point } from '../geo/point.js';
import { type KnownCounts, type PlannedRange, planWhole } from './markers.js';

/** Everything farther from a center than one distance and no farther than another, in metres. */
export interface Ring {
  readonly center: Point;
  readonly from: number;
  readonly to: number;
}

/** How many markers are to be expected within a distance, in metres, from a center; not whole. */
export type Expected = (radius: number) => number;

/** How many markers to expect around a center, by the counts of disjoint cells. */
export function expectedAround(center: Point, cells: KnownCounts['cells']): Expected {
  const spans = Array.from(cells, ([geohash, count]) => {
    const bounds = cellBounds(geohash);
    return { least: leastDistance(center, bounds), greatest: greatestDistance(center, bounds), count };
  });
  return (radius) => {
    let sum = 0;
    for (const { least, greatest, count } of spans) {
      if (radius >= greatest) sum += count;
      else if (radius > least) {
        const share = (radius - least) / (greatest - least);
        // Around the center the area grows with the square; a cell beside it is swept over from one end to the other.
        sum += count * (least === 0 ? share * share : share);
      }
    }
    return sum;
  };
}

const STEPS = 24;

/** The least distance at which so many are to be expected beyond another one; `most` where there are not so many. */
export function distanceFor(expected: Expected, wanted: number, from: number, most: number): number {
  const target = expected(from) + wanted;
  if (expected(most) <= target) return most;
  let near = from;
  let far = most;
  for (let step = 0; step < STEPS; step++) {
    const middle = (near + far) / 2;
    if (expected(middle) < target) near = middle;
    else far = middle;
  }
  return far;
}

/** Ranges of Z-order that a ring is cut into before they are joined. */
const FINENESS = 192;

/** What a ring is planned with. */
export interface RingPlan {
  readonly prefixLength: number;
  readonly counts: KnownCounts | undefined;
  /** Most ranges. */
  readonly most: number;
}

/** The ranges that hold the markers of a ring; undefined where it takes more of them. */
export function planRing(
  { center, from, to }: Ring,
  { most, ...known }: RingPlan,
): readonly PlannedRange[] | undefined {
  const search = { cover: coverShape(ringRelation(center, from, to), FINENESS), ...known };
  const ranges = planWhole(search, Infinity);
  if (!ranges || ranges.length <= most) return ranges;
  // As few Query calls as can be, one a partition: some are left for the next ring.
  const fewest = planWhole(search, 0);
  return fewest && fewest.length <= most ? fewest : undefined;
}
