import TinyQueue from 'tinyqueue';

import type { Bounds } from '../geo/bounds.js';
import type { Cell } from '../geo/cell-sums.js';
import { cellBounds, cellRange } from '../geo/geohash.js';
import { Budget } from '../loaders/budget.js';
import type { CellBlock } from '../model/cell.js';
import type { Collection } from '../model/collection.js';
import { isCounted } from '../model/grant.js';
import type { MapContext } from '../read/context.js';
import type { MarkerFilterInput } from '../read/filter.js';
import { readAll } from '../read/find-markers.js';
import { cellsOfBlock } from './cells/blocks.js';
import { cellsOfMarkers } from './cells/cells.js';
import { readConnection, type ConnectionArguments, type MarkerConnection } from './connection.js';

/** A connection of the collection's markers that match the filter. */
export function collectionMarkers(
  context: MapContext,
  collection: Collection,
  input: ConnectionArguments,
  filter?: MarkerFilterInput | null,
): Promise<MarkerConnection> {
  return readConnection(context, { collection, of: ['collection'], ...everything, filter }, input);
}

const everything = { cover: [cellRange('')], accept: () => true };

/** All markers of a collection that the principal sees. Throws LIMIT_EXCEEDED naming `field`. */
const seenMarkers = (context: MapContext, collection: Collection, field: string) =>
  readAll(context, { collection, ...everything, budget: Budget.of(context.limits) }, field, 'ask for smaller parts');

/** The number of markers in a block of cells. */
export const markersIn = ({ children }: CellBlock): number =>
  [...children.values()].reduce((sum, { count }) => sum + count, 0);

/** The number of markers in a collection, according to its cells. */
export async function collectionCount(context: MapContext, collection: Collection): Promise<number> {
  const { loaders } = context;
  if (!isCounted(collection)) return (await seenMarkers(context, collection, 'count')).length;
  return markersIn(await loaders.blocks.one(collection, ''));
}

const PRECISION = 4;

/** The non-empty cells inside a cell, or on the whole globe for ''. */
type Children = (geohash: string) => Promise<readonly Cell[]>;

async function childrenIn(context: MapContext, collection: Collection): Promise<Children> {
  const { loaders } = context;
  if (isCounted(collection)) return async (geohash) => cellsOfBlock(await loaders.blocks.one(collection, geohash));
  const markers = await seenMarkers(context, collection, 'bounds');
  const inside = (geohash: string) => markers.filter((marker) => marker.geohash.startsWith(geohash));
  return async (geohash) => cellsOfMarkers(inside(geohash), geohash.length + 1);
}

/**
 * The bounding box of a collection's non-empty cells of length 4; null if there are none. It crosses the antimeridian
 * (west > east) if only that makes it less than half the globe wide.
 */
export async function collectionBounds(context: MapContext, collection: Collection): Promise<Bounds | null> {
  const children = await childrenIn(context, collection);
  const everywhere = () => true;
  const least = (edge: keyof Bounds, of: (bounds: Bounds) => boolean = everywhere) =>
    extreme(children, (bounds) => bounds[edge], of);
  const most = async (edge: keyof Bounds, of: (bounds: Bounds) => boolean = everywhere) => {
    const negative = await extreme(children, (bounds) => -bounds[edge], of);
    return negative === undefined ? undefined : -negative + 0;
  };
  const [west, south, east, north] = await Promise.all([least('west'), least('south'), most('east'), most('north')]);
  if (west === undefined || south === undefined || east === undefined || north === undefined) return null;
  const bounds = { west, south, east, north };
  if (east - west <= 180) return bounds;

  const gap = emptyMeridian(await children(''));
  if (gap === undefined) return bounds;
  const [easternmost, westernmost] = await Promise.all([
    most('east', (cell) => cell.east <= gap),
    least('west', (cell) => cell.west >= gap),
  ]);
  if (easternmost === undefined || westernmost === undefined || westernmost - easternmost < 180) return bounds;
  return { west: westernmost, south, east: easternmost, north };
}

/**
 * The smallest score of the non-empty cells of length 4 that `of` selects. A cell never scores less than its parent, so
 * cells with the smallest score are opened first, and most of the globe is never visited.
 */
async function extreme(
  children: Children,
  score: (bounds: Bounds) => number,
  of: (bounds: Bounds) => boolean,
): Promise<number | undefined> {
  // Of equal cells, take the longest, which is closest to the goal.
  const open = new TinyQueue([{ geohash: '', score: -Infinity }], (a, b) =>
    a.score === b.score ? b.geohash.length - a.geohash.length : a.score - b.score,
  );
  for (;;) {
    const next = open.pop();
    if (!next) return undefined;
    if (next.geohash.length === PRECISION) return next.score;
    for (const { geohash } of await children(next.geohash)) {
      const bounds = cellBounds(geohash);
      if (of(bounds)) open.push({ geohash, score: score(bounds) });
    }
  }
}

/**
 * A meridian in the middle of the widest run of empty 45-degree columns between non-empty ones, if that run may be 180
 * degrees wide.
 */
function emptyMeridian(cells: readonly Cell[]): number | undefined {
  const columns = [...new Set(cells.map(({ geohash }) => cellBounds(geohash).west))].sort((a, b) => a - b);
  let widest = 0;
  let middle: number | undefined;
  columns.forEach((west, index) => {
    const before = columns[index - 1];
    const empty = before === undefined ? 0 : west - (before + 45);
    if (empty <= widest || before === undefined) return;
    widest = empty;
    middle = before + 45 + empty / 2;
  });
  // The columns next to the run add less than 45 degrees each.
  return widest > 90 ? middle : undefined;
}
