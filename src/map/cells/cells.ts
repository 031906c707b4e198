import { addSums, NO_SUMS, sumsOf, type Cell } from '../../geo/cell-sums.js';
import { encode, LONGEST_GEOHASH } from '../../geo/geohash.js';
import { cellRange } from '../../geo/ranges.js';
import { Budget } from '../../loaders/budget.js';
import { FINEST_STORED } from '../../model/cell.js';
import type { Collection } from '../../model/collection.js';
import { isCounted } from '../../model/grant.js';
import type { MapMarker } from '../../model/marker.js';
import { requireCollection, type MapContext } from '../../read/context.js';
import { readAll } from '../../read/read-all.js';
import { readConnection, readWhole, type ConnectionArguments, type MarkerConnection } from '../connection.js';
import type { Viewport } from '../viewport.js';
import { byGeohash, cellsOfBlock } from './blocks.js';
import { cellOf, cellsOfMarkers, occupiedCells } from './occupied.js';

/** A cell of a collection. Its bounds, center and centroid are computed by geo/. */
export interface MapCell extends Cell {
  readonly collection: Collection;
}

/**
 * The non-empty cells of one precision (1 to 12, by default the viewport's own) that overlap the viewport, by geohash,
 * each with its full count.
 */
export async function viewportCells(
  context: MapContext,
  { area, precision: own }: Viewport,
  collectionKey: string,
  wanted?: number | null,
): Promise<MapCell[]> {
  const precision = readPrecision(wanted ?? own);
  const collection = await requireCollection(context, collectionKey);
  const { cells } = await occupiedCells(context, { field: 'cells', collection, area, precision });
  await context.turn();
  return cells.map((cell) => ({ ...cell, collection }));
}

const readPrecision = (value: unknown) => readWhole('precision', value, 1, LONGEST_GEOHASH);

const within = (geohash: string) => (marker: MapMarker) => cellOf(marker, geohash.length) === geohash;

function markersOf(context: MapContext, collection: Collection, geohash: string): Promise<readonly MapMarker[]> {
  const budget = Budget.of(context.limits);
  const query = { collection, cover: [cellRange(geohash)], budget, accept: within(geohash) };
  const advice = `query the enclosing cell of ${FINEST_STORED} characters, or page through its markers`;
  return readAll(context, query, 'cell', advice);
}

/** A cell of any length from 1 to 12; its count is 0 if it is empty. */
export async function cellAt(context: MapContext, collection: Collection, geohash: string): Promise<MapCell> {
  if (geohash.length > FINEST_STORED || !isCounted(collection)) {
    const markers = await markersOf(context, collection, geohash);
    const sums = markers.map(({ position }) => sumsOf(position)).reduce(addSums, NO_SUMS);
    return { collection, geohash, ...sums };
  }
  const block = await context.loaders.blocks.one(collection, geohash.slice(0, -1));
  return { collection, geohash, ...(block.children.get(geohash.slice(-1)) ?? NO_SUMS) };
}

/** The cell of this precision that contains a marker. */
export async function cellOfMarker(context: MapContext, marker: MapMarker, precision: number): Promise<MapCell> {
  const geohash = encode(marker.position, readPrecision(precision));
  return cellAt(context, await requireCollection(context, marker.collection), geohash);
}

/** The enclosing cell; null for a cell of length 1. */
export async function cellParent(context: MapContext, { collection, geohash }: MapCell): Promise<MapCell | null> {
  return geohash.length <= 1 ? null : cellAt(context, collection, geohash.slice(0, -1));
}

/** The non-empty children of a cell; empty for a cell of length 12. */
export async function cellChildren(context: MapContext, { collection, geohash, count }: MapCell): Promise<MapCell[]> {
  if (geohash.length >= LONGEST_GEOHASH) return [];
  const withCollection = (cells: readonly Cell[]) => cells.map((cell) => ({ ...cell, collection }));
  if (geohash.length < FINEST_STORED && isCounted(collection)) {
    const block = await context.loaders.blocks.one(collection, geohash);
    return withCollection(cellsOfBlock(block).sort(byGeohash));
  }
  // A count of 0 is reliable if it was computed from markers; a stored count may lag behind them.
  if (count === 0 && (geohash.length > FINEST_STORED || !isCounted(collection))) return [];
  return withCollection(cellsOfMarkers(await markersOf(context, collection, geohash), geohash.length + 1));
}

/** A connection of a cell's markers. */
export function cellMarkers(
  context: MapContext,
  { collection, geohash }: MapCell,
  input: ConnectionArguments,
): Promise<MarkerConnection> {
  const list = { collection, of: ['cell', geohash], cover: [cellRange(geohash)], accept: within(geohash) };
  return readConnection(context, list, input);
}
