import type { BatchWriteCommandInput } from '@aws-sdk/lib-dynamodb';

import { CellportError } from '../../errors.js';
import { backOff } from './backoff.js';
import { chunks, lanes, mapConcurrently } from './concurrency.js';
import type { Database, Item } from '../database.js';
import { isFailure, throttled } from './failures.js';
import { itemBytes } from './item-size.js';
import type { Call } from './meter.js';
import { send } from './send.js';

/** DynamoDB's own limit of items in one BatchWriteItem. */
const ITEMS_IN_A_BATCH = 25;
const BATCHES_AT_A_TIME = 12;
/** Below DynamoDB's limits of 100 items and 4 MB. */
const ITEMS_IN_A_TRANSACTION = 100;
const BYTES_IN_A_TRANSACTION = 3_500_000;
const TRANSACTIONS_AT_A_TIME = 1;
/** With the pauses of `backOff`, about two minutes in which nothing at all is taken. */
const FRUITLESS_TRIES = 120;
/** The same for somebody who waits for an answer: about three seconds. */
const FRUITLESS_TRIES_IN_HASTE = 8;

export interface BulkOptions {
  /**
   * Whether to wait for a table that is busy or away, as a load in the background does. Else only what was left
   * unprocessed is tried again: the SDK has retried what failed.
   */
  readonly patient?: boolean | undefined;
}

/** The BatchWriteItem that puts some items into one table. */
export function batchPutRequest(table: string, items: readonly Item[]): BatchWriteCommandInput {
  return { RequestItems: { [table]: items.map((item) => ({ PutRequest: { Item: { ...item } } })) } };
}

/** Puts items in one transaction. Such puts may be repeated at will, so what passes is waited out as in `putBatch`. */
async function putTogether(
  database: Database,
  table: string,
  items: readonly Item[],
  call: Call,
  { patient = true }: BulkOptions,
): Promise<void> {
  const request = { TransactItems: items.map((item) => ({ Put: { TableName: table, Item: { ...item } } })) };
  for (let fruitless = 0; ; fruitless += 1) {
    try {
      await send(database, 'transactWrite', request, call);
      return;
    } catch (error) {
      const conflicting = isFailure(error, 'TransactionCanceledException');
      const passing = conflicting || (patient && error instanceof CellportError);
      const tries = patient ? FRUITLESS_TRIES : FRUITLESS_TRIES_IN_HASTE;
      if (!passing || call.signal?.aborted === true || fruitless >= tries) throw error;
      await backOff(fruitless, call.signal);
    }
  }
}

/** Items in pieces that one transaction takes. */
export function transactionPieces(items: readonly Item[]): Item[][] {
  const made: Item[][] = [];
  let bytes = Infinity;
  for (const item of items) {
    const size = itemBytes(item);
    const last = made.at(-1);
    if (last === undefined || last.length >= ITEMS_IN_A_TRANSACTION || bytes + size > BYTES_IN_A_TRANSACTION) {
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
  { patient = true }: BulkOptions,
): Promise<void> {
  let request = batchPutRequest(table, items);
  let left = items.length;
  for (let fruitless = 0; ;) {
    const before = left;
    let failure: unknown;
    try {
      const { UnprocessedItems } = await send(database, 'batchWrite', request, call);
      left = UnprocessedItems?.[table]?.length ?? 0;
      if (left === 0 || UnprocessedItems === undefined) return;
      request = { RequestItems: UnprocessedItems };
    } catch (error) {
      // Puts of whole items may be repeated at will, so a load waits for a table that is busy or away for a moment.
      if (!patient || !(error instanceof CellportError) || call.signal?.aborted === true) throw error;
      failure = error;
    }
    fruitless = left < before ? 0 : fruitless + 1;
    if (fruitless >= (patient ? FRUITLESS_TRIES : FRUITLESS_TRIES_IN_HASTE)) throw failure ?? throttled();
    await backOff(fruitless, call.signal);
  }
}

/**
 * A function that puts items into one table, over whatever stands under their keys; of several with one key in one call
 * the last one wins. For loads in the background, unless told to be less patient: what DynamoDB throttles or leaves
 * unprocessed is tried again, with jitter, for about two minutes without any progress before THROTTLED or UNAVAILABLE is
 * thrown. No order among the items is kept. It may be called again before it is through: all its calls together have no
 * more requests under way than one.
 */
export function bulkWriter(
  database: Database,
  table: string,
  call: Call,
  options: BulkOptions = {},
): (items: readonly Item[]) => Promise<void> {
  const together = database.waitsForDisk;
  const atATime = together ? TRANSACTIONS_AT_A_TIME : BATCHES_AT_A_TIME;
  const put = together ? putTogether : putBatch;
  const inLane = lanes(atATime);
  return async (items) => {
    const unique = [...new Map(items.map((item) => [`${String(item['pk'])}\n${String(item['sk'])}`, item])).values()];
    const parts = together ? transactionPieces(unique) : chunks(unique, ITEMS_IN_A_BATCH);
    await mapConcurrently(parts, atATime, (part) => inLane(() => put(database, table, part, call, options)));
  };
}

/** Puts items once, as a `bulkWriter` does. */
export function putInBulk(
  database: Database,
  table: string,
  items: readonly Item[],
  call: Call,
  options: BulkOptions = {},
): Promise<void> {
  return bulkWriter(database, table, call, options)(items);
}
