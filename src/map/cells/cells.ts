import { ifRefused } from '../../errors.js';
import { areaOverlapsCell, type Area } from '../../geo/bounds.js';
import { addSums, NO_SUMS, sumsOf, type Cell } from '../../geo/cell-sums.js';
import {
  cellBounds,
  cellRange,
  coverArea,
  encode,
  LONGEST_GEOHASH,
  LONGEST_Z,
  type ZRange,
} from '../../geo/geohash.js';
import { Budget } from '../../loaders/budget.js';
import { remembered } from '../../loaders/remembered.js';
import { FINEST_STORED } from '../../model/cell.js';
import type { Collection } from '../../model/collection.js';
import { isCounted, type MarkerFilter } from '../../model/grant.js';
import type { MapMarker } from '../../model/marker.js';
import { planBlocks } from '../../plan/blocks.js';
import { FINENESS } from '../../plan/markers.js';
import { requireCollection, type MapContext } from '../../read/context.js';
import { readAll, tooMuch } from '../../read/find-markers.js';
import { eachInTurns } from '../../scheduling/turns.js';
import { readConnection, readWhole, type ConnectionArguments, type MarkerConnection } from '../connection.js';
import type { Viewport } from '../viewport.js';
import { byGeohash, cellsOfBlock } from './blocks.js';

/** The cells from which clusters were formed. */
export interface ClusteredCells {
  readonly precision: number;
  /** The markers from which the cells were counted, if the cells are not stored. */
  readonly markers?: readonly MapMarker[];
}

/** The non-empty cells of an area. */
export interface OccupiedCells extends ClusteredCells {
  /** Sorted by geohash. */
  readonly cells: readonly Cell[];
}

/** Whose markers are counted for which field. */
export interface MapQuestion {
  readonly field: string;
  readonly collection: Collection;
  readonly filter?: MarkerFilter | undefined;
}

/** Which cells are requested. */
interface CellsQuestion extends MapQuestion {
  readonly area: Area;
  readonly precision: number;
}

/** The cell of this precision that contains a marker. */
export function cellOf({ geohash, position }: MapMarker, precision: number): string {
  return precision <= LONGEST_Z ? geohash.slice(0, precision) : encode(position, precision);
}

/** Markers grouped by their cells of this precision, in the order of the geohashes. */
export function cellsOfMarkers(markers: Iterable<MapMarker>, precision: number): Cell[] {
  const cells = new Map<string, Cell>();
  for (const marker of markers) {
    const geohash = cellOf(marker, precision);
    const sums = addSums(cells.get(geohash) ?? NO_SUMS, sumsOf(marker.position));
    cells.set(geohash, { geohash, ...sums });
  }
  return [...cells.values()].sort(byGeohash);
}

/** Z-order ranges at length 10 that cover all cells of a precision that overlap an area. */
function coverCells(area: Area, precision: number): ZRange[] {
  const length = Math.min(precision, LONGEST_Z);
  const size = 32 ** (LONGEST_Z - length);
  return coverArea(area, length, FINENESS).map(({ from, to }) => ({ from: from * size, to: to * size }));
}

/**
 * The non-empty cells of one precision (1 to 12) that overlap an area, with full counts. They are read from storage up
 * to length 5, and counted from all their markers beyond, or if there is a filter. Throws LIMIT_EXCEEDED naming `field`
 * if that exceeds the budget of a field.
 */
export async function occupiedCells(
  context: MapContext,
  { field, collection, area, precision, filter }: CellsQuestion,
): Promise<OccupiedCells> {
  const { loaders, limits } = context;
  const budget = Budget.of(limits);
  const known = new Map<string, boolean>();
  const overlaps = (geohash: string) => remembered(known, geohash, () => areaOverlapsCell(area, cellBounds(geohash)));
  if (precision > FINEST_STORED || !isCounted(collection, filter)) {
    const accept = (marker: MapMarker) => overlaps(cellOf(marker, precision));
    const query = { collection, cover: coverCells(area, precision), budget, accept, filter };
    const advice =
      precision <= FINEST_STORED
        ? 'filter only by category and mapProperties'
        : `a precision of ${FINEST_STORED} or less`;
    const markers = await readAll(context, query, field, `use a smaller bounding box, or ${advice}`);
    return { precision, cells: cellsOfMarkers(markers, precision), markers };
  }
  const plan = planBlocks(area, precision);
  const blocks = await loaders.blocks.load(collection, plan, budget);
  const cells: Cell[] = [];
  await context.turn();
  await eachInTurns(blocks ?? [], context.turn, (block) => {
    for (const cell of cellsOfBlock(block)) if (overlaps(cell.geohash)) cells.push(cell);
  });
  if (!blocks || cells.length > limits.itemsPerField) {
    throw tooMuch(field, limits, 'use a smaller bounding box or a lower precision');
  }
  await context.turn();
  return { precision, cells: cells.sort(byGeohash) };
}

/** The same, but with the finest stored cells if finer ones would have to be counted from too many markers. */
export async function occupiedCellsOrCoarser(context: MapContext, question: CellsQuestion): Promise<OccupiedCells> {
  const { precision, filter } = question;
  const cells = occupiedCells(context, question);
  if (precision <= FINEST_STORED || filter) return cells;
  const coarser = () => occupiedCells(context, { ...question, precision: FINEST_STORED });
  return cells.catch(ifRefused(coarser, 'LIMIT_EXCEEDED'));
}

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
