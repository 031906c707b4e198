import {
  areaContains,
  areaContainsCell,
  areaOverlapsCell,
  type Area,
  type Bounds,
  type Point,
} from '../../geo/bounds.js';
import { markerBounds, type Cell } from '../../geo/cell-sums.js';
import { cellRange, coverArea, intersect, LONGEST_Z, type ZRange } from '../../geo/geohash.js';
import { Budget } from '../../loaders/budget.js';
import { FINEST_STORED, type CellBlock } from '../../model/cell.js';
import type { Collection } from '../../model/collection.js';
import { isCounted } from '../../model/grant.js';
import type { MapMarker } from '../../model/marker.js';
import type { BlockPlan } from '../../plan/blocks.js';
import { requireCollection, type MapContext } from '../../read/context.js';
import { readAll, tooMuch } from '../../read/find-markers.js';
import type { Viewport } from '../viewport.js';
import { blocksUnder, blocksWithin, cellsOfBlock } from './blocks.js';

const ADVICE = 'use a smaller bounding box, or query its cells';
/** The starting precision has few blocks, so that the whole area costs a handful of Query calls. */
const FIRST_RANGES = 8;
const FIRST_BLOCKS = 256;
/** A cell with at least this many markers is worth reading the block under it. */
const WORTH_A_BLOCK = 2;
/** Query calls reserved for the markers on the edge. */
const FOR_MARKERS = 32;
/** Number of pieces into which the rim of an area is cut, so that less of its cells is read. */
const COVER = 1_024;
/** Blocks of up to 32 cells that are looked at between two turns. */
const BLOCKS_IN_A_TURN = 8;

/** An area in which markers are counted. */
export interface Region {
  readonly area: Area;
  /** How it relates to a box, edges included. */
  relationTo(box: Bounds): 'inside' | 'cut' | 'outside';
  /** Whether it contains a point, edges included. */
  contains(point: Point): boolean;
  /** Z-order ranges that cover it. */
  readonly cover: readonly ZRange[];
  /** Blocks that cover it and are read for the same answer anyway: counting starts with them. */
  readonly blocks?: BlockPlan | undefined;
}

/** The region of an area; `blocks` are those of its cells that are read anyway. */
export const regionOf = (area: Area, blocks?: BlockPlan): Region => ({
  area,
  blocks,
  relationTo: (box) => (areaContainsCell(area, box) ? 'inside' : areaOverlapsCell(area, box) ? 'cut' : 'outside'),
  contains: (point) => areaContains(area, point),
  get cover() {
    return coverArea(area, LONGEST_Z, COVER);
  },
});

interface Tally {
  /** Number of markers known to be inside. */
  readonly inside: number;
  /** Cells that may have markers both inside and outside. */
  readonly edge: readonly Cell[];
}

/** Adds the stored counts of the cells inside, and opens cells on the edge as long as that saves reading markers. */
async function tally(
  context: MapContext,
  collection: Collection,
  region: Region,
  budget: Budget,
): Promise<Tally | undefined> {
  const { loaders } = context;
  const plan = region.blocks ?? blocksWithin(region.area, FINEST_STORED, FIRST_RANGES, FIRST_BLOCKS);
  const first = await loaders.blocks.load(collection, plan, budget);
  if (!first) return undefined;

  let blocks: readonly CellBlock[] = first;
  let inside = 0;
  const edge: Cell[] = [];
  for (let precision = plan.length + 1; ; precision++) {
    const cut: Cell[] = [];
    for (const [index, block] of blocks.entries()) {
      if (index % BLOCKS_IN_A_TURN === 0) await context.turn();
      for (const cell of cellsOfBlock(block)) {
        const relation = region.relationTo(markerBounds(cell.geohash, cell));
        if (relation === 'inside') inside += cell.count;
        if (relation === 'cut') cut.push(cell);
      }
    }
    const mayRead = precision < FINEST_STORED && budget.calls > FOR_MARKERS;
    const isWorth = ({ count }: Cell) => mayRead && count >= WORTH_A_BLOCK;
    const parents = cut.filter(isWorth).map(({ geohash }) => geohash);
    const read = await blocksUnder(context, collection, parents.sort(), budget);
    edge.push(...(read ? cut.filter((cell) => !isWorth(cell)) : cut));
    blocks = read ?? [];
    if (blocks.length === 0) return { inside, edge };
  }
}

/** The number of markers inside a region, edges included. Throws LIMIT_EXCEEDED naming `field`. */
export async function countInRegion(
  context: MapContext,
  collection: Collection,
  region: Region,
  field: string,
): Promise<number> {
  const budget = Budget.of(context.limits);
  if (!isCounted(collection)) {
    const all = { collection, cover: region.cover, budget, accept: (one: MapMarker) => region.contains(one.position) };
    return (await readAll(context, all, field, ADVICE)).length;
  }
  const tallied = await tally(context, collection, region, budget);
  if (!tallied) throw tooMuch(field, context.limits, ADVICE);
  const { inside, edge } = tallied;
  if (edge.length === 0) return inside;
  const onEdge = new Set(edge.map(({ geohash }) => geohash));
  const cover = intersect([...onEdge].sort().map(cellRange), region.cover);
  const accept = ({ geohash, position }: MapMarker) =>
    region.contains(position) &&
    // Ranges extend across cells inside, whose markers are already counted.
    Array.from({ length: FINEST_STORED }, (_, index) => geohash.slice(0, index + 1)).some((cell) => onEdge.has(cell));
  const markers = await readAll(context, { collection, cover, budget, accept }, field, ADVICE);
  return inside + markers.length;
}

/** The number of markers inside a viewport, edges included; exact once the table's stream has been read. */
export async function viewportCount(context: MapContext, viewport: Viewport, collectionKey: string): Promise<number> {
  const collection = await requireCollection(context, collectionKey);
  return countInRegion(context, collection, regionOf(viewport.area), 'count');
}
