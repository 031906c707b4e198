import { addSums, isZero, NO_SUMS, type CellSums } from '../geo/cell-sums.js';
import { PLACE_CHILD, placeOfParent, placeParent, SIZE_CHILD, SIZE_NAME } from './cell.js';

/** Sums by finest stored cell, counts by place in the form of the parents of blocks, and the size as `SIZE_NAME`. */
export type SumsByName = ReadonlyMap<string, CellSums>;

/** Net changes to the children of blocks, of cells and of places: parent -> child -> amounts to add. */
export type BlockChanges = ReadonlyMap<string, SumsByName>;

/** Those of each collection, by scope. */
export type CellChanges = ReadonlyMap<string, BlockChanges>;

/** Adds amounts to those that have a name. */
export function addTo(sums: Map<string, CellSums>, name: string, more: CellSums): void {
  sums.set(name, addSums(sums.get(name) ?? NO_SUMS, more));
}

/** Those of blocks of all lengths. */
function cellBlocks(finest: SumsByName): BlockChanges {
  const blocks = new Map<string, Map<string, CellSums>>();
  let level = finest;
  while (level.size > 0) {
    const above = new Map<string, CellSums>();
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

/** The changes of all blocks from those of the finest cells and of places, without those that cancel out. */
export function changedBlocks(finest: SumsByName): BlockChanges {
  const cells = new Map<string, CellSums>();
  const places = new Map<string, CellSums>();
  for (const [name, sums] of finest) {
    if (isZero(sums)) continue;
    const place = placeOfParent(name);
    if (name === SIZE_NAME) cells.set(SIZE_CHILD, sums);
    else if (place === undefined) cells.set(name, sums);
    else for (let names = 1; names <= place.length; names++) addTo(places, placeParent(place.slice(0, names)), sums);
  }
  const changed = [...places].filter(([, sums]) => !isZero(sums));
  return new Map([
    ...cellBlocks(cells),
    ...changed.map(([parent, sums]) => [parent, new Map([[PLACE_CHILD, sums]])] as const),
  ]);
}
