import type { BatchGetCommandInput } from '@aws-sdk/lib-dynamodb';

import type { Key } from '../../keys/document-id.js';
import { backOff } from './backoff.js';
import { chunks, mapConcurrently } from './concurrency.js';
import type { Database, Item } from '../database.js';
import { throttled } from './failures.js';
import type { Call } from './meter.js';
import { send } from './send.js';

/** DynamoDB's own limit of keys in one BatchGetItem. */
const KEYS_IN_A_BATCH = 100;
const BATCHES_AT_A_TIME = 8;
/** How often in a row nothing at all may come back before the batch counts as throttled. */
const FRUITLESS_TRIES = 8;

export interface BatchGetOptions {
  readonly consistent?: boolean | undefined;
}

/** The BatchGetItem of some keys of one table. */
export function batchGetRequest(
  table: string,
  keys: readonly Key[],
  { consistent = false }: BatchGetOptions = {},
): BatchGetCommandInput {
  return {
    RequestItems: {
      [table]: { Keys: keys.map(({ pk, sk }) => ({ pk, sk })), ...(consistent ? { ConsistentRead: true } : {}) },
    },
  };
}

const nameOf = (pk: unknown, sk: unknown) => `${String(pk)}\n${String(sk)}`;

async function getBatch(
  database: Database,
  table: string,
  keys: readonly Key[],
  call: Call,
  options: BatchGetOptions,
): Promise<Item[]> {
  const found: Item[] = [];
  let request = batchGetRequest(table, keys, options);
  for (let fruitless = 0; ;) {
    const { Responses, UnprocessedKeys } = await send(database, 'batchGet', request, call);
    found.push(...(Responses?.[table] ?? []));
    const left = UnprocessedKeys?.[table]?.Keys?.length ?? 0;
    if (left === 0 || UnprocessedKeys === undefined) return found;
    // Less than it was is progress: answers are cut at 16 MB, which is no throttling.
    fruitless = left < (request.RequestItems?.[table]?.Keys?.length ?? 0) ? 0 : fruitless + 1;
    if (fruitless >= FRUITLESS_TRIES) throw throttled();
    request = { RequestItems: UnprocessedKeys };
    await backOff(fruitless, call.signal);
  }
}

/**
 * Items of one table by key, in the order of the keys; undefined where there is none. The same key may stand in the list
 * more than once and is read once. What DynamoDB leaves unprocessed is asked for again, with jitter; THROTTLED when
 * nothing comes any more.
 */
export async function batchGet(
  database: Database,
  table: string,
  keys: readonly Key[],
  call: Call,
  options: BatchGetOptions = {},
): Promise<(Item | undefined)[]> {
  const unique = [...new Map(keys.map((key) => [nameOf(key.pk, key.sk), key])).values()];
  const found = await mapConcurrently(chunks(unique, KEYS_IN_A_BATCH), BATCHES_AT_A_TIME, (batch) =>
    getBatch(database, table, batch, call, options),
  );
  const byName = new Map(found.flat().map((item) => [nameOf(item['pk'], item['sk']), item]));
  return keys.map((key) => byName.get(nameOf(key.pk, key.sk)));
}
