import type { UpdateCommandInput } from '@aws-sdk/lib-dynamodb';

import { GEOHASH_ALPHABET } from '../geo/geohash.js';
import type { Keyspace } from '../keys/keyspace.js';
import type { CellBlock, Figures } from '../model/cell.js';
import { type BatchGetOptions, batchGet } from './batch-get.js';
import type { Database, Item } from './database.js';
import { isFailure } from './failures.js';
import type { Call } from './meter.js';
import { send } from './send.js';

/**
 * The block that an item holds: `b` is its batch; `n`, `x` and `y` followed by a child's last character are the child's
 * count and sums. Children at zero are left out. Undefined where the item is not under a block's key.
 */
export function blockFromItem(keys: Keyspace, item: Item): CellBlock | undefined {
  const { pk, sk, b } = item;
  const parent = typeof pk === 'string' && typeof sk === 'string' ? keys.parseCell({ pk, sk })?.geohash : undefined;
  if (parent === undefined) return undefined;
  const children = new Map<string, Figures>();
  for (const child of GEOHASH_ALPHABET) {
    const count = number(item[`n${child}`]);
    if (count === 0) continue;
    children.set(child, { count, sumLng: number(item[`x${child}`]), sumLat: number(item[`y${child}`]) });
  }
  return { parent, batch: number(b), children };
}

const number = (value: unknown) => (typeof value === 'number' ? value : 0);

/** The UpdateItem that adds a batch's net changes to one block. */
export function applyBlockRequest(
  { keys, tables }: Pick<Database, 'keys' | 'tables'>,
  scope: string,
  parent: string,
  batch: number,
  deltas: ReadonlyMap<string, Figures>,
): UpdateCommandInput {
  const added = [...deltas].flatMap(([child, { count, sumLng, sumLat }]) =>
    Object.entries({ [`n${child}`]: count, [`x${child}`]: sumLng, [`y${child}`]: sumLat }),
  );
  const changed = added.filter(([, delta]) => delta !== 0);
  const add = changed.length === 0 ? '' : ` ADD ${changed.map(([name]) => `${name} :${name}`).join(', ')}`;
  return {
    TableName: tables.derived,
    Key: keys.cell(scope, parent),
    UpdateExpression: `SET b = :b${add}`,
    // A block remembers the last batch that changed it, so a batch counts once however often it is applied.
    ConditionExpression: 'attribute_not_exists(b) OR b < :b',
    ExpressionAttributeValues: {
      ':b': batch,
      ...Object.fromEntries(changed.map(([name, delta]) => [`:${name}`, delta])),
    },
  };
}

/**
 * Adds a batch's net changes to the block of one parent cell in one conditional write; `already` where this batch or a
 * later one stands in it. `deltas` is by the child's last character. May be repeated after any failure.
 */
export async function applyBlock(
  database: Database,
  scope: string,
  parent: string,
  batch: number,
  deltas: ReadonlyMap<string, Figures>,
  call: Call,
): Promise<'applied' | 'already'> {
  try {
    await send(database, 'update', applyBlockRequest(database, scope, parent, batch, deltas), call);
    return 'applied';
  } catch (error) {
    if (isFailure(error, 'ConditionalCheckFailedException')) return 'already';
    throw error;
  }
}

/** Blocks of one collection by their parents, in that order; one that was never written is empty, of batch 0. */
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
    return block ?? { parent, batch: 0, children: new Map<string, Figures>() };
  });
}
