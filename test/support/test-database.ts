import { randomUUID } from 'node:crypto';
import { afterAll } from 'vitest';

import { startEngine } from '../../src/engine/start.js';
import type { KeyStyle } from '../../src/keys/keyspace.js';
import { type Database, type DatabaseOptions, createDatabase } from '../../src/store/database.js';
import { ensureTables } from '../../src/store/tables.js';
import { betweenFiles } from './between-files.js';

// A DynamoDB Local writes slower with each table that has had a stream, the deleted ones included, and takes 4 s of CPU
// until it is warm: several test files of a process share one, and it is replaced between two of them when it is worn.
const DATABASES_BEFORE_WORN = 6;
let running = await startEngine({ dataDir: null });
let made = 0;
betweenFiles.push(async () => {
  if (made < DATABASES_BEFORE_WORN) return;
  await running.close();
  running = await startEngine({ dataDir: null });
  made = 0;
});

// A machine that runs everything else besides may hold an answer back for longer than a server waits for one.
const PATIENCE_MS = 60_000;

/** How to reach the engine of this test file, which it may share with others: for child processes, and for clients with other settings. */
export function engine() {
  const { endpoint, region, credentials } = running;
  return { endpoint, region, credentials };
}

/** A database of its own on the file's engine, without its tables yet: for tests of making them. */
export function newDatabase(keyStyle: KeyStyle = 'readable', options: Partial<DatabaseOptions> = {}): Database {
  if (options.tables === undefined) made += 1;
  const name = `test-${randomUUID()}`;
  const names = { entities: name, derived: `${name}-derived` };
  return createDatabase({ ...engine(), tables: names, keyStyle, giveUpAfterMs: PATIENCE_MS, ...options });
}

/**
 * Two empty tables of its own on the file's DynamoDB Local. To be called at the top of a test file or in
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
