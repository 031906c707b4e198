import { ifRefused } from '../../errors.js';
import { areaOverlapsCell } from '../../geo/bounds.js';
import type { Cell } from '../../geo/cell-sums.js';
import { clusterArea, type Spacing } from '../../geo/cluster-windows.js';
import { clusterCells, type Cluster } from '../../geo/clusters.js';
import { cellBounds, cellRange, intersect, type ZRange } from '../../geo/geohash.js';
import { MERCATOR_LAT } from '../../geo/mercator.js';
import {
  areaAround,
  isInMercator,
  nameOf,
  placesIn,
  TILE_BUFFER,
  TILE_UNITS,
  tileAt,
  tilesUnder,
  unitAt,
  type Tile,
} from '../../geo/tiles.js';
import { Budget } from '../../loaders/budget.js';
import { FINEST_STORED } from '../../model/cell.js';
import { isCounted } from '../../model/grant.js';
import type { MapMarker } from '../../model/marker.js';
import { coverForPlan } from '../../plan/markers.js';
import { clusterPrecision } from '../../plan/precision.js';
import type { MapContext } from '../../read/context.js';
import { readAll } from '../../read/find-markers.js';
import { inTurns } from '../../scheduling/turns.js';
import { byGeohash } from '../cells/blocks.js';
import {
  cellOf,
  cellsOfMarkers,
  occupiedCellsOrCoarser,
  type MapQuestion,
  type OccupiedCells,
} from '../cells/cells.js';
import { DEFAULT_RADIUS } from '../cells/clusters.js';

/** Whose markers a tile shows, and up to how many. */
export interface TileQuestion extends MapQuestion {
  readonly limit: number;
}

/** What a tile shows of a collection, its buffer included. */
export interface TileContent {
  readonly markers: readonly MapMarker[];
  readonly clusters: readonly Cluster[];
}

export const spacingAt = ({ z: zoom }: Tile): Spacing => ({ zoom, distance: DEFAULT_RADIUS });

/** A tile and its neighbors. */
const withNeighbors = (tile: Tile) => areaAround(tile, TILE_UNITS);

/** The area whose cells decide what a tile shows: those of its clusters and of its neighbors'. */
export const decisiveArea = (tile: Tile) => clusterArea(withNeighbors(tile), clusterPrecision(tile.z), spacingAt(tile));

/** What to do about a tile that needs more than can be read. */
export const TILE_ADVICE = 'zoom in, or filter only by category and mapProperties';

/** The markers in some ranges of Z-order that are accepted. */
function markersIn(
  context: MapContext,
  { field, collection, filter }: MapQuestion,
  cover: readonly ZRange[],
  accept: (marker: MapMarker) => boolean,
) {
  return readAll(context, { collection, cover, budget: Budget.of(context.limits), accept, filter }, field, TILE_ADVICE);
}

/** The cells without the markers beyond Web Mercator; those of cells that its edge cuts are read. */
async function withinMercator(
  context: MapContext,
  question: MapQuestion,
  { cells, markers, precision }: OccupiedCells,
): Promise<readonly Cell[]> {
  const cellsWithin = (all: readonly MapMarker[]) =>
    cellsOfMarkers(
      all.filter(({ position }) => isInMercator(position)),
      precision,
    );
  if (markers) return cellsWithin(markers);
  const edge = cells.filter(({ geohash }) => {
    const { south, north } = cellBounds(geohash);
    return south < -MERCATOR_LAT || north > MERCATOR_LAT;
  });
  if (edge.length === 0) return cells;
  const cut = edge
    .map(({ geohash }) => geohash)
    .filter((geohash) => {
      const { south, north } = cellBounds(geohash);
      return north > -MERCATOR_LAT && south < MERCATOR_LAT;
    });
  const isCut = (marker: MapMarker) => cut.includes(cellOf(marker, precision));
  const kept = cut.length === 0 ? [] : await markersIn(context, question, cut.map(cellRange), isCut);
  return [...cells.filter((cell) => !edge.includes(cell)), ...cellsWithin(kept)].sort(byGeohash);
}

const sum = (cells: readonly Cell[]) => cells.reduce((total, { count }) => total + count, 0);

