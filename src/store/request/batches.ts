import type { BatchExecuteStatementCommandInput } from '@aws-sdk/lib-dynamodb';
import pLimit from 'p-limit';

import type { Key } from '../../keys/document-id.js';
import { REQUEST_LIMITS } from '../../model/dynamodb-limits.js';
import { retry, type RetryOptions } from '../../retry.js';
import type { Call, Item } from '../database.js';
import { isFailure, isTransient } from './failures.js';
import { itemBytes } from './item-size.js';
import { BACKGROUND_RETRIES, chunks, mapConcurrently, processAll } from './pacing.js';
import { send } from './send.js';

const GETS_AT_A_TIME = 8;
/** Maximum number of consecutive calls that return nothing before the batch counts as throttled. */
const ATTEMPTS = 8;

export interface BatchGetOptions {
  readonly consistent?: boolean | undefined;
}

const keyText = (pk: unknown, sk: unknown) => `${String(pk)}\n${String(sk)}`;

async function getBatch(
  call: Call,
  table: string,
  keys: readonly Key[],
  { consistent = false }: BatchGetOptions,
): Promise<Item[]> {
  const found: Item[] = [];
  async function read(left: readonly Key[]): Promise<readonly Key[]> {
    const wanted = { Keys: left.map(({ pk, sk }) => ({ pk, sk })), ...(consistent ? { ConsistentRead: true } : {}) };
    const request = { RequestItems: { [table]: wanted } };
    const { Responses, UnprocessedKeys } = await send(call, 'batchGet', request);
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
  call: Call,
  table: string,
  keys: readonly Key[],
  options: BatchGetOptions = {},
): Promise<(Item | undefined)[]> {
  const unique = [...new Map(keys.map((key) => [keyText(key.pk, key.sk), key])).values()];
  const found = await mapConcurrently(chunks(unique, REQUEST_LIMITS.batchGet), GETS_AT_A_TIME, (batch) =>
    getBatch(call, table, batch, options),
  );
  const byName = new Map(found.flat().map((item) => [keyText(item['pk'], item['sk']), item]));
  return keys.map((key) => byName.get(keyText(key.pk, key.sk)));
}

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

async function putTogether(call: Call, table: string, items: readonly Item[], options: BulkOptions): Promise<void> {
  const request = { TransactItems: items.map((item) => ({ Put: { TableName: table, Item: { ...item } } })) };
  const { retryable, ...retries } = retriesFor(options, call);
  await retry(() => send(call, 'transactWrite', request), {
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

async function putBatch(call: Call, table: string, items: readonly Item[], options: BulkOptions): Promise<void> {
  async function put(left: readonly Item[]): Promise<readonly Item[]> {
    const puts = left.map((item) => ({ PutRequest: { Item: { ...item } } }));
    const { UnprocessedItems } = await send(call, 'batchWrite', { RequestItems: { [table]: puts } });
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
  call: Call,
  table: string,
  options: BulkOptions = {},
): (items: readonly Item[]) => Promise<void> {
  const together = call.db.waitsForDisk;
  const atATime = together ? TRANSACTIONS_AT_A_TIME : PUTS_AT_A_TIME;
  const put = together ? putTogether : putBatch;
  const inLane = pLimit(atATime);
  return async (items) => {
    const unique = [...new Map(items.map((item) => [`${String(item['pk'])}\n${String(item['sk'])}`, item])).values()];
    const parts = together ? transactionPieces(unique) : chunks(unique, REQUEST_LIMITS.batchWrite);
    await mapConcurrently(parts, atATime, (part) => inLane(() => put(call, table, part, options)));
  };
}

/** Puts items once, like a `bulkWriter`. */
export function putInBulk(call: Call, table: string, items: readonly Item[], options: BulkOptions = {}): Promise<void> {
  return bulkWriter(call, table, options)(items);
}

/**
 * Deletes items of one table, whether they exist or not. Retries what DynamoDB throttles or leaves unprocessed, for about two
 * minutes without any progress, before it throws THROTTLED or UNAVAILABLE.
 */
export async function deleteInBulk(call: Call, table: string, keys: readonly Key[]): Promise<void> {
  async function deleteSome(left: readonly Key[]): Promise<readonly Key[]> {
    const deletions = left.map(({ pk, sk }) => ({ DeleteRequest: { Key: { pk, sk } } }));
    const { UnprocessedItems } = await send(call, 'batchWrite', { RequestItems: { [table]: deletions } });
    return (UnprocessedItems?.[table] ?? []).map(({ DeleteRequest }) => DeleteRequest?.Key as unknown as Key);
  }
  const retries = { ...BACKGROUND_RETRIES, signal: call.signal };
  await mapConcurrently(chunks(keys, REQUEST_LIMITS.batchWrite), DELETIONS_AT_A_TIME, (some) =>
    processAll(some, deleteSome, retries),
  );
}

/** With the default pauses, about a minute in which DynamoDB deletes nothing. */
const RETRIES = { attempts: 60, retryable: isTransient } satisfies RetryOptions;

/** Errors for an item that no longer exists or is of another incarnation: the item to delete is gone. */
const GONE = new Set(['ConditionalCheckFailed', 'ResourceNotFound']);

/** Attributes with incarnations: a marker's own, and that of a reading's marker. */
export const INCARNATION_ATTRIBUTES = ['life', 'of'] as const;

/**
 * The BatchExecuteStatement that deletes at most 25 items of a table, each only in the incarnation that was
 * read.
 */
export function deleteStatements(table: string, items: readonly Item[]): BatchExecuteStatementCommandInput {
  return {
    Statements: items.map((item) => {
      const known = INCARNATION_ATTRIBUTES.filter((name) => item[name] !== undefined);
      const same = INCARNATION_ATTRIBUTES.map((name) =>
        known.includes(name) ? `"${name}" = ?` : `"${name}" IS MISSING`,
      );
      const statement = `DELETE FROM "${table}" WHERE ${['pk = ?', 'sk = ?', ...same].join(' AND ')}`;
      return { Statement: statement, Parameters: [item['pk'], item['sk'], ...known.map((name) => item[name])] };
    }),
  };
}

async function deleteBatch(call: Call, table: string, items: readonly Item[]): Promise<void> {
  async function remove(left: readonly Item[]): Promise<readonly Item[]> {
    const request = deleteStatements(table, left);
    const { Responses = [] } = await send(call, 'batchExecute', request);
    return left.filter((_, index) => {
      const code = Responses[index]?.Error?.Code;
      return Responses[index] === undefined || (code !== undefined && !GONE.has(code));
    });
  }
  await processAll(items, remove, { ...RETRIES, signal: call.signal });
}

/**
 * Deletes items of a table, by default that of entities, by key, each only in the incarnation that was read (`INCARNATION_ATTRIBUTES`), so
 * that items created later under the same key stay. May be repeated. Retries throttled deletes for about a minute.
 */
export async function deleteReadItems(
  call: Call,
  items: readonly Item[],
  table: string = call.db.tables.entities,
): Promise<void> {
  await mapConcurrently(chunks(items, REQUEST_LIMITS.batchExecute), DELETIONS_AT_A_TIME, (batch) =>
    deleteBatch(call, table, batch),
  );
}
