import { randomUUID } from 'node:crypto';
import { afterAll } from 'vitest';

import { startEngine } from '../../src/engine/start.js';
import type { KeyStyle } from '../../src/keys/keyspace.js';
import { type Database, type DatabaseOptions, createDatabase } from '../../src/store/database.js';
import { ensureTables } from '../../src/store/table/tables.js';
import { betweenFiles } from './between-files.js';

// A DynamoDB Local takes 4 s of CPU until it is warm, but then writes slower with each change that its streams have kept,
// those of deleted tables included: short test files of a process share one, long ones leave it worn.
const WORN_AFTER_MS = 15_000;
let running = await startEngine({ dataDir: null });
let usedSince: number | undefined;
betweenFiles.push(async () => {
  if (usedSince === undefined || performance.now() - usedSince < WORN_AFTER_MS) return;
  await running.close();
  running = await startEngine({ dataDir: null });
  usedSince = undefined;
});

// A machine that runs everything else besides may hold an answer back for longer than a server waits for one.
const PATIENCE_MS = 60_000;

/**
 * How to reach the engine of this test file, which it may share with others: for child processes, and for clients with
 * other settings.
 */
export function engine() {
  usedSince ??= performance.now();
  const { endpoint, region, credentials } = running;
  return { endpoint, region, credentials };
}

/** A database of its own on the file's engine, without its tables yet: for tests of making them. */
export function newDatabase(keyStyle: KeyStyle = 'readable', options: Partial<DatabaseOptions> = {}): Database {
  const name = `test-${randomUUID()}`;
  const tables = { entities: name, derived: `${name}-derived` };
  return createDatabase({ ...engine(), tables, keyStyle, giveUpAfterMs: PATIENCE_MS, ...options });
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
