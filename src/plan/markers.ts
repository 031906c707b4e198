import type { Area } from '../geo/bounds.js';
import type { ZRange } from '../geo/ranges.js';

/** What is known of how many markers stand where. Only to be given while it is known to be close behind the markers. */
export interface KnownCounts {
  /** Geohash length of the cells. */
  readonly precision: number;
  /** How many markers are in which cell; a cell of the area that is missing here is empty. Others may be there too. */
  readonly cells: ReadonlyMap<string, number>;
}

export interface MarkerQuestion {
  readonly area: Area;
  /** Geohash characters in the partition key of the collection's markers, 0 to 6. */
  readonly prefixLength: number;
  readonly counts?: KnownCounts | undefined;
  /** Where to go on: places in Z-order (of geohashes of length 10) before this one are left out. */
  readonly after?: number | undefined;
  /** Most ranges of the plan. */
  readonly ceiling: number;
  /** How many markers are wanted: with counts, the plan ends where about so many are to be expected. */
  readonly wanted?: number | undefined;
}

/** A range of Z-order at length 10 within one partition. */
export interface PlannedRange extends ZRange {
  /** The geohash characters that name the partition. */
  readonly prefix: string;
  /** Markers to be read there, those beside the area included; undefined without counts. */
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

/** The ranges that hold all markers of an area, or as many of them as the ceiling allows. */
export function planMarkers(_question: MarkerQuestion): MarkerPlan {
  throw new Error('not built yet');
}
