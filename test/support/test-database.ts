import { randomUUID } from 'node:crypto';
import { afterAll } from 'vitest';

import { startEngine } from '../../src/engine/start.js';
import type { KeyStyle } from '../../src/keys/keyspace.js';
import { type Database, type DatabaseOptions, createDatabase } from '../../src/store/database.js';
import { ensureTables } from '../../src/store/tables.js';

// Each test file has a DynamoDB Local of its own: one process writes five times slower with every few tables that have
// had a stream, the deleted ones included.
const running = await startEngine({ dataDir: null });
afterAll(() => running.close());

/** How to reach the engine of this test file: for child processes, and for clients with other settings. */
export function engine() {
  const { endpoint, region, credentials } = running;
  return { endpoint, region, credentials };
}

/** A database of its own on the file's engine, without its tables yet: for tests of making them. */
export function newDatabase(keyStyle: KeyStyle = 'readable', options: Partial<DatabaseOptions> = {}): Database {
  const name = `test-${randomUUID()}`;
  const tables = { entities: name, derived: `${name}-derived` };
  return createDatabase({ ...engine(), tables, keyStyle, ...options });
}

/**
 * Two empty tables on the file's DynamoDB Local, which ends with the file. To be called at the top of a test file or in
 * a `describe`, outside hooks and tests: `const db = await testDatabase();`
 */
export async function testDatabase(keyStyle: KeyStyle = 'readable'): Promise<Database> {
  const database = newDatabase(keyStyle);
  afterAll(() => {
    database.client.destroy();
  });
  await ensureTables(database);
  return database;
}
