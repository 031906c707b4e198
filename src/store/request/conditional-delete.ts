import { BatchExecuteStatementCommand, type BatchExecuteStatementCommandInput } from '@aws-sdk/lib-dynamodb';

import { CellportError } from '../../errors.js';
import { backOff } from './backoff.js';
import { chunks, mapConcurrently } from './concurrency.js';
import type { Database, Item } from '../database.js';
import { mapFailure, throttled } from './failures.js';
import type { Call } from './meter.js';

/** DynamoDB's own limit of statements in one BatchExecuteStatement. */
const STATEMENTS_IN_A_BATCH = 25;
const BATCHES_AT_A_TIME = 4;
/** With the pauses of `backOff`, about a minute in which nothing at all is taken. */
const FRUITLESS_TRIES = 60;

/** Said of an item that is not there any more, or has another life: what was to be deleted is gone. */
const GONE = new Set(['ConditionalCheckFailed', 'ResourceNotFound']);

/** What tells an item from another one that stood under its key: of a marker its own life, of a reading its marker's. */
export const LIFE_ATTRIBUTES = ['life', 'of'] as const;

/** The BatchExecuteStatement that deletes at most 25 items of the entities table, each if it still has the life it had. */
export function deleteStatements(table: string, items: readonly Item[]): BatchExecuteStatementCommandInput {
  return {
    Statements: items.map((item) => {
      const known = LIFE_ATTRIBUTES.filter((name) => item[name] !== undefined);
      const same = LIFE_ATTRIBUTES.map((name) => (known.includes(name) ? `"${name}" = ?` : `"${name}" IS MISSING`));
      const statement = `DELETE FROM "${table}" WHERE ${['pk = ?', 'sk = ?', ...same].join(' AND ')}`;
      return { Statement: statement, Parameters: [item['pk'], item['sk'], ...known.map((name) => item[name])] };
    }),
  };
}

async function deleteBatch(database: Database, items: readonly Item[], call: Call): Promise<void> {
  const { client, tables } = database;
  const { meter, signal } = call;
  let left = items;
  for (let fruitless = 0; ;) {
    signal?.throwIfAborted();
    const before = left.length;
    let failure: unknown;
    try {
      const { Responses = [], ConsumedCapacity = [] } = await client.send(
        new BatchExecuteStatementCommand({
          ...deleteStatements(tables.entities, left),
          ReturnConsumedCapacity: 'TOTAL',
        }),
        signal === undefined ? {} : { abortSignal: signal },
      );
      meter.writes += before;
      meter.writeUnits += ConsumedCapacity.reduce((sum, { CapacityUnits = 0 }) => sum + CapacityUnits, 0);
      left = left.filter((_, index) => {
        const code = Responses[index]?.Error?.Code;
        return Responses[index] === undefined || (code !== undefined && !GONE.has(code));
      });
      if (left.length === 0) return;
    } catch (error) {
      failure = signal?.aborted === true ? signal.reason : mapFailure(error);
      if (!(failure instanceof CellportError) || signal?.aborted === true) throw failure;
    }
    fruitless = left.length < before ? 0 : fruitless + 1;
    if (fruitless >= FRUITLESS_TRIES) throw failure ?? throttled();
    await backOff(fruitless, signal);
  }
}

/**
 * Deletes items of the entities table, each by its key and only if it still has the life it was read with (`LIFE_ATTRIBUTES`), so that what
 * was made anew under the same key stays. May be repeated. What is throttled is tried again for about a minute.
 */
export async function deleteInBulk(database: Database, items: readonly Item[], call: Call): Promise<void> {
  await mapConcurrently(chunks(items, STATEMENTS_IN_A_BATCH), BATCHES_AT_A_TIME, (batch) =>
    deleteBatch(database, batch, call),
  );
}
