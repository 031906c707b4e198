import { ifRefused } from '../../errors.js';
import { normalizeBounds, type Area, type Bounds } from '../../geo/bounds.js';
import { around, ClusterTiles, sizeOfSpan, tilesOf, type TileSpan } from '../../geo/cluster-tiles.js';
import { clusterArea, type Spacing } from '../../geo/cluster-windows.js';
import { clusterCells, type Cluster } from '../../geo/clusters.js';
import { cellBounds, coverArea, LONGEST_Z } from '../../geo/geohash.js';
import { PackedCluster } from '../../geo/packed-cluster.js';
import { FINEST_STORED } from '../../model/cell.js';
import { isCounted } from '../../model/grant.js';
import { clusterPrecision } from '../../plan/precision.js';
import type { MapContext } from '../../read/context.js';
import { inTurns } from '../../scheduling/turns.js';
import { occupiedCells, type MapQuestion } from './cells.js';

/** Areas of more tiles are no map. */
const MOST_TILES = 400;
/** Number of ranges that describe where changes matter; they may extend beyond. */
const RANGES = 16;
// Measured.
const CLUSTER_BYTES = 320;
const CELL_BYTES = 32;

/** The approximate memory of the clusters of a tile in bytes. */
export const bytesOfClusters = (clusters: readonly PackedCluster[], name: string): number =>
  CLUSTER_BYTES + 2 * name.length + clusters.reduce((sum, { size }) => sum + CLUSTER_BYTES + CELL_BYTES * size, 0);

/** The tiles of a map's clusters. */
interface Tiled {
  readonly tiles: ClusterTiles;
  readonly span: TileSpan;
  readonly scope: string;
  readonly nameOf: (tile: TileSpan) => string;
}

/** Undefined if the clusters of this map are not kept: they are formed from markers, or changes are not followed. */
function tiled(
  context: MapContext,
  area: Area,
  { collection, filter }: MapQuestion,
  spacing: Spacing,
): Tiled | undefined {
  const scope = context.keys.scope(collection);
  // Of a table that is read again and again, changes are not noted.
  const isFollowed = collection.source?.everyMs === undefined && context.loaders.keptClusters.keeps(scope);
  const isStored = clusterPrecision(spacing.zoom) <= FINEST_STORED && isCounted(collection, filter);
  if (!isFollowed || !isStored) return undefined;
  const tiles = new ClusterTiles(spacing);
  const span = tiles.spanOf(area.bounds);
  if (sizeOfSpan(span) > MOST_TILES) return undefined;
  const prefix = `${scope}\n${collection.createdAt}\n${spacing.zoom} ${spacing.distance}`;
  return { tiles, span, scope, nameOf: (tile) => `${prefix} ${tiles.nameOf(tile)}` };
}

/** Whether all clusters of a map are known without reading cells. */
export function areClustersKept(context: MapContext, area: Area, question: MapQuestion, spacing: Spacing): boolean {
  const found = tiled(context, area, question, spacing);
  const { keptClusters } = context.loaders;
  return found !== undefined && tilesOf(found.span).every((tile) => keptClusters.get(found.nameOf(tile)));
}

/** The number of markers in kept clusters that lie in an area: there are no fewer inside. */
export function countInKeptClusters(context: MapContext, area: Area, question: MapQuestion, spacing: Spacing): number {
  const found = tiled(context, area, question, spacing);
  if (found === undefined) return 0;
  const { keptClusters } = context.loaders;
  const counts = new Map<string, number>();
  const contains = ({ west, south, east, north }: Bounds) =>
    area.parts.some((part) => part.west <= west && east <= part.east && part.south <= south && north <= part.north);
  for (const tile of tilesOf(found.span)) {
    for (const { bounds, first, count } of keptClusters.get(found.nameOf(tile)) ?? []) {
      if (bounds.west <= bounds.east && contains(bounds)) counts.set(first, count);
    }
  }
  return [...counts.values()].reduce((sum, count) => sum + count, 0);
}

/**
 * The clusters with a cell in an area, sorted by first geohash, of which those in tiles where nothing has changed are
 * formed once: clusters are the same for every area. Undefined if they are not kept.
 */
export async function clustersByTile(
  context: MapContext,
  area: Area,
  question: MapQuestion,
  spacing: Spacing,
): Promise<readonly Cluster[] | undefined> {
  const found = tiled(context, area, question, spacing);
  if (found === undefined) return undefined;
  const { span, nameOf } = found;
  const { keptClusters } = context.loaders;
  const known = new Map<string, readonly PackedCluster[] | undefined>();
  let missing: TileSpan | undefined;
  for (const tile of tilesOf(span)) {
    const clusters = keptClusters.get(nameOf(tile));
    known.set(nameOf(tile), clusters);
    if (clusters === undefined) missing = missing ? around(missing, tile) : tile;
  }
  if (missing) {
    const made = await clustersOfSpan(context, found, missing, question, spacing);
    // What has changed meanwhile may be in some of the tiles and not in others.
    const isCurrent = [...known].every(([name, clusters]) => !clusters || keptClusters.get(name) === clusters);
    if (made === undefined || !isCurrent) return undefined;
    for (const [name, clusters] of made) known.set(name, clusters);
  }
  const byFirst = new Map<string, PackedCluster>();
  for (const clusters of known.values()) for (const cluster of clusters ?? []) byFirst.set(cluster.first, cluster);
  const inside = [...byFirst].filter(([, cluster]) => cluster.overlaps(area));
  return inside.sort(([a], [b]) => (a < b ? -1 : 1)).map(([, cluster]) => cluster);
}

/** Forms and keeps the clusters of some tiles, by name; undefined if they have more cells than may be read. */
async function clustersOfSpan(
  context: MapContext,
  { tiles, scope, nameOf }: Tiled,
  span: TileSpan,
  { field, collection }: MapQuestion,
  spacing: Spacing,
): Promise<ReadonlyMap<string, readonly PackedCluster[]> | undefined> {
  const { keptClusters } = context.loaders;
  const precision = clusterPrecision(spacing.zoom);
  const area = normalizeBounds('bounds', tiles.boundsOf(span));
  const wide = clusterArea(area, precision, spacing);
  const since = keptClusters.moment();
  const reading = occupiedCells(context, { field, collection, area: wide, precision });
  const occupied = await reading.catch(ifRefused(() => undefined, 'LIMIT_EXCEEDED'));
  // The tiles extend beyond the map, which may be small enough.
  if (occupied === undefined) return undefined;
  await context.turn();
  const clusters = await inTurns(clusterCells(area, occupied.cells, spacing), context.turn);
  const byTile = new Map(tilesOf(span).map((tile) => [nameOf(tile), new Set<PackedCluster>()]));
  for (const cluster of clusters) {
    const kept = new PackedCluster(cluster);
    for (const { geohash } of cluster.cells) {
      for (const tile of tilesOf(tiles.spanOf(cellBounds(geohash)))) byTile.get(nameOf(tile))?.add(kept);
    }
  }
  const lists = Array.from(byTile, ([name, some]) => [name, [...some]] as const);
  const decisive = { scope, ranges: coverArea(wide, LONGEST_Z, RANGES) };
  for (const [name, some] of lists) keptClusters.put(name, some, decisive, since);
  return new Map(lists);
}
