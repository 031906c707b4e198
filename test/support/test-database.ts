import { randomUUID } from 'node:crypto';
import { afterAll, inject } from 'vitest';

import type { KeyStyle } from '../../src/keys/keyspace.js';
import { type Database, type DatabaseOptions, createDatabase } from '../../src/store/database.js';
import { deleteTables, ensureTables } from '../../src/store/tables.js';

/** How to reach the engine of this test run: for child processes, and for clients with other settings. */
export function engine() {
  return inject('engine');
}

/** A database of its own on the run's engine, without its tables yet: for tests of making them. */
export function newDatabase(keyStyle: KeyStyle = 'readable', options: Partial<DatabaseOptions> = {}): Database {
  const name = `test-${randomUUID()}`;
  const tables = { entities: name, derived: `${name}-derived` };
  return createDatabase({ ...engine(), tables, keyStyle, ...options });
}

/**
 * Two empty tables of the calling file's own on the run's DynamoDB Local, removed after its last test. To be called at
 * the top of a test file or in a `describe`, outside hooks and tests: `const db = await testDatabase();`
 */
export async function testDatabase(keyStyle: KeyStyle = 'readable'): Promise<Database> {
  const database = newDatabase(keyStyle);
  afterAll(async () => {
    await deleteTables(database);
    database.client.destroy();
  });
  await ensureTables(database);
  return database;
}
