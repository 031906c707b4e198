import {
  CreateTableCommand,
  DeleteTableCommand,
  DescribeTableCommand,
  DescribeTimeToLiveCommand,
  type TableDescription,
  UpdateTimeToLiveCommand,
} from '@aws-sdk/client-dynamodb';

import { systemClock } from '../../clock.js';
import { CellportError } from '../../errors.js';
import type { Database } from '../database.js';
import { isFailure, mapFailure } from '../request/failures.js';
import { withinTime } from '../request/within-time.js';
import { type TableDefinition, tableDefinitions } from './table-definitions.js';

const POLL_MS = 50;
const ACTIVE_WITHIN_MS = 120_000;

/** A table as DynamoDB describes it; `description` is undefined if it does not exist. */
export interface TableState {
  readonly name: string;
  readonly description: TableDescription | undefined;
  /** Attribute by which items expire; null if none is set. */
  readonly ttl: string | null;
}

/** A table as DynamoDB describes it; undefined if it does not exist. */
export async function describeTable(database: Database, name: string): Promise<TableDescription | undefined> {
  try {
    const command = new DescribeTableCommand({ TableName: name });
    return (await withinTime(database, (options) => database.client.send(command, options))).Table;
  } catch (error) {
    if (isFailure(error, 'ResourceNotFoundException')) return undefined;
    throw mapFailure(error);
  }
}

/** The attribute by which a table's items expire; null if none is set or the table does not exist. */
async function describeTtl(database: Database, name: string): Promise<string | null> {
  try {
    const command = new DescribeTimeToLiveCommand({ TableName: name });
    const answer = await withinTime(database, (options) => database.client.send(command, options));
    const ttl = answer.TimeToLiveDescription;
    const on = ttl?.TimeToLiveStatus === 'ENABLED' || ttl?.TimeToLiveStatus === 'ENABLING';
    return on ? (ttl.AttributeName ?? null) : null;
  } catch (error) {
    if (isFailure(error, 'ResourceNotFoundException')) return null;
    throw mapFailure(error);
  }
}

async function describeState(database: Database, name: string): Promise<TableState> {
  const [description, ttl] = await Promise.all([describeTable(database, name), describeTtl(database, name)]);
  return { name, description, ttl };
}

/** Tables as DynamoDB currently describes them, by default both. */
export function describeTables(
  database: Database,
  definitions: readonly TableDefinition[] = tableDefinitions(database.tables),
): Promise<readonly TableState[]> {
  return Promise.all(definitions.map(({ request }) => describeState(database, request.TableName ?? '')));
}

/** Whether a table exists and, with its indexes, can be used. */
export function isActive({ description: table }: Pick<TableState, 'description'>): boolean {
  const indexes = table?.GlobalSecondaryIndexes ?? [];
  return (
    table?.TableStatus === 'ACTIVE' && indexes.every(({ IndexStatus: status }) => (status ?? 'ACTIVE') === 'ACTIVE')
  );
}

export async function waitFor(database: Database, name: string, wanted: 'ACTIVE' | 'GONE'): Promise<void> {
  const deadline = systemClock.now() + ACTIVE_WITHIN_MS;
  for (;;) {
    const table = await describeTable(database, name);
    if (wanted === 'GONE' ? table === undefined : isActive({ description: table })) return;
    if (systemClock.now() > deadline) {
      throw new CellportError('UNAVAILABLE', `table ${name} is still ${table?.TableStatus ?? 'missing'} after 120 s`);
    }
    await systemClock.sleep(POLL_MS);
  }
}

/** Creates a table, unless it exists, and waits until it is active. Returns whether it was missing. */
export async function ensureTable(database: Database, { request, ttl }: TableDefinition): Promise<boolean> {
  const name = request.TableName ?? '';
  const found = await describeState(database, name);
  let created = false;
  if (found.description === undefined) {
    try {
      await withinTime(database, (options) => database.client.send(new CreateTableCommand(request), options));
      created = true;
    } catch (error) {
      // Another process that is starting at the same time was faster.
      if (!isFailure(error, 'ResourceInUseException')) throw mapFailure(error);
    }
  }
  if (!isActive(found)) await waitFor(database, name, 'ACTIVE');
  // Set even if the table existed: the process that created it may have been killed before this step.
  if (ttl !== null && found.ttl === null) {
    try {
      const specification = { AttributeName: ttl, Enabled: true };
      const command = new UpdateTimeToLiveCommand({ TableName: name, TimeToLiveSpecification: specification });
      await withinTime(database, (options) => database.client.send(command, options));
    } catch (error) {
      if (!isFailure(error, 'ValidationException')) throw mapFailure(error);
    }
  }
  return created;
}

/**
 * Creates missing tables and waits until they are active; returns the names of those it created. Existing tables are
 * not changed: `checkTables` compares them with the schema.
 */
export async function ensureTables(database: Database): Promise<readonly string[]> {
  const created = await Promise.all(
    tableDefinitions(database.tables).map(async (definition) =>
      (await ensureTable(database, definition)) ? [definition.request.TableName ?? ''] : [],
    ),
  );
  return created.flat();
}

/** Deletes a table with all its items and waits until it is gone; returns whether it existed. */
export async function deleteTable(database: Database, name: string): Promise<boolean> {
  try {
    const command = new DeleteTableCommand({ TableName: name });
    await withinTime(database, (options) => database.client.send(command, options));
  } catch (error) {
    if (isFailure(error, 'ResourceNotFoundException')) return false;
    throw mapFailure(error);
  }
  await waitFor(database, name, 'GONE');
  return true;
}
