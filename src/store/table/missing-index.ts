import { UpdateTableCommand } from '@aws-sdk/client-dynamodb';

import type { Database } from '../database.js';
import { failureOf, isFailure } from '../request/failures.js';
import { indexAddition } from './table-definitions.js';
import { describeTable, waitForTable } from './tables.js';

/** Additions under way in this process, by endpoint-bound client, so that concurrent queries wait for the same one. */
const underWay = new WeakMap<Database, Promise<void>>();

/** Whether a Query failed because its index does not exist, or is still being filled. */
export function lacksIndex({ indexesOnDemand }: Database, index: string | undefined, error: unknown): boolean {
  if (!indexesOnDemand || index === undefined || !isFailure(error, 'ValidationException')) return false;
  return /does not have the specified index|backfilling/.test(failureOf(error).message ?? '');
}

async function add(database: Database, index: string): Promise<void> {
  const { client, tables } = database;
  const existing = await describeTable(database, tables.entities);
  const names = (existing?.GlobalSecondaryIndexes ?? []).map(({ IndexName = '' }) => IndexName);
  if (!names.includes(index)) {
    try {
      await client.send(new UpdateTableCommand(indexAddition(tables, index, names)));
    } catch (error) {
      // Another process adds one at the same time.
      const other = isFailure(error, 'ResourceInUseException') || isFailure(error, 'LimitExceededException');
      if (!other) throw error;
    }
  }
  await waitForTable(database, tables.entities, 'ACTIVE');
}

/** Adds an index to the entities table, unless it exists, and waits until it holds all items. */
export async function addIndex(database: Database, index: string): Promise<void> {
  const before = underWay.get(database) ?? Promise.resolve();
  const adding = before.catch(() => undefined).then(() => add(database, index));
  underWay.set(database, adding);
  await adding;
}
