import { type CellSums, isZero } from '../../geo/cell-sums.js';
import { GEOHASH_ALPHABET } from '../../geo/geohash.js';
import type { Keyspace } from '../../keys/keyspace.js';
import { type CellBlock, PLACE_CHILD } from '../../model/cell.js';
import { type BatchGetOptions, batchGet } from '../request/batch-get.js';
import type { Database, Item } from '../database.js';
import type { Call } from '../request/meter.js';

const CHILDREN = [PLACE_CHILD, ...Array.from(GEOHASH_ALPHABET)];

/**
 * The children of a block in its item: `n`, `x` and `y` followed by a child's last character are the child's count and sums;
 * the child of a place has the bare `n`. Children without values, or with zeros only, are omitted.
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

/** The block in an item; `b` is its batch. Undefined if the item does not have a block's key. */
export function blockFromItem(keys: Keyspace, item: Item): CellBlock | undefined {
  const { pk, sk, b } = item;
  const parent = typeof pk === 'string' && typeof sk === 'string' ? keys.parseCell({ pk, sk })?.geohash : undefined;
  if (parent === undefined) return undefined;
  const children = new Map([...childrenOfItem(item)].filter(([, { count }]) => count !== 0));
  return { parent, batch: number(b), children };
}

const number = (value: unknown) => (typeof value === 'number' ? value : 0);

/** Blocks of one collection in the order of their parents; one that was never written is empty, with batch 0. */
export async function getBlocks(
  database: Database,
  scope: string,
  parents: readonly string[],
  call: Call,
  options: BatchGetOptions = {},
): Promise<CellBlock[]> {
  const { keys, tables } = database;
  const items = await batchGet(
    database,
    tables.derived,
    parents.map((parent) => keys.cell(scope, parent)),
    call,
    options,
  );
  return parents.map((parent, index) => {
    const item = items[index];
    const block = item === undefined ? undefined : blockFromItem(keys, item);
    return block ?? { parent, batch: 0, children: new Map<string, CellSums>() };
  });
}
