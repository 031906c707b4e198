import { isZero, NO_SUMS, type CellSums } from '../../geo/cell-sums.js';
import type { Keyspace } from '../../keys/keyspace.js';
import { cellBlock, PLACE_CHILD, placeOfParent, SIZE_CHILD, type CellBlock } from '../../model/cell.js';
import type { Item } from '../database.js';

/*
 * The sums of a block's children in one binary attribute: half the size of an attribute for each number, and a tenth of
 * the time to read. For each child its character, its count and its two sums, each number as six bits, a sign, and as
 * many groups of seven bits as it needs, least significant first.
 */

const MORE = 0x80;
const NEGATIVE = 0x40;

/** Numbers may have 53 bits, bitwise operators 32. */
function pushNumber(bytes: number[], value: number): void {
  const size = Math.abs(value);
  let rest = Math.floor(size / 64);
  bytes.push((size % 64) | (value < 0 ? NEGATIVE : 0) | (rest > 0 ? MORE : 0));
  while (rest > 0) {
    const group = rest % 128;
    rest = Math.floor(rest / 128);
    bytes.push(group | (rest > 0 ? MORE : 0));
  }
}

export function packSums(children: ReadonlyMap<string, CellSums>): Uint8Array {
  const bytes: number[] = [];
  for (const [child, { count, sumLng, sumLat }] of children) {
    bytes.push(child.charCodeAt(0));
    for (const value of [count, sumLng, sumLat]) pushNumber(bytes, value);
  }
  return Uint8Array.from(bytes);
}

export function unpackSums(bytes: Uint8Array): Map<string, CellSums> {
  const children = new Map<string, CellSums>();
  let at = 0;
  const next = () => bytes[at++] ?? 0;
  const nextNumber = () => {
    const first = next();
    let value = first & 63;
    let scale = 64;
    for (let byte = first; byte & MORE; scale *= 128) {
      byte = next();
      value += (byte & 127) * scale;
    }
    return first & NEGATIVE ? -value : value;
  };
  while (at < bytes.length) {
    const child = String.fromCharCode(next());
    children.set(child, { count: nextNumber(), sumLng: nextNumber(), sumLat: nextNumber() });
  }
  return children;
}

/** The attribute with the sums of a block's children. A place has only a count, `n`. */
const PACKED = 'c';

/** The attributes that store the children of the block under a parent. */
export function attributesOfBlock(
  parent: string,
  children: ReadonlyMap<string, CellSums>,
): Readonly<Record<string, unknown>> {
  if (placeOfParent(parent) !== undefined) return { n: children.get(PLACE_CHILD)?.count ?? 0 };
  if (parent !== '') return { [PACKED]: packSums(children) };
  const { count: bytes, sumLng: measured } = children.get(SIZE_CHILD) ?? NO_SUMS;
  // Not packed: earlier releases would take it for a cell.
  return { [PACKED]: packSums(new Map([...children].filter(([child]) => child !== SIZE_CHILD))), bytes, measured };
}

/** The children of a block, from its item. Children whose numbers are all zero are omitted. */
export function childrenOfItem(item: Item): Map<string, CellSums> {
  const packed = item[PACKED];
  const children = packed instanceof Uint8Array ? unpackSums(packed) : new Map<string, CellSums>();
  if (typeof item['n'] === 'number') children.set(PLACE_CHILD, { ...NO_SUMS, count: item['n'] });
  const { bytes, measured } = item;
  if (bytes !== undefined) children.set(SIZE_CHILD, { ...NO_SUMS, count: number(bytes), sumLng: number(measured) });
  for (const [child, sums] of children) if (isZero(sums)) children.delete(child);
  return children;
}

/** The block in an item; `b` is its batch. Undefined if the item's key is not that of a block. */
export function blockFromItem(keys: Keyspace, item: Item): CellBlock | undefined {
  const { pk, sk, b } = item;
  const parent = typeof pk === 'string' && typeof sk === 'string' ? keys.parseCell({ pk, sk })?.geohash : undefined;
  if (parent === undefined) return undefined;
  return cellBlock(parent, number(b), childrenOfItem(item));
}

const number = (value: unknown) => (typeof value === 'number' ? value : 0);
