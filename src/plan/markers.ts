import type { Area } from '../geo/bounds.js';
import { LONGEST_Z, fromZ } from '../geo/geohash.js';
import { type ZRange, coverArea } from '../geo/ranges.js';
import { type KnownCounts, evenDensity, knownDensity } from './density.js';
import { type JoinedRange, joinPieces } from './join.js';
import { type Group, byPartition } from './partition.js';

export type { KnownCounts } from './density.js';

/** Where markers are asked for, and what is known of them. */
export interface MarkerArea {
  readonly area: Area;
  /** Ranges of Z-order that hold all of it, where it has another form than its area; sorted and apart. */
  readonly cover?: readonly ZRange[] | undefined;
  /** Geohash characters in the partition key of the collection's markers, 0 to 6. */
  readonly prefixLength: number;
  readonly counts?: KnownCounts | undefined;
}

/** Which part of a plan is wanted. */
export interface PlanPart {
  /** Where to go on: places in Z-order (of geohashes of length 10) before this one are left out. */
  readonly after?: number | undefined;
  /** Most ranges of the plan. A collection with write shards makes one Query call a shard for each of them. */
  readonly ceiling: number;
  /** How many markers are wanted: with counts, the plan ends where so many are to be expected inside the area. */
  readonly wanted?: number | undefined;
}

export type MarkerQuestion = MarkerArea & PlanPart;

/** A range of Z-order at length 10 within one partition. */
export interface PlannedRange extends ZRange {
  /** The geohash characters that name the partition. */
  readonly prefix: string;
  /** Markers to be read there, those beside the area included, not whole; undefined without counts. */
  readonly expected: number | undefined;
}

export interface MarkerPlan {
  /** In Z-order, at most as many as the ceiling. */
  readonly ranges: readonly PlannedRange[];
  /** Where a further page goes on (its `after`); undefined where this plan reaches the area's end. */
  readonly next: number | undefined;
  /** The sum of what the ranges expect. */
  readonly expected: number | undefined;
}

/** Ranges of Z-order that an area is cut into before they are joined: so fine that 1 marker in 100 read is outside. */
const FINENESS = 512;

/**
 * The ranges that hold the markers of an area: each overlaps it, they are sorted and disjoint, and together with the
 * ranges of the plan that goes on at `next` they leave out nothing but what the counts show to be empty. The area is cut
 * finely, and pieces are joined again where a further Query would cost more than reading what lies between them.
 * It takes well under a millisecond, whatever the area and the prefix length: partitions are never enumerated beyond
 * the ceiling.
 */
export function planMarkers(question: MarkerQuestion): MarkerPlan {
  return markerPlanner(question)(question);
}

/** The same for who asks for several parts of one plan: what they have in common is made once. */
export function markerPlanner({
  area,
  cover = coverArea(area, LONGEST_Z, FINENESS),
  prefixLength,
  counts,
}: MarkerArea): (part: PlanPart) => MarkerPlan {
  const size = 32 ** (LONGEST_Z - prefixLength);
  const { pieces, before } = counts ? knownDensity(cover, counts) : evenDensity(cover);
  const joined = new Map<number, readonly JoinedRange[]>();

  /** The ranges of a partition, of which a plan that begins in its middle has made others. */
  function rangesOf({ partition, pieces: apart }: Group, after: number): readonly JoinedRange[] {
    const whole = partition * size >= after;
    const ranges = (whole && joined.get(partition)) || joinPieces(apart, before);
    if (whole) joined.set(partition, ranges);
    return ranges;
  }

  return ({ after = 0, ceiling, wanted = Infinity }) => {
    const left = pieces.filter(({ to }) => to > after).map(({ from, to }) => ({ from: Math.max(from, after), to }));
    const ranges: PlannedRange[] = [];
    let inside = 0;
    let next: number | undefined;
    const full = (from: number) => {
      if (ranges.length < ceiling && (!counts || inside < wanted)) return false;
      next = from;
      return true;
    };
    plan: for (const group of byPartition(left, size)) {
      const prefix = fromZ(group.partition, prefixLength);
      for (const { from, to, held } of rangesOf(group, after)) {
        if (full(from)) break plan;
        ranges.push({ prefix, from, to, expected: counts ? before(to) - before(from) : undefined });
        inside += held;
      }
    }
    const expected = counts ? ranges.reduce((sum, range) => sum + (range.expected ?? 0), 0) : undefined;
    return { ranges, next, expected };
  };
}
