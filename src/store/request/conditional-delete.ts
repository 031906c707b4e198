import type { BatchExecuteStatementCommandInput } from '@aws-sdk/lib-dynamodb';

import { REQUEST_LIMITS } from '../../model/dynamodb-limits.js';
import type { RetryOptions } from '../../retry.js';
import type { Database, Item } from '../database.js';
import { chunks, mapConcurrently } from './concurrency.js';
import { isTransient } from './failures.js';
import type { Call } from './meter.js';
import { processAll } from './retries.js';
import { send } from './send.js';

const BATCHES_AT_A_TIME = 4;
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

async function deleteBatch(database: Database, table: string, items: readonly Item[], call: Call): Promise<void> {
  async function remove(left: readonly Item[]): Promise<readonly Item[]> {
    const request = deleteStatements(table, left);
    const { Responses = [] } = await send(database, 'batchExecute', request, call);
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
  database: Database,
  items: readonly Item[],
  call: Call,
  table: string = database.tables.entities,
): Promise<void> {
  await mapConcurrently(chunks(items, REQUEST_LIMITS.batchExecute), BATCHES_AT_A_TIME, (batch) =>
    deleteBatch(database, table, batch, call),
  );
}
