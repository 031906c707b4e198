import type { Cell } from '../../geo/cell-sums.js';
import type { Area } from '../../geo/bounds.js';
import type { Budget } from '../../loaders/budget.js';
import type { ZRange } from '../../geo/ranges.js';
import { type CellBlock, FINEST_STORED } from '../../model/cell.js';
import type { Collection } from '../../model/collection.js';
import { type BlockPlan, planBlocks, planBlocksUnder } from '../../plan/blocks.js';
import type { KnownCounts } from '../../plan/markers.js';
import type { MapContext } from '../context.js';

/** The cells that a block answers for. */
export function cellsOfBlock({ parent, children }: CellBlock): Cell[] {
  return Array.from(children, ([character, sums]) => ({ geohash: parent + character, ...sums }));
}

export const byGeohash = (a: Cell, b: Cell) => (a.geohash < b.geohash ? -1 : 1);

/** What counts for planning may take: more would cost more than it saves. */
const COUNT_RANGES = 8;
const COUNT_BLOCKS = 4_096;

/**
 * Cells of this length show empty areas nearly as well as finer ones, and all 1,024 blocks of them stay in
 * the cache: once they are cached, planning reads nothing.
 */
const COARSE = 3;
/** Coarse blocks are read this many at a time, one cell of length 1, so that a neighbourhood takes one Query ever. */
const COARSE_RUN = 32;

export interface CountsQuestion {
  readonly area: Area;
  /** Geohash length of the finest cells worth looking at. */
  readonly precision: number;
  /** Whether finer counts are worth a few Query calls, given the coarse ones. */
  readonly open: (counts: KnownCounts) => boolean;
  /** Most Query calls that coarse counts, and then finer ones, may take each; by default what suits a viewport. */
  readonly most?: number | undefined;
  readonly budget: Budget;
}

const spanOf = ({ ranges }: BlockPlan) => ranges.reduce((sum, { from, to }) => sum + to - from, 0);

/** The finest plan of blocks, of cells of at most `precision`, within the given limits of ranges and blocks. */
export function blocksWithin(area: Area, precision: number, ranges: number, blocks: number): BlockPlan {
  for (let length = Math.min(precision, FINEST_STORED); length > 1; length--) {
    const plan = planBlocks(area, length);
    if (plan.ranges.length <= ranges && spanOf(plan) <= blocks) return plan;
  }
  return planBlocks(area, 1);
}

/** The same plan with its ranges widened to whole runs of blocks. */
function inRuns({ length, ranges }: BlockPlan, run: number): BlockPlan {
  const wide: { from: number; to: number }[] = [];
  for (const range of ranges) {
    const from = Math.floor(range.from / run) * run;
    const to = Math.min(32 ** length, Math.ceil(range.to / run) * run);
    const last: ZRange | undefined = wide.at(-1);
    if (last && from <= last.to) wide.splice(-1, 1, { from: last.from, to: Math.max(last.to, to) });
    else wide.push({ from, to });
  }
  return { length, ranges: wide };
}

/** Counts derived from some blocks, keyed by the first of them: while the blocks are cached, the counts are reused. */
const madeOf = new WeakMap<
  CellBlock,
  { readonly blocks: readonly CellBlock[]; readonly cells: KnownCounts['cells'] }
>();

function cellsOf(blocks: readonly CellBlock[]): KnownCounts['cells'] {
  const [first] = blocks;
  const made = first && madeOf.get(first);
  if (made?.blocks.length === blocks.length && made.blocks.every((block, index) => block === blocks[index])) {
    return made.cells;
  }
  const cells = new Map<string, number>();
  for (const { parent, children } of blocks) {
    for (const [character, { count }] of children) cells.set(parent + character, count);
  }
  if (first) madeOf.set(first, { blocks, cells });
  return cells;
}

/** The counts in these blocks, which are all there are under a plan. */
const countsOf = (blocks: readonly CellBlock[], plan: BlockPlan): KnownCounts => ({
  precision: plan.length + 1,
  cells: cellsOf(blocks),
  blocks: plan,
});

/**
 * The counts of an area; undefined if they cannot be trusted, or cost too much to read: in cells of the requested precision
 * if these are cached, otherwise in coarse cells, and then in finer ones if the coarse ones leave something `open`.
 */
export async function knownCounts(
  context: MapContext,
  collection: Collection,
  { area, precision, open, most = COUNT_RANGES, budget }: CountsQuestion,
): Promise<KnownCounts | undefined> {
  if (!context.countsTrusted()) return undefined;
  const { blocks } = context.loaders;
  const scope = context.keys.scope(collection);
  const finePlan = blocksWithin(area, precision, most, COUNT_BLOCKS);
  // Cells wider than partitions would not show which partitions are empty.
  const coarse = Math.max(COARSE, collection.prefixLength);
  const hasFiner = finePlan.length + 1 > coarse;
  const plan = hasFiner ? blocksWithin(area, coarse, most, COUNT_BLOCKS) : finePlan;
  const wide = plan.length + 1 === COARSE ? inRuns(plan, COARSE_RUN) : plan;
  // Half of the budget is reserved for the markers.
  const each = Math.min(most, Math.floor(budget.calls / 4));
  const read = await blocks.load({ scope, plan: wide, budget: budget.upTo(each) });
  const counts = read && countsOf(read, wide);

  const cached = hasFiner ? blocks.cached(scope, finePlan) : undefined;
  const finer = hasFiner && !cached && (!counts || open(counts));
  // Even if nothing is left to be read: callers of one tick resume in one tick, so that their markers are read together.
  const rest = finer ? finePlan : { ...finePlan, ranges: [] };
  const found = await blocks.load({ scope, plan: rest, budget: budget.upTo(each) });
  const fine = finer ? found : cached;
  return fine ? countsOf(fine, finePlan) : counts;
}

/** The counts of disjoint cells of any lengths, which are all there are under a plan. */
export function countsOfCells(cells: readonly Cell[], plan: BlockPlan): KnownCounts {
  return {
    precision: plan.length + 1,
    cells: new Map(cells.map(({ geohash, count }) => [geohash, count])),
    blocks: plan,
  };
}

/** Most ranges in which the blocks under some parents are read. */
const RANGES_UNDER = 12;

/** The blocks under these parents (of one length, in order); undefined if the budget does not pay for them. */
export async function blocksUnder(
  { loaders, keys }: MapContext,
  collection: Collection,
  parents: readonly string[],
  budget: Budget,
): Promise<readonly CellBlock[] | undefined> {
  if (parents.length === 0) return [];
  const plan = planBlocksUnder(parents, RANGES_UNDER);
  const asked = new Set(parents);
  const blocks = await loaders.blocks.load({ scope: keys.scope(collection), plan, budget });
  return blocks?.filter(({ parent }) => asked.has(parent));
}
