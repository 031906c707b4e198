import { clusterArea, type Spacing } from '../../geo/cluster-windows.js';
import { clusterCells, type Cluster } from '../../geo/clusters.js';
import { cellRange } from '../../geo/ranges.js';
import { Budget } from '../../loaders/budget.js';
import { FINEST_STORED } from '../../model/cell.js';
import type { Collection } from '../../model/collection.js';
import type { MapMarker } from '../../model/marker.js';
import { planBlocks, type BlockPlan } from '../../plan/blocks.js';
import { clusterPrecision } from '../../plan/precision.js';
import { requireCollection, type MapContext } from '../../read/context.js';
import { readAll } from '../../read/read-all.js';
import { inTurns } from '../../scheduling/turns.js';
import { readWhole } from '../connection.js';
import type { Viewport } from '../viewport.js';
import { expansionZoom, zoomsOfCells } from './expansion.js';
import { areClustersKept, clustersByTile } from './kept-clusters.js';
import { cellOf, occupiedCellsOrCoarser, type ClusteredCells, type MapQuestion } from './occupied.js';

/** A cluster whose further fields are read on demand, for all clusters of a response together. */
export interface MapCluster extends Cluster {
  /** Its only marker; null if its count is not 1. */
  readonly marker: () => Promise<MapMarker | null>;
  /** The lowest whole zoom above the viewport's, at most 30, at which it splits; 30 if it never does. */
  readonly expansionZoom: () => Promise<number>;
}

/** Default distance in px below which neighbors are merged. */
export const DEFAULT_RADIUS = 60;
const MAX_RADIUS = 512;

/** Which clusters are requested: those at least `distance` px apart. */
export interface ClustersQuestion extends MapQuestion {
  readonly distance?: number;
}

/** Clusters, and the geohash length of the cells that form them. */
export interface Clustered {
  readonly clusters: readonly MapCluster[];
  readonly precision: number;
}

/** The clusters of a viewport; `radius` in px at its zoom, 1 to 512. */
export async function viewportClusters(
  context: MapContext,
  viewport: Viewport,
  collectionKey: string,
  radius?: number | null,
): Promise<MapCluster[]> {
  const distance = readWhole('radius', radius ?? DEFAULT_RADIUS, 1, MAX_RADIUS);
  const collection = await requireCollection(context, collectionKey);
  return [...(await clustersOf(context, viewport, { field: 'clusters', collection, distance })).clusters];
}

/** The blocks that are read to form clusters at the default distance; undefined if none are. */
export function blocksOfClusters(
  context: MapContext,
  { area, zoom }: Viewport,
  question: MapQuestion,
): BlockPlan | undefined {
  const own = clusterPrecision(zoom);
  const spacing = { zoom, distance: DEFAULT_RADIUS };
  if (own > FINEST_STORED || areClustersKept(context, area, question, spacing)) return undefined;
  return planBlocks(clusterArea(area, own, spacing), own);
}

/**
 * The clusters of a viewport at its zoom. They are formed from cells of the zoom's precision, or from the finest stored
 * ones if finer cells would have to be counted from too many markers.
 */
export async function clustersOf(
  context: MapContext,
  { area, zoom }: Viewport,
  { field, collection, filter, distance = DEFAULT_RADIUS }: ClustersQuestion,
): Promise<Clustered> {
  const spacing: Spacing = { zoom, distance };
  const own = clusterPrecision(zoom);
  const question = { field, collection, filter };
  const kept = await clustersByTile(context, area, question, spacing);
  if (kept) return { clusters: withReads(context, collection, kept, { precision: own }, spacing), precision: own };
  const wide = clusterArea(area, own, spacing);
  const occupied = await occupiedCellsOrCoarser(context, { ...question, area: wide, precision: own });
  await context.turn();
  const clusters = await inTurns(clusterCells(area, occupied.cells, spacing), context.turn);
  return { clusters: withReads(context, collection, clusters, occupied, spacing), precision: occupied.precision };
}

/** Adds on-demand reads of markers and zooms, shared by all clusters. */
function withReads(
  context: MapContext,
  collection: Collection,
  clusters: readonly Cluster[],
  occupied: ClusteredCells,
  spacing: Spacing,
): MapCluster[] {
  let single: ReturnType<typeof singleMarkers> | undefined;
  let zooms: ReturnType<typeof zoomsOfCells> | undefined;
  const ofCells = () => (zooms ??= zoomsOfCells(context, collection, clusters, occupied, spacing));
  return clusters.map((cluster) => ({
    position: cluster.position,
    bounds: cluster.bounds,
    count: cluster.count,
    // Unpacked on demand.
    get cells() {
      return cluster.cells;
    },
    marker: async () => {
      if (cluster.count !== 1) return null;
      single ??= singleMarkers(context, collection, clusters, occupied);
      return (await single).get(cluster.cells[0]?.geohash ?? '') ?? null;
    },
    expansionZoom: () => expansionZoom(cluster, spacing, ofCells),
  }));
}

/** The markers of clusters of one marker, by their cells. */
async function singleMarkers(
  context: MapContext,
  collection: Collection,
  clusters: readonly Cluster[],
  { precision, markers: known }: ClusteredCells,
): Promise<ReadonlyMap<string, MapMarker>> {
  const single = clusters.filter(({ count }) => count === 1);
  const wanted = new Set(single.flatMap(({ cells }) => cells.map(({ geohash }) => geohash)));
  const read = () => {
    const query = {
      collection,
      cover: [...wanted].sort().map(cellRange),
      budget: Budget.of(context.limits),
      accept: (marker: MapMarker) => wanted.has(cellOf(marker, precision)),
    };
    return readAll(context, query, 'marker', "omit the clusters' markers, or use a smaller bounding box");
  };
  return new Map((known ?? (await read())).map((marker) => [cellOf(marker, precision), marker]));
}
