import { type Figures, PLACE_CHILD, placeOfParent, placeParent } from '../model/cell.js';
import type { Contribution } from './change.js';

/** Net changes of the children of each block, of cells and of places: scope -> parent -> child -> what is added. */
export type CellChanges = ReadonlyMap<string, ReadonlyMap<string, ReadonlyMap<string, Figures>>>;

interface Sum {
  count: number;
  sumLng: number;
  sumLat: number;
}

type Sums = Map<string, Sum>;
type Blocks = ReadonlyMap<string, ReadonlyMap<string, Figures>>;

/** Adds up contributions, of which only their sum is kept, so that a batch may have any number of records. */
export interface Fold {
  add(scope: string, contribution: Contribution, sign: 1 | -1): void;
  /** How many of the longest cells, and places, have been touched, which bounds the memory and the writes of the batch. */
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
function cellBlocks(leaves: Sums): Blocks {
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

/** The blocks of all places around these, and of these. */
function placeBlocks(places: Sums): Blocks {
  const sums: Sums = new Map();
  for (const [parent, sum] of places) {
    if (isZero(sum)) continue;
    const place = placeOfParent(parent) ?? [];
    for (let names = 1; names <= place.length; names += 1) addTo(sums, placeParent(place.slice(0, names)), sum);
  }
  const changed = [...sums].filter(([, sum]) => !isZero(sum));
  return new Map(changed.map(([parent, sum]) => [parent, new Map([[PLACE_CHILD, sum]])]));
}

interface ScopeSums {
  /** By the longest cells. */
  readonly cells: Sums;
  /** By where markers hang themselves, as the parents of blocks are written. */
  readonly places: Sums;
}

/** An empty fold. The order in which contributions are added does not matter. */
export function createFold(): Fold {
  const scopes = new Map<string, ScopeSums>();
  let touched = 0;
  return {
    add(scope, { cell, lng, lat, place }, sign) {
      let sums = scopes.get(scope);
      if (sums === undefined) scopes.set(scope, (sums = { cells: new Map(), places: new Map() }));
      const before = sums.cells.size + sums.places.size;
      addTo(sums.cells, cell, { count: sign, sumLng: sign * lng, sumLat: sign * lat });
      if (place.length > 0) addTo(sums.places, placeParent(place), { count: sign, sumLng: 0, sumLat: 0 });
      touched += sums.cells.size + sums.places.size - before;
    },
    cells: () => touched,
    changes() {
      const all = [...scopes].map(
        ([scope, { cells, places }]) => [scope, new Map([...cellBlocks(cells), ...placeBlocks(places)])] as const,
      );
      return new Map(all.filter(([, blocks]) => blocks.size > 0));
    },
  };
}
