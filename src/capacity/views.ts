import { normalizeBounds, type Area, type Bounds, type Point } from '../geo/bounds.js';
import { center, fromZ, LONGEST_Z, type ZRange } from '../geo/geohash.js';
import { latToY, lngToX, xToLng, yToLat } from '../geo/mercator.js';
import { LONGEST_BLOCK } from '../model/cell.js';
import { DEFAULT_LIMITS } from '../model/limits.js';
import { unitsOf } from '../model/read-cost.js';
import { planReads, readUnitsOf, requestsOf, takeReads } from '../pages/plan-reads.js';
import { planBlocks } from '../plan/blocks.js';
import { coverForPlan, planMarkers } from '../plan/markers.js';
import { precisionForZoom } from '../plan/precision.js';
import { itemsFor } from '../plan/wave.js';
import type { Distribution } from './distribution.js';
import { modelDirectory, type PageSizes } from './page-model.js';

/** Size of the modeled map in px. */
const MAP = { width: 1280, height: 800 } as const;
export const ZOOMS = [2, 4, 6, 8, 10, 12, 14, 16] as const;
/** Number of maps per zoom. */
const VIEWS = 24;
/** Maximum number of markers requested for a map; more are drawn as cells. */
export const MOST_MARKERS = 2_000;
/** Number of markers that a reader of pages plans for, so that enough of them are inside. */
export const PORTION = itemsFor(MOST_MARKERS);
/** Size in bytes of a block with all of its 32 children. */
export const BLOCK_BYTES = 420;
const QUERY_PAGE_BYTES = 1_048_576;

/** DynamoDB requests, and eventually consistent read units. */
export interface ReadCost {
  readonly calls: number;
  readonly units: number;
}

export interface View {
  readonly zoom: number;
  readonly area: Area;
  /** Z-order ranges that cover the markers inside. */
  readonly cover: readonly ZRange[];
  /** Approximate number of markers inside. */
  readonly inside: number;
}

const sumOf = (costs: readonly ReadCost[]): ReadCost => ({
  calls: costs.reduce((sum, { calls }) => sum + calls, 0),
  units: costs.reduce((sum, { units }) => sum + units, 0),
});

/** The bounding box of a map around a point. */
function mapAround({ lng, lat }: Point, zoom: number): Bounds {
  const [x, y] = [lngToX(lng, zoom), latToY(lat, zoom)];
  return {
    west: xToLng(x - MAP.width / 2, zoom),
    south: yToLat(y + MAP.height / 2, zoom),
    east: xToLng(x + MAP.width / 2, zoom),
    north: yToLat(y - MAP.height / 2, zoom),
  };
}

/** The map around a point. */
export function viewAround(distribution: Distribution, point: Point, zoom: number): View {
  const area = normalizeBounds('bounds', mapAround(point, zoom));
  const cover = coverForPlan(area);
  return { zoom, area, cover, inside: cover.reduce((sum, range) => sum + distribution.within(range), 0) };
}

/** Maps at a zoom, around markers chosen evenly in Z-order: people look where markers are. */
export function viewsAt(distribution: Distribution, zoom: number): View[] {
  return Array.from({ length: VIEWS }, (_, index) => {
    const z = distribution.positionAt(((index + 0.5) / VIEWS) * distribution.markers);
    return viewAround(distribution, center(fromZ(z, LONGEST_Z)), zoom);
  });
}

/** The first ranges of a cover that together have this number of markers. */
function firstOf(distribution: Distribution, cover: readonly ZRange[], markers: number): ZRange[] {
  const first: ZRange[] = [];
  let left = markers;
  for (const { from, to } of cover) {
    if (left <= 0) break;
    const within = distribution.within({ from, to });
    const end = within <= left ? to : Math.max(from + 1, distribution.positionAt(distribution.before(from) + left) + 1);
    first.push({ from, to: Math.min(to, end) });
    left -= within;
  }
  return first;
}

/** The cost of reading a map's markers from pages, on a server that knows the directory. */
export function costOnPages(distribution: Distribution, { cover }: View, page: PageSizes): ReadCost {
  const wanted = firstOf(distribution, cover, 2 * PORTION);
  const directory = modelDirectory(distribution, wanted, page);
  const portion = { markers: PORTION, calls: DEFAULT_LIMITS.queryCalls };
  const { taken } = takeReads(planReads(directory, wanted), portion);
  return { calls: requestsOf(taken), units: readUnitsOf(taken) };
}

/** The layout of a collection's geo index. */
export interface Partitioning {
  readonly prefixLength: number;
  readonly writeShards: number;
  /** Size of an index entry in bytes. */
  readonly entryBytes: number;
}

/**
 * The cost of reading the first page of a map's markers from the geo index, which is used while pages are not up to
 * date.
 */
export function costOnIndex(distribution: Distribution, { cover }: View, layout: Partitioning): ReadCost {
  const { prefixLength, writeShards, entryBytes } = layout;
  const ceiling = Math.max(1, Math.floor(DEFAULT_LIMITS.queryCalls / writeShards));
  const { ranges } = planMarkers({ cover, prefixLength, ceiling });
  const costs: ReadCost[] = [];
  let left: number = MOST_MARKERS;
  for (const range of ranges) {
    if (left <= 0) break;
    const markers = Math.min(left, distribution.within(range));
    left -= markers;
    const bytes = (markers * entryBytes) / writeShards;
    const calls = Math.max(1, Math.ceil(bytes / QUERY_PAGE_BYTES));
    costs.push({ calls: calls * writeShards, units: unitsOf(bytes) * writeShards });
  }
  return sumOf(costs);
}

/** The maximum cost of reading a map's cells, with nothing cached; null if they are computed from markers. */
export function costOfCells(distribution: Distribution, { area, zoom }: View): ReadCost | null {
  const precision = precisionForZoom(zoom);
  if (precision - 1 > LONGEST_BLOCK) return null;
  const { length, ranges } = planBlocks(area, precision);
  const size = 32 ** (LONGEST_Z - length);
  return sumOf(
    ranges.map(({ from, to }) => {
      const blocks = Math.min(to - from, distribution.within({ from: from * size, to: to * size }));
      return { calls: 1, units: unitsOf(blocks * BLOCK_BYTES) };
    }),
  );
}

/** The mean of a list of costs; zero for an empty list. */
export function meanOf(costs: readonly ReadCost[]): ReadCost {
  const { calls, units } = sumOf(costs);
  const count = Math.max(1, costs.length);
  return { calls: calls / count, units: units / count };
}
