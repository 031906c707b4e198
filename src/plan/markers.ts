import type { Area } from '../geo/bounds.js';
import { coverArea, fromZ, intersect, LONGEST_Z, type ZRange } from '../geo/geohash.js';
import { HEAVY_SHARE } from '../model/read-cost.js';
import { byPartition, joinPieces } from './join.js';

/** The part of a search's plan to make. */
export interface PlanPart {
  /** Z-order ranges (of geohashes of length 10) that contain everything wanted: sorted, disjoint. */
  readonly cover: readonly ZRange[];
  /** Geohash characters in the partition key of the collection's markers, 0 to 6. */
  readonly prefixLength: number;
  /** Where to resume: positions in Z-order before this one are omitted. */
  readonly after?: number;
  /** Maximum number of ranges in the plan. Each range takes one Query call per write shard of the collection. */
  readonly ceiling: number;
}

/** A range of Z-order at length 10 within one partition. */
export interface PlannedRange extends ZRange {
  /** The geohash characters that identify the partition. */
  readonly prefix: string;
}

/** The reads of a page, in this order, until the page is full. */
export interface MarkerPlan {
  /** In Z-order, at most as many as the ceiling. */
  readonly ranges: readonly PlannedRange[];
  /** Where the rest of the plan resumes (its `after`); undefined if this plan reaches the end of the area. */
  readonly next: number | undefined;
}

/**
 * Number of Z-order ranges into which an area is cut before they are joined: fine enough that 1 in 100 markers read is
 * outside.
 */
export const FINENESS = 512;

/** Z-order ranges that cover an area finely enough for planning. */
export function coverForPlan(area: Area): ZRange[] {
  return coverArea(area, LONGEST_Z, FINENESS);
}

/**
 * Plans the ranges of a geo index that have the markers searched for. Ranges overlap the cover, are sorted and
 * disjoint, and together with those of the part that resumes at `next` omit nothing. Pieces of the cover are joined
 * across small gaps. Takes well under a millisecond, whatever the area and the prefix length: partitions beyond the
 * ceiling are never enumerated.
 */
export function planMarkers({ cover, prefixLength, after = 0, ceiling }: PlanPart): MarkerPlan {
  const size = 32 ** (LONGEST_Z - prefixLength);
  const heavy = HEAVY_SHARE * cover.reduce((sum, { from, to }) => sum + to - from, 0);
  const ranges: PlannedRange[] = [];
  for (const { partition, pieces } of byPartition(intersect(cover, [{ from: after, to: Infinity }]), size)) {
    for (const range of joinPieces(pieces, size, { heavy })) {
      if (ranges.length >= ceiling) return { ranges, next: range.from };
      ranges.push({ prefix: fromZ(partition, prefixLength), ...range });
    }
  }
  return { ranges, next: undefined };
}
