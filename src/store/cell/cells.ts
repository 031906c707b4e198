import { type CellSums, isZero } from '../../geo/cell-sums.js';
import { GEOHASH_ALPHABET } from '../../geo/geohash.js';
import type { Keyspace } from '../../keys/keyspace.js';
import { type CellBlock, PLACE_CHILD } from '../../model/cell.js';
import type { Item } from '../database.js';

const CHILDREN = [PLACE_CHILD, ...Array.from(GEOHASH_ALPHABET)];

/**
 * The children of a block, from its item: `n`, `x` and `y` followed by a child's last character are the child's count
 * and sums; the child of a place has a bare `n`. Children without values, or with only zeros, are omitted.
 */
export function childrenOfItem(item: Item): Map<string, CellSums> {
  const children = new Map<string, CellSums>();
  for (const child of CHILDREN) {
    const sums = {
      count: number(item[`n${child}`]),
      sumLng: number(item[`x${child}`]),
      sumLat: number(item[`y${child}`]),
    };
    if (!isZero(sums)) children.set(child, sums);
  }
  return children;
}

/** The children with markers: others may have sums, which later records of the stream subtract. */
export function counted(children: ReadonlyMap<string, CellSums>): Map<string, CellSums> {
  return new Map([...children].filter(([, { count }]) => count !== 0));
}

/** The block in an item; `b` is its batch. Undefined if the item's key is not that of a block. */
export function blockFromItem(keys: Keyspace, item: Item): CellBlock | undefined {
  const { pk, sk, b } = item;
  const parent = typeof pk === 'string' && typeof sk === 'string' ? keys.parseCell({ pk, sk })?.geohash : undefined;
  if (parent === undefined) return undefined;
  return { parent, batch: number(b), children: counted(childrenOfItem(item)) };
}

const number = (value: unknown) => (typeof value === 'number' ? value : 0);
