import type { BatchGetCommandInput } from '@aws-sdk/lib-dynamodb';

import type { Key } from '../../keys/document-id.js';
import { REQUEST_LIMITS } from '../../model/dynamodb-limits.js';
import type { Database, Item } from '../database.js';
import { chunks, mapConcurrently } from './concurrency.js';
import type { Call } from './meter.js';
import { processAll } from './retries.js';
import { send } from './send.js';

const BATCHES_AT_A_TIME = 8;
/** Maximum number of consecutive calls that return nothing before the batch counts as throttled. */
const ATTEMPTS = 8;

export interface BatchGetOptions {
  readonly consistent?: boolean | undefined;
}

/** The BatchGetItem of some keys of one table. */
function batchGetRequest(
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

const keyText = (pk: unknown, sk: unknown) => `${String(pk)}\n${String(sk)}`;

async function getBatch(
  database: Database,
  table: string,
  keys: readonly Key[],
  call: Call,
  options: BatchGetOptions,
): Promise<Item[]> {
  const found: Item[] = [];
  async function read(left: readonly Key[]): Promise<readonly Key[]> {
    const request = batchGetRequest(table, left, options);
    const { Responses, UnprocessedKeys } = await send(database, 'batchGet', request, call);
    found.push(...(Responses?.[table] ?? []));
    return (UnprocessedKeys?.[table]?.Keys ?? []) as unknown as readonly Key[];
  }
  await processAll(keys, read, { attempts: ATTEMPTS, signal: call.signal });
  return found;
}

/**
 * Reads items of one table by key, in the order of the keys; undefined for missing ones. A key that is listed more than
 * once is read once. Retries what DynamoDB leaves unprocessed; throws THROTTLED if nothing more is returned.
 */
export async function batchGet(
  database: Database,
  table: string,
  keys: readonly Key[],
  call: Call,
  options: BatchGetOptions = {},
): Promise<(Item | undefined)[]> {
  const unique = [...new Map(keys.map((key) => [keyText(key.pk, key.sk), key])).values()];
  const found = await mapConcurrently(chunks(unique, REQUEST_LIMITS.batchGet), BATCHES_AT_A_TIME, (batch) =>
    getBatch(database, table, batch, call, options),
  );
  const byName = new Map(found.flat().map((item) => [keyText(item['pk'], item['sk']), item]));
  return keys.map((key) => byName.get(keyText(key.pk, key.sk)));
}
