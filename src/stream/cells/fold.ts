import { addSums, isZero, NO_SUMS, type CellSums } from '../../geo/cell-sums.js';
import { PLACE_CHILD, placeOfParent, placeParent, type CellChanges } from '../../model/cell.js';
import type { Contribution } from '../change.js';

type SumsByName = Map<string, CellSums>;
type Blocks = ReadonlyMap<string, ReadonlyMap<string, CellSums>>;

function addTo(sums: SumsByName, name: string, more: CellSums): void {
  sums.set(name, addSums(sums.get(name) ?? NO_SUMS, more));
}

/** Blocks of all lengths from the sums of the finest cells. */
function cellBlocks(finest: SumsByName): Blocks {
  const blocks = new Map<string, Map<string, CellSums>>();
  let level = finest;
  while (level.size > 0) {
    const above: SumsByName = new Map();
    for (const [cell, sums] of level) {
      if (cell === '' || isZero(sums)) continue;
      const parent = cell.slice(0, -1);
      const children = blocks.get(parent);
      const child = cell.slice(-1);
      if (children === undefined) blocks.set(parent, new Map([[child, sums]]));
      else children.set(child, sums);
      addTo(above, parent, sums);
    }
    level = above;
  }
  return blocks;
}

/** The blocks of these places and of all places that contain them. */
function placeBlocks(places: SumsByName): Blocks {
  const sums: SumsByName = new Map();
  for (const [parent, sum] of places) {
    if (isZero(sum)) continue;
    const place = placeOfParent(parent) ?? [];
    for (let names = 1; names <= place.length; names += 1) addTo(sums, placeParent(place.slice(0, names)), sum);
  }
  const changed = [...sums].filter(([, sum]) => !isZero(sum));
  return new Map(changed.map(([parent, sum]) => [parent, new Map([[PLACE_CHILD, sum]])]));
}

interface ScopeSums {
  /** Sums by finest cell. */
  readonly cells: SumsByName;
  /** Sums by the place of markers, in the form of the parents of blocks. */
  readonly places: SumsByName;
}

/**
 * Adds up contributions, in any order, and keeps only their sums, so that a batch may have any number of records.
 */
export class CellFold {
  readonly #scopes = new Map<string, ScopeSums>();

  add(scope: string, { cell, sums: { count, sumLng, sumLat }, place }: Contribution, sign: 1 | -1): void {
    let sums = this.#scopes.get(scope);
    if (sums === undefined) this.#scopes.set(scope, (sums = { cells: new Map(), places: new Map() }));
    addTo(sums.cells, cell, { count: sign * count, sumLng: sign * sumLng, sumLat: sign * sumLat });
    if (place.length > 0) addTo(sums.places, placeParent(place), { ...NO_SUMS, count: sign * count });
  }

  /** The number of finest cells and places touched, which limits the memory and the writes of the batch. */
  get size(): number {
    return [...this.#scopes.values()].reduce((total, { cells, places }) => total + cells.size + places.size, 0);
  }

  /** The net changes of all blocks, without those that cancel out. */
  changes(): CellChanges {
    const all = [...this.#scopes].map(
      ([scope, { cells, places }]) => [scope, new Map([...cellBlocks(cells), ...placeBlocks(places)])] as const,
    );
    return new Map(all.filter(([, blocks]) => blocks.size > 0));
  }
}
