import { CellportError } from '../errors.js';
import { areaContains } from '../geo/bounds.js';
import type { Collection } from '../model/collection.js';
import type { MapMarker } from '../model/marker.js';
import { DEFAULT_RADIUS, type MapCluster, blocksOfClusters, clustersOf } from './cells/clusters.js';
import { type MapContext, requireCollection } from './context.js';
import { countInRegion, regionOf } from './cells/count.js';
import { type MarkerFilter, type MarkerFilterInput, readFilter } from './filter.js';
import { readWhole } from './page.js';
import { coverForPlan } from '../plan/markers.js';
import { readAll } from './markers/read-all.js';
import { Budget } from '../loaders/budget.js';
import { hasMoreThan } from './markers/page-source.js';
import type { Viewport } from './viewport.js';

/** Markers or clusters, depending on the limit; the other list is empty. */
export interface ViewportContent {
  readonly mode: 'MARKERS' | 'CLUSTERS';
  /** Number of markers inside the viewport that match the filter. */
  readonly total: number;
  readonly markers: readonly MapMarker[];
  readonly clusters: readonly MapCluster[];
  /** Geohash length of the cells that form the clusters. */
  readonly precision: number;
}

/** Markers if at most `limit` are inside, otherwise clusters. */
export async function viewportAuto(
  context: MapContext,
  viewport: Viewport,
  collectionKey: string,
  limit: number,
  filter?: MarkerFilterInput | null,
): Promise<ViewportContent> {
  const most = readWhole('limit', limit, 1, context.limits.maxFirst);
  const passing = readFilter(filter);
  const collection = await requireCollection(context, collectionKey);
  return contentOf(context, viewport, collection, { field: 'auto', limit: most, filter: passing });
}

export interface ContentQuestion {
  readonly field: string;
  readonly limit: number;
  readonly filter: MarkerFilter | undefined;
}

/** The result of `auto` for a known collection. Throws LIMIT_EXCEEDED naming `field`. */
export async function contentOf(
  context: MapContext,
  viewport: Viewport,
  collection: Collection,
  { field, limit, filter }: ContentQuestion,
): Promise<ViewportContent> {
  const { precision } = viewport;
  const { counted, markers } = await inside(context, collection, viewport, { field, limit, filter });
  if (markers !== undefined && markers.length <= limit) {
    return { mode: 'MARKERS', total: markers.length, markers, clusters: [], precision };
  }
  const [clustered, total] = await Promise.all([
    clustersOf(context, viewport, collection, { field, distance: DEFAULT_RADIUS, filter }),
    counted ?? (filter && markers ? markers.length : countInside(context, collection, viewport, field)),
  ]);
  return { mode: 'CLUSTERS', total, markers: [], ...clustered };
}

/** The number of markers inside a viewport, counted from the blocks that its clusters are formed from. */
const countInside = (context: MapContext, collection: Collection, viewport: Viewport, field: string) =>
  countInRegion(context, collection, regionOf(viewport.area, blocksOfClusters(viewport)), field);

interface Inside {
  /** The number of markers inside, if they were counted. */
  readonly counted?: number;
  readonly markers?: readonly MapMarker[];
}

/**
 * The markers of a viewport if they may fit the limit: possibly more than `limit` of them, or none if they do not fit.
 * With a filter, all of them, because only reading them shows how many match.
 */
async function inside(
  context: MapContext,
  collection: Collection,
  viewport: Viewport,
  { field, limit, filter }: ContentQuestion,
): Promise<Inside> {
  const { area } = viewport;
  const accept = ({ position }: MapMarker) => areaContains(area, position);
  const budget = Budget.of(context.limits);
  const cover = coverForPlan(area);
  // Close to the limit, reading the markers is cheaper than counting them.
  if (!filter && (await hasMoreThan(context, { collection, cover, budget }, 1.5 * limit))) {
    const counted = await countInside(context, collection, viewport, field);
    if (counted > limit) return { counted };
  }
  const read = readAll(context, {
    field,
    collection,
    cover,
    budget,
    accept,
    filter,
    wanted: filter ? Infinity : limit + 1,
    advice: 'use a smaller bounding box, or query clusters',
  });
  try {
    return { markers: await read };
  } catch (error) {
    // More than can be read is more than fits; with a filter there is no other way to find out.
    if (!filter && error instanceof CellportError && error.code === 'LIMIT_EXCEEDED') return {};
    throw error;
  }
}