/**
 * Decides what is drawn as its markers. A tile draws markers if the clusters that overlap it have at most `limit` of them,
 * and each cluster is drawn as the tile does that has its position. So every tile comes to the same decision on a cluster
 * that reaches into several, and each marker is drawn in exactly one tile, by itself or in a cluster.
 */
function takeApart(clusters: readonly Cluster[], tile: Tile, limit: number) {
  const { z } = tile;
  const loads = new Map<string, number>();
  for (const { cells, count } of clusters) {
    const tiles = new Set(cells.flatMap(({ geohash }) => tilesUnder(cellBounds(geohash), z)));
    for (const name of tiles) loads.set(name, (loads.get(name) ?? 0) + count);
  }
  const loadOf = (one: Tile) => loads.get(nameOf(one)) ?? 0;
  const isApart = ({ position, count }: Cluster) => Math.max(count, loadOf(tileAt(unitAt(position, z), z))) <= limit;
  return { drawsMarkers: loadOf(tile) <= limit, apart: new Set(clusters.filter(isApart)) };
}

/**
 * What a tile shows: its markers if there are at most `limit`, otherwise clusters, the same as a viewport of its zoom shows.
 * The markers of all tiles of a level and the counts of their clusters add up to the collection within Web Mercator,
 * buffers aside. Throws LIMIT_EXCEEDED naming the field.
 */
export async function tileContent(context: MapContext, tile: Tile, question: TileQuestion): Promise<TileContent> {
  const content = contentUpTo(context, tile, question);
  if (!isCounted(question.collection, question.filter)) return content;
  // A few markers may be in a thousand partitions of the index, which is read while pages are behind.
  return content.catch(ifRefused(() => contentUpTo(context, tile, { ...question, limit: -1 }), 'LIMIT_EXCEEDED'));
}

async function contentUpTo(context: MapContext, tile: Tile, question: TileQuestion): Promise<TileContent> {
  const { collection, filter, limit } = question;
  const own = clusterPrecision(tile.z);
  const area = decisiveArea(tile);
  const occupiedAt = async (precision: number) => {
    const occupied = await occupiedCellsOrCoarser(context, { ...question, area, precision });
    return { ...occupied, cells: await withinMercator(context, question, occupied) };
  };
  // Stored cells tell that there are few markers, without reading these.
  const isStored = isCounted(collection, filter);
  let occupied = await occupiedAt(isStored ? Math.min(own, FINEST_STORED) : own);
  if (isStored && occupied.precision < own && sum(occupied.cells) > limit) occupied = await occupiedAt(own);
  await context.turn();
  const isFew = sum(occupied.cells) <= limit;
  const clusters = isFew
    ? []
    : await inTurns(clusterCells(withNeighbors(tile), occupied.cells, spacingAt(tile)), context.turn);
  await context.turn();
  const { drawsMarkers, apart } = takeApart(clusters, tile, limit);
  const whole = clusters.filter((cluster) => !apart.has(cluster));
  const cellsOf = (some: Iterable<Cluster>) => [...some].flatMap(({ cells }) => cells.map(({ geohash }) => geohash));
  const inClusters = new Set(cellsOf(whole));
  // Those of cells that are not counted yet, too.
  const isAlone = (marker: MapMarker) => !inClusters.has(cellOf(marker, occupied.precision));
  const around = areaAround(tile, TILE_BUFFER);
  const read = () => {
    const cover = coverForPlan(around);
    if (drawsMarkers) return markersIn(context, question, cover, isAlone);
    const open = cellsOf(apart).filter((geohash) => areaOverlapsCell(around, cellBounds(geohash)));
    if (open.length === 0) return [];
    return markersIn(context, question, intersect(open.sort().map(cellRange), cover), isAlone);
  };
  const markers = occupied.markers?.filter(isAlone) ?? (await read());
  const isShown = ({ position }: Pick<MapMarker, 'position'>) =>
    isInMercator(position) && placesIn(tile, unitAt(position, tile.z)).length > 0;
  return {
    markers: markers.filter(isShown),
    clusters: whole.filter(isShown),
  };
}
