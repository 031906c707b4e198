import { isDeepStrictEqual } from 'node:util';
import type { PutCommandInput } from '@aws-sdk/lib-dynamodb';

import type { Key } from '../../keys/document-id.js';
import type { Database, Item } from '../database.js';
import { isFailure, mayHaveBeenApplied, outcomeUnknown } from './failures.js';
import type { Call } from './meter.js';
import { send } from './send.js';
import { transactOnce } from './transact.js';
import { asStored } from './wire.js';

/** The PutItem of an item that must not exist yet. */
export function putIfAbsentRequest(table: string, item: Item): PutCommandInput {
  return { TableName: table, Item: { ...item }, ConditionExpression: 'attribute_not_exists(pk)' };
}

/** By how much the clocks of two servers may differ. */
const CLOCKS_DIFFER_MS = 5_000;

/** Whether an item was there before another one was made. */
const isOlder = (found: Item | undefined, made: Item): boolean =>
  Date.parse(String(found?.['createdAt'])) + CLOCKS_DIFFER_MS < Date.parse(String(made['createdAt']));

/**
 * Puts an item that must not exist yet, with one conditional write; returns false if its key is taken. Also returns
 * true if an attempt was applied and its response lost. Throws UNAVAILABLE if that may be and the item is another one.
 */
export async function putIfAbsent(database: Database, table: string, item: Item, call: Call): Promise<boolean> {
  try {
    await send(database, 'put', putIfAbsentRequest(table, item), call);
    return true;
  } catch (error) {
    if (!isFailure(error, 'ConditionalCheckFailedException')) throw error;
    call.meter.writes += 1;
    if (!mayHaveBeenApplied(error)) return false;
    const Key = { pk: item['pk'], sk: item['sk'] };
    const { Item: found } = await send(database, 'get', { TableName: table, Key, ConsistentRead: true }, call);
    // Others may have changed it since.
    const isOwn =
      found?.['life'] === undefined ? isDeepStrictEqual(found, asStored(item)) : found['life'] === item['life'];
    if (isOwn) return true;
    if (isOlder(found, item)) return false;
    throw outcomeUnknown(error);
  }
}

/**
 * Replaces version `item.version - 1` of an item; the first version is 1. Returns false if another write came first,
 * which may have been this one with its response lost.
 */
export async function putVersion(
  database: Database,
  table: string,
  item: Item & { readonly version: number },
  call: Call,
): Promise<boolean> {
  const { version } = item;
  const condition = {
    ConditionExpression: '#version = :before',
    ExpressionAttributeNames: { '#version': 'version' },
    ExpressionAttributeValues: { ':before': version - 1 },
  };
  const first = putIfAbsentRequest(table, item);
  try {
    await send(database, 'put', version === 1 ? first : { ...first, ...condition }, call);
    return true;
  } catch (error) {
    if (isFailure(error, 'ConditionalCheckFailedException')) return false;
    throw error;
  }
}

/** Puts items that must not exist yet in one transaction; returns false, having put none, if one of their keys is taken. */
export function putTogetherIfAbsent(
  database: Database,
  table: string,
  items: readonly Item[],
  call: Call,
): Promise<boolean> {
  const puts = items.map((item) => ({ Put: putIfAbsentRequest(table, item) }));
  return transactOnce(database, puts, call);
}

/** Why DynamoDB refuses a statement of `replaceStatement`: the item has changed. */
export const REFUSALS: ReadonlySet<string> = new Set(['ConditionalCheckFailed', 'DuplicateItem']);

/**
 * The statement that sets attributes of an item, and removes others, if its attribute `b` is still `seen`; or that
 * inserts it, if `seen` is undefined and it does not exist yet.
 */
export function replaceStatement(
  table: string,
  { pk, sk }: Key,
  attributes: Item,
  seen: number | undefined,
  removed: readonly string[] = [],
) {
  const values = Object.values(attributes);
  if (seen === undefined) {
    const names = ['pk', 'sk', ...Object.keys(attributes)].map((name) => `'${name}': ?`);
    return { Statement: `INSERT INTO "${table}" VALUE {${names.join(', ')}}`, Parameters: [pk, sk, ...values] };
  }
  const clauses = [
    ...Object.keys(attributes).map((name) => `SET "${name}" = ?`),
    ...removed.map((name) => `REMOVE "${name}"`),
  ];
  const Statement = `UPDATE "${table}" ${clauses.join(' ')} WHERE pk = ? AND sk = ? AND b = ?`;
  return { Statement, Parameters: [...values, pk, sk, seen] };
}
