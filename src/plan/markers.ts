import type { Area } from '../geo/bounds.js';
import { LONGEST_Z, fromZ } from '../geo/geohash.js';
import { type ZRange, coverArea } from '../geo/ranges.js';
import { joinPieces } from './join.js';
import { byPartition } from './partition.js';

/** Where to look for markers in a geo index. */
export interface IndexSearch {
  /** Ranges of Z-order (of geohashes of length 10) that hold everything wanted: sorted, disjoint. */
  readonly cover: readonly ZRange[];
  /** Geohash characters in the partition key of the collection's markers, 0 to 6. */
  readonly prefixLength: number;
}

/** Which part of a plan to make. */
export interface PlanPart {
  /** Where to resume: positions in Z-order before this one are left out. */
  readonly after?: number | undefined;
  /** Most ranges of the plan. A collection with write shards makes one Query call a shard for each of them. */
  readonly ceiling: number;
}

/** A range of Z-order at length 10 within one partition. */
export interface PlannedRange extends ZRange {
  /** The geohash characters that name the partition. */
  readonly prefix: string;
}

/** What a page reads, in this order, as far as it takes to fill it. */
export interface MarkerPlan {
  /** In Z-order, at most as many as the ceiling. */
  readonly ranges: readonly PlannedRange[];
  /** Where the rest of the plan resumes (its `after`); undefined where this plan reaches the end of the area. */
  readonly next: number | undefined;
}

/** Makes the parts of one plan. */
export type MarkerPlanner = (part: PlanPart) => MarkerPlan;

/** Ranges of Z-order that an area is cut into before they are joined: so fine that 1 marker in 100 read is outside. */
const FINENESS = 512;

/** So many markers are assumed in a search, evenly spread: few enough for about 4 ranges a viewport. */
const ASSUMED = 50;

/** Positions in Z-order of one partition. */
export const partitionSize = (prefixLength: number): number => 32 ** (LONGEST_Z - prefixLength);

/** Ranges of Z-order that cover an area, finely enough to plan by. */
export function coverForPlan(area: Area): ZRange[] {
  return coverArea(area, LONGEST_Z, FINENESS);
}

/** A part of the plan for the markers of an area. */
export function planMarkers({
  area,
  prefixLength,
  ...part
}: Omit<IndexSearch, 'cover'> & { readonly area: Area } & PlanPart): MarkerPlan {
  return markerPlanner({ cover: coverForPlan(area), prefixLength })(part);
}

/** How many markers are assumed before a position. */
function assumedBefore(cover: readonly ZRange[]): (z: number) => number {
  const covered = cover.reduce((sum, { from, to }) => sum + to - from, 0);
  return (z) => (z / covered) * ASSUMED;
}

/**
 * Plans the ranges of a geo index that hold the markers searched for: each overlaps the cover, they are sorted and disjoint, and
 * together with the ranges of the part that resumes at `next` they leave out nothing. Pieces of the cover are joined where a
 * further Query would cost more than reading what lies between them. It takes well under a millisecond, whatever the area and the
 * prefix length: partitions are never enumerated beyond the ceiling.
 */
export function markerPlanner({ cover, prefixLength }: IndexSearch): MarkerPlanner {
  const size = partitionSize(prefixLength);
  const before = assumedBefore(cover);
  const joined = new Map<number, readonly ZRange[]>();
  return ({ after = 0, ceiling }) => {
    const left = cover.filter(({ to }) => to > after).map(({ from, to }) => ({ from: Math.max(from, after), to }));
    const ranges: PlannedRange[] = [];
    for (const { partition, pieces: apart } of byPartition(left, size)) {
      // A part that begins in the middle of a partition makes other ranges there.
      const whole = partition * size >= after;
      const inPartition = (whole && joined.get(partition)) || joinPieces(apart, before);
      if (whole) joined.set(partition, inPartition);
      for (const range of inPartition) {
        if (ranges.length >= ceiling) return { ranges, next: range.from };
        ranges.push(plannedRange(range, prefixLength));
      }
    }
    return { ranges, next: undefined };
  };
}

const plannedRange = ({ from, to }: ZRange, prefixLength: number): PlannedRange => ({
  prefix: fromZ(Math.floor(from / partitionSize(prefixLength)), prefixLength),
  from,
  to,
});
