import { FINEST_STORED } from '../../model/cell.js';
import { type Area, type Bounds, areaOverlapsCell } from '../../geo/bounds.js';
import { LONGEST_Z, cellBounds, children } from '../../geo/geohash.js';
import type { ZRange } from '../../geo/ranges.js';
import type { Budget } from '../../loaders/budget.js';
import type { Collection } from '../../model/collection.js';
import { cellRange } from '../../plan/density.js';
import {
  type KnownCounts,
  type MarkerPlan,
  type MarkerPlanner,
  type MarkerSearch,
  type PlanPart,
  coverForPlan,
  markerPlanner,
  planWhole,
} from '../../plan/markers.js';
import { byGeohash, cellsOfBlock, knownCounts } from '../cells/known-counts.js';
import type { MapContext } from '../context.js';

/** Makes the plan of a search part by part; each part is a value that is executed unchanged, or shown. */
export interface SearchPlanner {
  plan(part: PlanPart): MarkerPlan | Promise<MarkerPlan>;
  /** The maximum number of markers by trusted counts; undefined without them. */
  readonly atMost?: number | undefined;
}

/** Where to look for markers. */
export interface SearchShape {
  /** Its bounding box. */
  readonly area: Area;
  /** Ranges of Z-order that contain all of it, sorted and disjoint; those of the bounding box by default. */
  readonly cover?: readonly ZRange[];
  /** Whether some position of it may belong to a cell. */
  readonly overlaps: (cell: Bounds) => boolean;
}

export interface SearchOptions {
  /** Geohash length of the finest counts worth looking at. */
  readonly precision: number;
  readonly budget: Budget;
  /** For callers that need to know whether there are more than this many: finer counts are read if coarse ones leave it open. */
  readonly enough?: number;
}

/** If more markers than this are expected, finer counts save more than they cost; tuned on real cities. */
const WORTH_FINER = 300;

/** How many ranges of a collection a budget covers. */
export function affordableRanges(budget: Budget, { writeShards }: Collection): number {
  return Math.floor(budget.calls / writeShards);
}

/** The part of a plan that a page executes from a position in Z-order on: as many ranges as its budget covers. */
export async function nextPart(
  planner: SearchPlanner,
  collection: Collection,
  budget: Budget,
  after = 0,
): Promise<MarkerPlan> {
  return planner.plan({ after, ceiling: affordableRanges(budget, collection) });
}

/** Plans a search by known counts of markers. */
export async function planShape(
  context: MapContext,
  collection: Collection,
  { area, cover = coverForPlan(area), overlaps: overlapsCell }: SearchShape,
  { precision, budget, enough = Infinity }: SearchOptions,
): Promise<SearchPlanner> {
  const { prefixLength } = collection;
  const overlaps = (geohash: string) => overlapsCell(cellBounds(geohash));
  const planners = new Map<KnownCounts | undefined, MarkerPlanner>();
  const plannerFor = (counts: KnownCounts | undefined) => {
    const planner = planners.get(counts) ?? markerPlanner({ cover, prefixLength, counts });
    planners.set(counts, planner);
    return planner;
  };
  const most = (counts: KnownCounts) =>
    [...counts.cells].reduce((sum, [geohash, count]) => sum + (overlaps(geohash) ? count : 0), 0);
  const open = (counts: KnownCounts) => {
    const { ranges } = plannerFor(counts)({ ceiling: context.limits.rangesPerPage });
    const expected = ranges.reduce((sum, range) => sum + (range.expected ?? 0), 0);
    return expected > WORTH_FINER || (enough < Infinity && most(counts) > enough);
  };
  const counts = await knownCounts(context, collection, { area, precision, open, budget });
  await context.turn();
  // Counts of cells wider than partitions do not show which partitions are empty.
  const tooCoarse = counts && counts.precision < Math.min(prefixLength, FINEST_STORED);
  return {
    plan: tooCoarse ? occupiedPartitions(context, collection, '', overlaps) : plannerFor(counts),
    // Computed on demand: finding the cells that a shape of many vertices overlaps takes long.
    get atMost() {
      return counts && most(counts);
    },
  };
}

/** Plans a search in a bounding box. */
export function planArea(
  context: MapContext,
  collection: Collection,
  area: Area,
  options: SearchOptions,
): Promise<SearchPlanner> {
  return planShape(context, collection, { area, overlaps: (cell) => areaOverlapsCell(area, cell) }, options);
}

/** Plans a search in known cells; undefined if they are in more partitions than can be planned at once. */
export function planKnown(
  search: Omit<MarkerSearch, 'prefixLength'>,
  collection: Collection,
  budget: Budget,
): SearchPlanner | undefined {
  const { prefixLength } = collection;
  const ranges = planWhole({ ...search, prefixLength }, affordableRanges(budget, collection));
  return ranges && { plan: ({ after = 0 }) => ({ ranges: ranges.filter(({ to }) => to > after), next: undefined }) };
}

/**
 * Plans a search in one cell ('' for the whole collection). If it spans several partitions, those without markers
 * are omitted while counts can be trusted; else they are read one after the other.
 */
export function planCell(context: MapContext, collection: Collection, geohash: string): SearchPlanner {
  const hash = geohash.slice(0, LONGEST_Z);
  const { prefixLength } = collection;
  const all = markerPlanner({ cover: [cellRange(hash)], prefixLength });
  const occupied = occupiedPartitions(context, collection, hash, () => true);
  return { plan: (part) => (hash.length < prefixLength && context.countsTrusted() ? occupied(part) : all(part)) };
}

/**
 * Plans to read whole partitions that have markers, by descending from a cell ('' for the whole collection) through the
 * occupied cells that overlap the search.
 */
function occupiedPartitions(
  { loaders, keys }: MapContext,
  collection: Collection,
  root: string,
  overlaps: (geohash: string) => boolean,
) {
  const { prefixLength } = collection;
  const precision = Math.min(prefixLength, FINEST_STORED);
  return async ({ after = 0, ceiling }: PlanPart): Promise<MarkerPlan> => {
    let cells = [{ geohash: root, count: 0 }];
    let beyond: number | undefined;
    for (let length = root.length; length < precision; length++) {
      const blocks = await Promise.all(cells.map(({ geohash }) => loaders.block(keys.scope(collection), geohash)));
      const occupied = blocks
        .flatMap(cellsOfBlock)
        .filter(({ geohash }) => cellRange(geohash).to > after && overlaps(geohash))
        .sort(byGeohash);
      cells = occupied.slice(0, ceiling);
      const next = occupied[ceiling];
      if (next) beyond = cellRange(next.geohash).from;
    }
    const names = cells.map(({ geohash }) => geohash);
    const partitions = prefixLength > precision ? names.flatMap(children).filter(overlaps) : names;
    const counts = { precision, cells: new Map(cells.map(({ geohash, count }) => [geohash, count])) };
    const { ranges, next } = markerPlanner({ cover: partitions.map(cellRange), prefixLength, counts })({
      after,
      ceiling,
    });
    return { ranges, next: next ?? beyond };
  };
}
