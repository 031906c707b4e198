import { CellportError } from '../../errors.js';
import { areaOverlapsCell, type Area } from '../../geo/bounds.js';
import { addSums, NO_SUMS, sumsOf, type Cell } from '../../geo/cell-sums.js';
import { cellBounds, encode, LONGEST_Z } from '../../geo/geohash.js';
import { coverArea, type ZRange } from '../../geo/ranges.js';
import { Budget } from '../../loaders/budget.js';
import { remembered } from '../../loaders/remembered.js';
import { FINEST_STORED } from '../../model/cell.js';
import type { Collection } from '../../model/collection.js';
import { isCounted, type MarkerFilter } from '../../model/grant.js';
import type { MapMarker } from '../../model/marker.js';
import { planBlocks } from '../../plan/blocks.js';
import { FINENESS } from '../../plan/markers.js';
import type { MapContext } from '../../read/context.js';
import { readAll, tooMuch } from '../../read/read-all.js';
import { eachInTurns } from '../../scheduling/turns.js';
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
export interface CellsQuestion extends MapQuestion {
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
  try {
    return await occupiedCells(context, question);
  } catch (error) {
    const coarser = precision > FINEST_STORED && !filter;
    if (!coarser || !(error instanceof CellportError) || error.code !== 'LIMIT_EXCEEDED') throw error;
    return occupiedCells(context, { ...question, precision: FINEST_STORED });
  }
}
