import type { BatchWriteCommandInput } from '@aws-sdk/lib-dynamodb';
import pLimit from 'p-limit';

import type { Key } from '../../keys/document-id.js';
import { REQUEST_LIMITS } from '../../model/dynamodb-limits.js';
import { retry, type RetryOptions } from '../../retry.js';
import type { Database, Item } from '../database.js';
import { chunks, mapConcurrently } from './concurrency.js';
import { isFailure } from './failures.js';
import { itemBytes } from './item-size.js';
import type { Call } from './meter.js';
import { BACKGROUND_RETRIES, processAll } from './retries.js';
import { send } from './send.js';

const PUTS_AT_A_TIME = 12;
const DELETIONS_AT_A_TIME = 4;
/** Below DynamoDB's limit of 4 MB. */
const BYTES_IN_A_TRANSACTION = 3_500_000;
/** The embedded engine parses one transaction while it writes another. */
const TRANSACTIONS_AT_A_TIME = 2;
/**
 * While a client waits for a response: about three seconds. Failed calls are not retried here, because the SDK has
 * already done so.
 */
const FOREGROUND_RETRIES = { attempts: 8, retryable: () => false } satisfies RetryOptions;

export interface BulkOptions {
  /**
   * Whether to wait for a table that throttles or is unavailable, as background work does (default). Otherwise only
   * items left unprocessed are retried, for a few seconds.
   */
  readonly patient?: boolean | undefined;
}

/** Puts of whole items are idempotent, so background work retries every transient failure. */
function retriesFor({ patient = true }: BulkOptions, { signal }: Call) {
  return { ...(patient ? BACKGROUND_RETRIES : FOREGROUND_RETRIES), signal };
}

/** The BatchWriteItem that puts some items into one table. */
function batchPutRequest(table: string, items: readonly Item[]): BatchWriteCommandInput {
  return { RequestItems: { [table]: items.map((item) => ({ PutRequest: { Item: { ...item } } })) } };
}

/** Puts items in one transaction. */
async function putTogether(
  database: Database,
  table: string,
  items: readonly Item[],
  call: Call,
  options: BulkOptions,
): Promise<void> {
  const request = { TransactItems: items.map((item) => ({ Put: { TableName: table, Item: { ...item } } })) };
  const { retryable, ...retries } = retriesFor(options, call);
  await retry(() => send(database, 'transactWrite', request, call), {
    ...retries,
    retryable: (error) => isFailure(error, 'TransactionCanceledException') || retryable(error),
  });
}

/** Splits items into pieces that fit into one transaction. */
export function transactionPieces(items: readonly Item[]): Item[][] {
  const made: Item[][] = [];
  let bytes = Infinity;
  for (const item of items) {
    const size = itemBytes(item);
    const last = made.at(-1);
    if (last === undefined || last.length >= REQUEST_LIMITS.transactWrite || bytes + size > BYTES_IN_A_TRANSACTION) {
      made.push([item]);
      bytes = size;
    } else {
      last.push(item);
      bytes += size;
    }
  }
  return made;
}

async function putBatch(
  database: Database,
  table: string,
  items: readonly Item[],
  call: Call,
  options: BulkOptions,
): Promise<void> {
  async function put(left: readonly Item[]): Promise<readonly Item[]> {
    const { UnprocessedItems } = await send(database, 'batchWrite', batchPutRequest(table, left), call);
    return (UnprocessedItems?.[table] ?? []).map(({ PutRequest }) => PutRequest?.Item ?? {});
  }
  await processAll(items, put, retriesFor(options, call));
}

/**
 * Returns a function that puts items into one table, replacing items with the same keys; of several with one key in one
 * call the last one wins. Retries what DynamoDB throttles or leaves unprocessed, by default for about two minutes
 * without any progress, before it throws THROTTLED or UNAVAILABLE. Items are written in no particular order. It may be
 * called again before it has finished: all its calls together have no more concurrent requests than one.
 */
export function bulkWriter(
  database: Database,
  table: string,
  call: Call,
  options: BulkOptions = {},
): (items: readonly Item[]) => Promise<void> {
  const together = database.waitsForDisk;
  const atATime = together ? TRANSACTIONS_AT_A_TIME : PUTS_AT_A_TIME;
  const put = together ? putTogether : putBatch;
  const inLane = pLimit(atATime);
  return async (items) => {
    const unique = [...new Map(items.map((item) => [`${String(item['pk'])}\n${String(item['sk'])}`, item])).values()];
    const parts = together ? transactionPieces(unique) : chunks(unique, REQUEST_LIMITS.batchWrite);
    await mapConcurrently(parts, atATime, (part) => inLane(() => put(database, table, part, call, options)));
  };
}

/** Puts items once, like a `bulkWriter`. */
export function putInBulk(
  database: Database,
  table: string,
  items: readonly Item[],
  call: Call,
  options: BulkOptions = {},
): Promise<void> {
  return bulkWriter(database, table, call, options)(items);
}

/**
 * Deletes items of one table, whether they exist or not. Retries what DynamoDB throttles or leaves unprocessed, for about two
 * minutes without any progress, before it throws THROTTLED or UNAVAILABLE.
 */
export async function deleteInBulk(database: Database, table: string, keys: readonly Key[], call: Call): Promise<void> {
  async function deleteSome(left: readonly Key[]): Promise<readonly Key[]> {
    const deletions = left.map(({ pk, sk }) => ({ DeleteRequest: { Key: { pk, sk } } }));
    const { UnprocessedItems } = await send(database, 'batchWrite', { RequestItems: { [table]: deletions } }, call);
    return (UnprocessedItems?.[table] ?? []).map(({ DeleteRequest }) => DeleteRequest?.Key as unknown as Key);
  }
  const retries = { ...BACKGROUND_RETRIES, signal: call.signal };
  await mapConcurrently(chunks(keys, REQUEST_LIMITS.batchWrite), DELETIONS_AT_A_TIME, (some) =>
    processAll(some, deleteSome, retries),
  );
}
