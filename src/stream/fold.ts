import type { Figures } from '../model/cell.js';
import type { Contribution } from './change.js';

/** Net changes of the children of each block: scope -> parent -> child's last character -> what is added. */
export type CellChanges = ReadonlyMap<string, ReadonlyMap<string, ReadonlyMap<string, Figures>>>;

interface Sum {
  count: number;
  sumLng: number;
  sumLat: number;
}

type Sums = Map<string, Sum>;

/** Adds up contributions, of which only their sum is kept, so that a batch may have any number of records. */
export interface Fold {
  add(scope: string, contribution: Contribution, sign: 1 | -1): void;
  /** How many cells have been touched, which bounds the memory and the writes of the batch. */
  cells(): number;
  /** The changes of all blocks. What has come to nothing is left out. */
  changes(): CellChanges;
}

const isZero = ({ count, sumLng, sumLat }: Sum) => count === 0 && sumLng === 0 && sumLat === 0;

function addTo(sums: Sums, cell: string, { count, sumLng, sumLat }: Sum): void {
  const sum = sums.get(cell);
  if (sum === undefined) {
    sums.set(cell, { count, sumLng, sumLat });
    return;
  }
  sum.count += count;
  sum.sumLng += sumLng;
  sum.sumLat += sumLat;
}

/** Blocks of all lengths from the sums of the longest cells. */
function blocksOf(leaves: Sums): ReadonlyMap<string, ReadonlyMap<string, Figures>> {
  const blocks = new Map<string, Map<string, Figures>>();
  let level = leaves;
  while (level.size > 0) {
    const above: Sums = new Map();
    for (const [cell, sum] of level) {
      if (cell === '' || isZero(sum)) continue;
      const parent = cell.slice(0, -1);
      const children = blocks.get(parent);
      const child = cell.slice(-1);
      if (children === undefined) blocks.set(parent, new Map([[child, sum]]));
      else children.set(child, sum);
      addTo(above, parent, sum);
    }
    level = above;
  }
  return blocks;
}

/** An empty fold. The order in which contributions are added does not matter. */
export function createFold(): Fold {
  const scopes = new Map<string, Sums>();
  let cells = 0;
  return {
    add(scope, { cell, lng, lat }, sign) {
      let leaves = scopes.get(scope);
      if (leaves === undefined) scopes.set(scope, (leaves = new Map()));
      const before = leaves.size;
      addTo(leaves, cell, { count: sign, sumLng: sign * lng, sumLat: sign * lat });
      cells += leaves.size - before;
    },
    cells: () => cells,
    changes() {
      const all = [...scopes].map(([scope, leaves]) => [scope, blocksOf(leaves)] as const);
      return new Map(all.filter(([, blocks]) => blocks.size > 0));
    },
  };
}
