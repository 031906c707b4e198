import { startEngine } from '../../src/engine/start.js';
import type { Collection } from '../../src/model/collection.js';
import { createCollection } from '../../src/store/collection/collections.js';
import { type Database, createDatabase } from '../../src/store/database.js';
import { newCall } from '../../src/store/request/meter.js';
import { ensureTables } from '../../src/store/table/tables.js';
import type { EngineAddress } from './keep-cells.js';

export interface FreshTables {
  readonly engine: EngineAddress;
  readonly database: Database;
  readonly collection: Collection;
  readonly now: string;
}

/**
 * Runs `work` on two empty tables with a collection in a new in-memory DynamoDB Local: one that has had several streams
 * writes five times more slowly.
 */
export async function withFreshTables<T>(work: (tables: FreshTables) => Promise<T>): Promise<T> {
  const running = await startEngine({ dataDir: null });
  const { endpoint, region, credentials } = running;
  const engine = { endpoint, region, credentials };
  const tables = { entities: 'cellport', derived: 'cellport-derived' };
  const database = createDatabase({ ...engine, tables, keyStyle: 'readable' });
  try {
    await ensureTables(database);
    const now = new Date().toISOString();
    const collection = await createCollection(database, { key: 'places', name: 'Places' }, now, newCall());
    return await work({ engine, database, collection, now });
  } finally {
    database.client.destroy();
    await running.close();
  }
}
