import { CreateTableCommand } from '@aws-sdk/client-dynamodb';

import { startEngine, type EngineAddress } from '../../src/engine/start.js';
import { createDatabase, type DatabaseOptions } from '../../src/store/create-database.js';
import type { Database } from '../../src/store/database.js';
import { isFailure } from '../../src/store/request/failures.js';
import { tableDefinitions } from '../../src/store/table/table-definitions.js';
import { ensureTables } from '../../src/store/table/tables.js';

/** Two empty tables in a new DynamoDB Local, in memory. */
export interface FreshTables {
  readonly engine: EngineAddress;
  readonly options: DatabaseOptions;
  readonly database: Database;
  readonly close: () => Promise<void>;
}

export interface TableOptions {
  /** Name of the entity table. */
  readonly table?: string;
  /** Whether the entity table has its stream; without it DynamoDB Local writes faster. */
  readonly stream?: boolean;
}

async function createWithoutStream({ tables, client }: Database): Promise<void> {
  for (const { request } of tableDefinitions(tables)) {
    const { StreamSpecification: _, ...rest } = request;
    await client.send(new CreateTableCommand(rest)).catch((error: unknown) => {
      // The engine is new, so an earlier attempt whose response was lost has created the table.
      if (!isFailure(error, 'ResourceInUseException')) throw error;
    });
  }
}

/**
 * Starts an engine with two empty tables. Engines are not reused: one that has had several streams writes five times
 * slower.
 */
export async function openFreshTables({ table = 'cellport', stream = true }: TableOptions = {}): Promise<FreshTables> {
  const running = await startEngine({ dataDir: null });
  const { endpoint, region, credentials } = running;
  const engine = { endpoint, region, credentials };
  const options: DatabaseOptions = {
    ...engine,
    tables: { entities: table, derived: `${table}-derived` },
    keyStyle: 'readable',
  };
  const database = createDatabase(options);
  const close = async (): Promise<void> => {
    database.client.destroy();
    await running.close();
  };
  try {
    await (stream ? ensureTables(database) : createWithoutStream(database));
  } catch (error) {
    await close();
    throw error;
  }
  return { engine, options, database, close };
}

/** Opens fresh tables, runs the work and closes them, even if the work fails. */
export async function withFreshTables<T>(
  work: (tables: FreshTables) => Promise<T>,
  options: TableOptions = {},
): Promise<T> {
  const tables = await openFreshTables(options);
  try {
    return await work(tables);
  } finally {
    await tables.close();
  }
}
