import { type Area, areaContains, areaContainsCell, areaOverlapsCell } from '../geo/bounds.js';
import { LONGEST_Z, cellBounds } from '../geo/geohash.js';
import { coverArea } from '../geo/ranges.js';
import type { Cell } from '../model/cell.js';
import type { Collection } from '../model/collection.js';
import { type MapContext, requireCollection } from './context.js';
import { byGeohash, cellsOfBlock } from './occupied.js';
import { intersect } from './pieces.js';
import { readAll, tooMuch } from './read-all.js';
import { blocksUnder, cellRange, markerRuns } from './runs.js';
import { FINEST_STORED, blocksWithin } from './known-counts.js';
import { fixedSource } from './sources.js';
import type { Viewport } from './viewport.js';

const ADVICE = 'ask for a smaller rectangle, or for the cells of one';
/** Where to begin: few blocks, so that the whole area costs a handful of Query calls. */
const FIRST_RANGES = 8;
const FIRST_BLOCKS = 256;
/** Query calls that looking at cells may take, at the most levels there are. */
const SIFTING = 24;
/** So many markers on the edge are read rather than looked at through finer cells. */
const FEW = 100;
/** A cell of so many is worth the block under it. */
const WORTH_A_BLOCK = 12;
/** Into how many pieces the rim of an area is cut, so that less is read of the cells on it. */
const COVER = 1_024;

interface Sifted {
  /** Markers in cells that lie inside. */
  readonly inside: number;
  /** Cells that are cut by the edge. */
  readonly edge: readonly Cell[];
  /** All cells that were looked at and not opened. */
  readonly known: readonly Cell[];
}

/** Counts the cells inside by what is stored, opening those on the edge as long as that saves reading markers. */
async function sift(context: MapContext, collection: Collection, area: Area): Promise<Sifted | undefined> {
  const { loaders, keys, limits } = context;
  const plan = blocksWithin(area, FINEST_STORED, FIRST_RANGES, FIRST_BLOCKS);
  const scope = keys.scope(collection);
  const blocks = await loaders.blocks.load({ scope, plan, maxCalls: limits.rangesPerPage });
  if (!blocks) return undefined;
  let open = blocks.flatMap(cellsOfBlock);
  let inside = 0;
  const edge: Cell[] = [];
  const known: Cell[] = [];
  for (let precision = plan.length + 1; ; precision++) {
    const cut: Cell[] = [];
    for (const cell of open) {
      const bounds = cellBounds(cell.geohash);
      const within = areaContainsCell(area, bounds);
      if (within) inside += cell.count;
      if (!within && areaOverlapsCell(area, bounds)) cut.push(cell);
      else known.push(cell);
    }
    const worth = cut.filter(({ count }) => count >= WORTH_A_BLOCK).sort(byGeohash);
    const left = edge.concat(cut).reduce((sum, { count }) => sum + count, 0);
    const finer =
      precision < FINEST_STORED && left > FEW
        ? await blocksUnder(
            context,
            collection,
            worth.map(({ geohash }) => geohash),
          )
        : undefined;
    const closed = finer ? cut.filter(({ count }) => count < WORTH_A_BLOCK) : cut;
    edge.push(...closed);
    known.push(...closed);
    if (!finer) return { inside, edge, known };
    open = finer.flatMap(cellsOfBlock);
  }
}

/** How many markers are inside an area, its edges included. Throws LIMIT_EXCEEDED in the name of `field`. */
export async function countInside(
  context: MapContext,
  collection: Collection,
  area: Area,
  field: string,
): Promise<number> {
  const { rangesPerPage, itemsPerField } = context.limits;
  const sifted = await sift(context, collection, area);
  if (!sifted) throw tooMuch(field, rangesPerPage, itemsPerField, ADVICE);
  const { inside, edge, known } = sifted;
  if (edge.length === 0) return inside;
  const pieces = intersect(
    edge.map(cellRange).sort((a, b) => a.from - b.from),
    coverArea(area, LONGEST_Z, COVER),
  );
  const ranges = markerRuns(pieces, known, collection, Math.floor((rangesPerPage - SIFTING) / collection.writeShards));
  const onEdge = new Set(edge.map(({ geohash }) => geohash));
  const markers = await readAll(context, {
    field,
    collection,
    source: fixedSource(ranges, collection, 0),
    accept: ({ place, marker }) =>
      areaContains(area, marker.position) &&
      // Ranges reach across cells that lie inside, whose markers are counted already.
      Array.from({ length: FINEST_STORED }, (_, index) => place.slice(0, index + 1)).some((cell) => onEdge.has(cell)),
    advice: ADVICE,
  });
  return inside + markers.length;
}

/** How many markers are inside a viewport, its edges included; exact once the table's stream is read. */
export async function viewportCount(context: MapContext, viewport: Viewport, collectionKey: string): Promise<number> {
  const collection = await requireCollection(context, collectionKey);
  return countInside(context, collection, viewport.area, 'count');
}
