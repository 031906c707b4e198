import { sumsOf, type Cell } from '../../geo/cell-sums.js';
import { clusterArea, type Spacing } from '../../geo/cluster-windows.js';
import { cellsPart, clusterCells, type Cluster } from '../../geo/clusters.js';
import { cellRange, encode, LONGEST_GEOHASH } from '../../geo/geohash.js';
import { atOnce } from '../../geo/steps.js';
import { Budget } from '../../loaders/budget.js';
import { groupBy } from '../../loaders/group.js';
import { FINEST_STORED } from '../../model/cell.js';
import type { Collection } from '../../model/collection.js';
import type { MapMarker } from '../../model/marker.js';
import { planBlocks, type BlockPlan } from '../../plan/blocks.js';
import { clusterPrecision } from '../../plan/precision.js';
import { requireCollection, type MapContext } from '../../read/context.js';
import { readAll, tooMuch } from '../../read/find-markers.js';
import { inTurns } from '../../scheduling/turns.js';
import { readWhole } from '../connection.js';
import { MAX_ZOOM, type Viewport } from '../viewport.js';
import { blocksUnder, cellsOfBlock } from './blocks.js';
import { cellOf, cellsOfMarkers, occupiedCellsOrCoarser, type ClusteredCells, type MapQuestion } from './cells.js';
import { areClustersKept, clustersByTile } from './kept-clusters.js';

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

/** Number of a cell's markers that are read to find the zoom at which it splits. */
const SAMPLE = 100;
const ADVICE = 'query expansionZoom for fewer clusters, for example in a smaller bounding box';

/** The lowest zoom with cells of these lengths at which the parts form two clusters; undefined if they never do. */
function splitsAt(
  { zoom, distance }: Spacing,
  partsAt: (precision: number) => readonly Cell[] | undefined,
): number | undefined {
  for (let next = Math.floor(zoom) + 1; next < MAX_ZOOM; next++) {
    const parts = partsAt(clusterPrecision(next)) ?? [];
    if (parts.length > 1 && atOnce(cellsPart(parts, { zoom: next, distance }))) return next;
  }
  return undefined;
}

/**
 * The lowest whole zoom above the viewport's at which a cluster would split if there were no others. A cluster of several
 * cells splits when these form two clusters; `ofCells` returns the zooms of clusters of a single cell.
 */
async function expansionZoom(
  { count, cells }: Cluster,
  spacing: Spacing,
  ofCells: () => Promise<ReadonlyMap<string, number>>,
): Promise<number> {
  if (count === 1) return MAX_ZOOM;
  const zoom = cells.length > 1 ? splitsAt(spacing, () => cells) : (await ofCells()).get(cells[0]?.geohash ?? '');
  return zoom ?? MAX_ZOOM;
}

/**
 * The zooms at which clusters of a single cell split, by cell: when the cells inside it that a map shows at that zoom do,
 * as far as they are stored; beyond that, up to 100 of its markers decide. All clusters share the reads.
 */
async function zoomsOfCells(
  context: MapContext,
  collection: Collection,
  clusters: readonly Cluster[],
  occupied: ClusteredCells,
  spacing: Spacing,
): Promise<ReadonlyMap<string, number>> {
  const budget = Budget.of(context.limits);
  const zooms = new Map<string, number>();
  let open = new Map<string, readonly Cell[]>();
  for (const { count, cells } of clusters) {
    const [only, ...more] = cells;
    if (only && more.length === 0 && count > 1) open.set(only.geohash, [only]);
  }
  for (let length = occupied.precision + 1; length <= FINEST_STORED && open.size > 0; length++) {
    const parents = hashesOf(open).sort();
    const blocks = occupied.markers ? [] : await blocksUnder(context, collection, parents, budget);
    if (!blocks) throw tooMuch('expansionZoom', context.limits, ADVICE);
    const known = occupied.markers && cellsOfMarkers(occupied.markers, length);
    const inside = known
      ? groupBy(known, ({ geohash }) => geohash.slice(0, -1))
      : new Map(blocks.map((block) => [block.parent, cellsOfBlock(block)]));
    const closed = new Map<string, readonly Cell[]>();
    for (const [name, members] of open) {
      const parts = members.flatMap(({ geohash }) => inside.get(geohash) ?? []);
      const found = splitsAt(spacing, (precision) => (precision === length ? parts : undefined));
      if (found === undefined) closed.set(name, parts);
      else zooms.set(name, found);
    }
    open = closed;
  }
  const samples = await sample(context, collection, occupied, new Set(hashesOf(open)), budget);
  for (const [name, members] of open) {
    const markers = members.flatMap(({ geohash }) => samples.get(geohash) ?? []);
    const parts = markers.map(({ position }) => ({ geohash: encode(position, LONGEST_GEOHASH), ...sumsOf(position) }));
    zooms.set(name, splitsAt(spacing, () => parts) ?? MAX_ZOOM);
  }
  return zooms;
}

const hashesOf = (cells: ReadonlyMap<string, readonly Cell[]>) =>
  [...cells.values()].flat().map(({ geohash }) => geohash);

/** Markers of each of these cells, as far as needed: the known ones, or up to 100. */
async function sample(
  context: MapContext,
  collection: Collection,
  { markers, precision }: ClusteredCells,
  single: ReadonlySet<string>,
  budget: Budget,
): Promise<ReadonlyMap<string, readonly MapMarker[]>> {
  const length = Math.max(precision, FINEST_STORED);
  if (markers) return groupBy(markers, (marker) => cellOf(marker, length));
  const samples = Array.from(single, async (geohash) => {
    const accept = (marker: MapMarker) => cellOf(marker, length) === geohash;
    const query = { collection, cover: [cellRange(geohash)], budget, accept, wanted: SAMPLE };
    return [geohash, await readAll(context, query, 'expansionZoom', ADVICE)] as const;
  });
  return new Map(await Promise.all(samples));
}
