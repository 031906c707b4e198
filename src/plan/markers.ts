import type { Area } from '../geo/bounds.js';
import { LONGEST_Z, fromZ } from '../geo/geohash.js';
import { type ZRange, coverArea, intersect } from '../geo/ranges.js';
import { byPartition, joinPieces } from './join.js';

/** Which part of the plan of a search to make. */
export interface PlanPart {
  /** Ranges of Z-order (of geohashes of length 10) that hold everything wanted: sorted, disjoint. */
  readonly cover: readonly ZRange[];
  /** Geohash characters in the partition key of the collection's markers, 0 to 6. */
  readonly prefixLength: number;
  /** Where to resume: positions in Z-order before this one are left out. */
  readonly after?: number;
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

/** Ranges of Z-order that an area is cut into before they are joined: so fine that 1 marker in 100 read is outside. */
export const FINENESS = 512;

/** Gaps of this share of the cover are not read. By trial on 135,233 cities. */
const HEAVY_GAP = 0.8;

/** Ranges of Z-order that cover an area, finely enough to plan by. */
export function coverForPlan(area: Area): ZRange[] {
  return coverArea(area, LONGEST_Z, FINENESS);
}

/**
 * Plans the ranges of a geo index that hold the markers searched for: each overlaps the cover, they are sorted and disjoint, and
 * together with the ranges of the part that resumes at `next` they leave out nothing. Pieces of the cover are joined across small
 * gaps. It takes well under a millisecond, whatever the area and the prefix length: partitions are never enumerated beyond the
 * ceiling.
 */
export function planMarkers({ cover, prefixLength, after = 0, ceiling }: PlanPart): MarkerPlan {
  const size = 32 ** (LONGEST_Z - prefixLength);
  const heavy = HEAVY_GAP * cover.reduce((sum, { from, to }) => sum + to - from, 0);
  const ranges: PlannedRange[] = [];
  for (const { partition, pieces } of byPartition(intersect(cover, [{ from: after, to: Infinity }]), size)) {
    for (const range of joinPieces(pieces, size, { heavy })) {
      if (ranges.length >= ceiling) return { ranges, next: range.from };
      ranges.push({ prefix: fromZ(partition, prefixLength), ...range });
    }
  }
  return { ranges, next: undefined };
}
