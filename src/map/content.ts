import { ifRefused } from '../errors.js';
import { areaContains } from '../geo/bounds.js';
import { Budget } from '../loaders/budget.js';
import { isCounted } from '../model/grant.js';
import type { MapMarker } from '../model/marker.js';
import { coverForPlan } from '../plan/markers.js';
import { requireCollection, type MapContext } from '../read/context.js';
import { readFilter, type MarkerFilterInput } from '../read/filter.js';
import { readAll } from '../read/find-markers.js';
import { hasMoreThan } from '../read/from-pages/page-source.js';
import {
  blocksOfClusters,
  clustersOf,
  DEFAULT_RADIUS,
  type ClustersQuestion,
  type MapCluster,
} from './cells/clusters.js';
import { countInRegion, regionOf } from './cells/count.js';
import { countInKeptClusters } from './cells/kept-clusters.js';
import { readWhole } from './connection.js';
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

/** Which markers or clusters are requested. */
export interface ContentQuestion extends ClustersQuestion {
  readonly limit: number;
}

/** Validates a client's request. Throws BAD_USER_INPUT naming the invalid argument, and NOT_FOUND. */
export async function readContentQuestion(
  context: MapContext,
  field: string,
  collectionKey: string,
  limit: number,
  filterInput?: MarkerFilterInput | null,
): Promise<ContentQuestion> {
  const most = readWhole('limit', limit, 1, context.limits.maxFirst);
  const filter = readFilter(filterInput);
  return { field, collection: await requireCollection(context, collectionKey), limit: most, filter };
}

/** Markers if at most `limit` are inside, otherwise clusters. */
export async function viewportAuto(
  context: MapContext,
  viewport: Viewport,
  collectionKey: string,
  limit: number,
  filter?: MarkerFilterInput | null,
): Promise<ViewportContent> {
  return viewportContent(context, viewport, await readContentQuestion(context, 'auto', collectionKey, limit, filter));
}

/** The same for a validated request. Throws LIMIT_EXCEEDED naming its field. */
export async function viewportContent(
  context: MapContext,
  viewport: Viewport,
  question: ContentQuestion,
): Promise<ViewportContent> {
  const { collection, limit, filter } = question;
  const { precision } = viewport;
  const { counted, markers } = await inside(context, viewport, question);
  if (markers !== undefined && markers.length <= limit) {
    return { mode: 'MARKERS', total: markers.length, markers, clusters: [], precision };
  }
  const [clustered, total] = await Promise.all([
    clustersOf(context, viewport, question),
    counted ?? (!isCounted(collection, filter) && markers ? markers.length : countInside(context, viewport, question)),
  ]);
  return { mode: 'CLUSTERS', total, markers: [], ...clustered };
}

/** The number of markers inside a viewport, counted from the blocks that are read for its clusters, if any. */
function countInside(context: MapContext, viewport: Viewport, question: ContentQuestion): Promise<number> {
  const { field, collection } = question;
  const blocks = blocksOfClusters(context, viewport, question);
  return countInRegion(context, collection, regionOf(viewport.area, blocks), field);
}

interface Inside {
  /** The number of markers inside, if they were counted. */
  readonly counted?: number;
  readonly markers?: readonly MapMarker[];
}

/**
 * The markers of a viewport if they may fit the limit: possibly more than `limit` of them, or none if they do not fit.
 * With a filter or rows, all of them, because only reading them shows how many match.
 */
async function inside(context: MapContext, viewport: Viewport, question: ContentQuestion): Promise<Inside> {
  const { field, collection, limit, filter } = question;
  const { area } = viewport;
  const isStored = isCounted(collection, filter);
  const spacing = { zoom: viewport.zoom, distance: DEFAULT_RADIUS };
  let counted = 0;
  if (isStored && countInKeptClusters(context, area, question, spacing) > limit)
    counted = await countInside(context, viewport, question);
  if (counted > limit) return { counted };
  const accept = ({ position }: MapMarker) => areaContains(area, position);
  const budget = Budget.of(context.limits);
  const cover = coverForPlan(area);
  // Close to the limit, reading the markers is cheaper than counting them.
  if (isStored && (await hasMoreThan(context, { collection, cover, budget }, 1.5 * limit))) {
    counted = await countInside(context, viewport, question);
    if (counted > limit) return { counted };
  }
  const query = { collection, cover, budget, accept, filter, wanted: isStored ? limit + 1 : undefined };
  const reading = readAll(context, query, field, 'use a smaller bounding box, or query clusters');
  const found = reading.then((markers): Inside => ({ markers }));
  // More than can be read is more than fits; with a filter there is no other way to find out.
  return isStored ? found.catch(ifRefused(() => ({}), 'LIMIT_EXCEEDED')) : found;
}
