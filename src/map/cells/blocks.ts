import type { Area } from '../../geo/bounds.js';
import type { Cell } from '../../geo/cell-sums.js';
import type { Budget } from '../../loaders/budget.js';
import { FINEST_STORED, type CellBlock } from '../../model/cell.js';
import type { Collection } from '../../model/collection.js';
import { planBlocks, planBlocksUnder, type BlockPlan } from '../../plan/blocks.js';
import type { MapContext } from '../../read/context.js';

/** The cells that a block has the sums of. */
export function cellsOfBlock({ parent, children }: CellBlock): Cell[] {
  const cells: Cell[] = [];
  // Hundreds of blocks make a map: no iterator, and no spread.
  children.forEach(({ count, sumLng, sumLat }, character) => {
    cells.push({ geohash: parent + character, count, sumLng, sumLat });
  });
  return cells;
}

export const byGeohash = (a: Cell, b: Cell) => (a.geohash < b.geohash ? -1 : 1);

const spanOf = ({ ranges }: BlockPlan) => ranges.reduce((sum, { from, to }) => sum + to - from, 0);

/** The finest plan of blocks, for cells of at most `precision`, within the given limits of ranges and blocks. */
export function blocksWithin(area: Area, precision: number, ranges: number, blocks: number): BlockPlan {
  for (let length = Math.min(precision, FINEST_STORED); length > 1; length--) {
    const plan = planBlocks(area, length);
    if (plan.ranges.length <= ranges && spanOf(plan) <= blocks) return plan;
  }
  return planBlocks(area, 1);
}

/** Maximum number of ranges for reading the blocks under some parents. */
const RANGES_UNDER = 12;

/** The blocks under these parents (of one length, in order); undefined if the budget does not cover them. */
export async function blocksUnder(
  { loaders }: MapContext,
  collection: Collection,
  parents: readonly string[],
  budget: Budget,
): Promise<readonly CellBlock[] | undefined> {
  if (parents.length === 0) return [];
  const plan = planBlocksUnder(parents, RANGES_UNDER);
  const asked = new Set(parents);
  const blocks = await loaders.blocks.load(collection, plan, budget);
  return blocks?.filter(({ parent }) => asked.has(parent));
}
