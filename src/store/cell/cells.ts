import { type CellSums, NO_SUMS, isZero } from '../../geo/cell-sums.js';
import type { Keyspace } from '../../keys/keyspace.js';
import { type CellBlock, PLACE_CHILD, placeOfParent } from '../../model/cell.js';
import type { Item } from '../database.js';
import { packSums, unpackSums } from './packed-sums.js';

/** The attribute with the sums of a block's children. A place has only a count. */
const PACKED = 'c';
/** `n`, `x` and `y` followed by a child's last character add to its count and sums; a place has a bare `n`. */
const LOOSE = /^[nxy][0-9b-hjkmnp-z]?$/;
const SUM_OF = { n: 'count', x: 'sumLng', y: 'sumLat' } as const;

/** The attributes that store the children of the block under a parent. */
export function attributesOfBlock(
  parent: string,
  children: ReadonlyMap<string, CellSums>,
): Readonly<Record<string, unknown>> {
  const isPlace = placeOfParent(parent) !== undefined;
  return isPlace ? { n: children.get(PLACE_CHILD)?.count ?? 0 } : { [PACKED]: packSums(children) };
}

/**
 * Attributes that hold numbers apart from the packed ones: earlier releases wrote all sums like that, and an AWS Lambda
 * adds to them. Not the count of a place.
 */
export const looseAttributes = (item: Item): string[] =>
  Object.keys(item).filter((name) => name.length === 2 && LOOSE.test(name));

/** The children of a block, from its item. Children whose numbers are all zero are omitted. */
export function childrenOfItem(item: Item): Map<string, CellSums> {
  const packed = item[PACKED];
  const children = packed instanceof Uint8Array ? unpackSums(packed) : new Map<string, CellSums>();
  for (const name in item) {
    const value = item[name];
    if (!LOOSE.test(name) || typeof value !== 'number') continue;
    const child = name.slice(1);
    const sum = SUM_OF[name.charAt(0) as keyof typeof SUM_OF];
    const sums = children.get(child) ?? NO_SUMS;
    children.set(child, { ...sums, [sum]: sums[sum] + value });
  }
  for (const [child, sums] of children) if (isZero(sums)) children.delete(child);
  return children;
}

/** The children with markers: others may have sums, which later records of the stream subtract. */
export function counted(children: ReadonlyMap<string, CellSums>): ReadonlyMap<string, CellSums> {
  const some = [...children].filter(([, { count }]) => count !== 0);
  return some.length === children.size ? children : new Map(some);
}

/** The block in an item; `b` is its batch. Undefined if the item's key is not that of a block. */
export function blockFromItem(keys: Keyspace, item: Item): CellBlock | undefined {
  const { pk, sk, b } = item;
  const parent = typeof pk === 'string' && typeof sk === 'string' ? keys.parseCell({ pk, sk })?.geohash : undefined;
  if (parent === undefined) return undefined;
  return { parent, batch: number(b), children: counted(childrenOfItem(item)) };
}

const number = (value: unknown) => (typeof value === 'number' ? value : 0);
