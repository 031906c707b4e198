import { FINEST_STORED } from '../../model/cell.js';
import { type Cell, NO_SUMS, addSums, sumsOf } from '../../geo/cell-sums.js';
import { type Area, areaOverlapsCell } from '../../geo/bounds.js';
import { LONGEST_Z, cellBounds, columnOf, encode, latBits, lngBits, rowOf } from '../../geo/geohash.js';
import { CellportError } from '../../errors.js';
import type { Collection } from '../../model/collection.js';
import { type BlockPlan, planBlocks } from '../../plan/blocks.js';
import { coverForPlan } from '../../plan/markers.js';
import type { MapContext } from '../context.js';
import type { MarkerFilter } from '../filter.js';
import { readAll, tooMuch } from '../markers/read-all.js';
import { byGeohash, cellsOfBlock } from './blocks.js';
import { Budget } from '../../loaders/budget.js';
import type { OrderedMarker } from '../markers/search.js';
import { eachInTurns } from '../../turns.js';

/** The cells of an area that have markers, by geohash, and what they were made from. */
export type OccupiedCells = { readonly cells: readonly Cell[] } & CellSource;

/** The markers that cells were counted from, or the plan of the blocks that they were read from. */
type CellSource =
  | { readonly markers: readonly OrderedMarker[]; readonly plan?: undefined }
  | { readonly markers?: undefined; readonly plan: BlockPlan };

/** The cell of this precision that a marker is in; the cursor position holds it up to length 10. */
export function cellOf({ cursorPosition, marker }: OrderedMarker, precision: number): string {
  return precision <= LONGEST_Z ? cursorPosition.slice(0, precision) : encode(marker.position, precision);
}

/** Markers grouped by their cells of this precision, in the order of the geohashes. */
export function cellsOfMarkers(markers: Iterable<OrderedMarker>, precision: number): Cell[] {
  const cells = new Map<string, Cell>();
  for (const found of markers) {
    const geohash = cellOf(found, precision);
    const sums = addSums(cells.get(geohash) ?? NO_SUMS, sumsOf(found.marker.position));
    cells.set(geohash, { geohash, ...sums });
  }
  return [...cells.values()].sort(byGeohash);
}

/** The area widened to whole cells. The parts may overlap, which does not matter for reading them. */
function widen(area: Area, precision: number): Area {
  const width = 360 / 2 ** lngBits(precision);
  const height = 180 / 2 ** latBits(precision);
  return {
    bounds: area.bounds,
    parts: area.parts.map(({ west, south, east, north }) => ({
      west: columnOf(west, precision) * width - 180,
      south: rowOf(south, precision) * height - 90,
      east: (columnOf(east, precision) + 1) * width - 180,
      north: (rowOf(north, precision) + 1) * height - 90,
    })),
  };
}

/**
 * The cells of one precision (1 to 12) that overlap an area and have markers, with full counts: read as they are stored
 * up to length 5, counted from all their markers beyond, or if there is a filter. Throws
 * LIMIT_EXCEEDED naming `field` if that exceeds the budget of a field.
 */
export async function occupiedCells(
  context: MapContext,
  {
    field,
    collection,
    area,
    precision,
    filter,
  }: {
    readonly field: string;
    readonly collection: Collection;
    readonly area: Area;
    readonly precision: number;
    readonly filter?: MarkerFilter | undefined;
  },
): Promise<OccupiedCells> {
  const { loaders, keys, limits } = context;
  const budget = Budget.of(limits);
  const overlaps = remembered((geohash: string) => areaOverlapsCell(area, cellBounds(geohash)));
  if (precision > FINEST_STORED || filter) {
    const markers = await readAll(context, {
      field,
      collection,
      cover: coverForPlan(widen(area, precision)),
      budget,
      accept: (found) => overlaps(cellOf(found, precision)),
      filter,
      advice: filter
        ? 'use a smaller bounding box, or filter only by category and mapProperties'
        : `use a smaller bounding box, or a precision of ${FINEST_STORED} or less`,
    });
    return { cells: cellsOfMarkers(markers, precision), markers };
  }
  const plan = planBlocks(area, precision);
  const blocks = await loaders.blocks.load({ scope: keys.scope(collection), plan, budget });
  const cells: Cell[] = [];
  await context.turn();
  await eachInTurns(blocks ?? [], context.turn, (block) => {
    for (const cell of cellsOfBlock(block)) if (overlaps(cell.geohash)) cells.push(cell);
  });
  if (!blocks || cells.length > limits.itemsPerField) {
    throw tooMuch(field, limits, 'use a smaller bounding box or a lower precision');
  }
  await context.turn();
  return { cells: cells.sort(byGeohash), plan };
}

/** The same, but with the finest stored cells if there are too many markers to count finer ones from. */
export async function occupiedCellsOrCoarser(
  context: MapContext,
  question: Parameters<typeof occupiedCells>[1],
): Promise<OccupiedCells & { readonly precision: number }> {
  const { precision, filter } = question;
  try {
    return { ...(await occupiedCells(context, question)), precision };
  } catch (error) {
    const coarser = precision > FINEST_STORED && !filter;
    if (!coarser || !(error instanceof CellportError) || error.code !== 'LIMIT_EXCEEDED') throw error;
    return { ...(await occupiedCells(context, { ...question, precision: FINEST_STORED })), precision: FINEST_STORED };
  }
}

function remembered(test: (geohash: string) => boolean): (geohash: string) => boolean {
  const known = new Map<string, boolean>();
  return (geohash) => {
    const before = known.get(geohash);
    if (before !== undefined) return before;
    const now = test(geohash);
    known.set(geohash, now);
    return now;
  };
}
