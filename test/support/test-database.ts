import { randomUUID } from 'node:crypto';
import { CreateTableCommand } from '@aws-sdk/client-dynamodb';
import { afterAll, inject } from 'vitest';

import type { EngineAddress } from '../../src/engine/start.js';
import type { KeyStyle } from '../../src/keys/keyspace.js';
import type { Collection } from '../../src/model/collection.js';
import type { CollectionInput } from '../../src/store/collection/collection-item.js';
import { createCollection } from '../../src/store/collection/collections.js';
import { createDatabase, type DatabaseOptions } from '../../src/store/create-database.js';
import { newCall, type Database } from '../../src/store/database.js';
import { tableDefinitions } from '../../src/store/table/table-definitions.js';
import { ensureTables } from '../../src/store/table/tables.js';
import { betweenFiles } from './between-files.js';
import { settingsOf } from './engine-settings.js';

// DynamoDB Local has a separate database per access key. Writes slow down with every change that the streams of a
// database contain, including those of deleted tables, so each test file gets a new database. Starting and warming up a
// Java process per file would take 5 s of CPU.
const newAccessKey = () => randomUUID().replaceAll('-', '').toUpperCase();
let accessKey = newAccessKey();
betweenFiles.push(() => {
  accessKey = newAccessKey();
});

/**
 * Longer than a server waits: DynamoDB Local has one lock for writes, and with dozens of threads waiting for it, each
 * write needs several of them to get a core in turn. With another run in parallel, that has taken 20 s. A second
 * attempt would not help, and a second CreateTable finds the table of the first.
 */
const ANSWERS_WITHIN_MS = 120_000;

/** Connection settings of this test file's database, for child processes and for clients with other settings. */
export function engine(): EngineAddress {
  const shared = inject('engine') as EngineAddress | undefined;
  if (shared === undefined) throw new Error('this test needs DynamoDB Local: call its file *.engine.test.ts');
  return { ...shared, credentials: { accessKeyId: accessKey, secretAccessKey: accessKey } };
}

/** Settings that make a command use this file's database. */
export function engineSettings(): Readonly<Record<string, string>> {
  return settingsOf(engine());
}

/** A database whose tables do not exist yet, for tests that create them. */
export function newDatabase(keyStyle: KeyStyle = 'readable', options: Partial<DatabaseOptions> = {}): Database {
  const name = `test-${randomUUID()}`;
  const tables = { entities: name, derived: `${name}-derived` };
  const waits = { attemptMs: ANSWERS_WITHIN_MS, giveUpAfterMs: ANSWERS_WITHIN_MS };
  return createDatabase({ ...engine(), tables, keyStyle, ...waits, ...options });
}

/** Creates both tables without a stream: writes then take about half the time. */
export async function makeTables(database: Database): Promise<void> {
  for (const { request } of tableDefinitions(database.tables)) {
    const { StreamSpecification: _, ...withoutStream } = request;
    await database.client.send(new CreateTableCommand(withoutStream));
  }
  await ensureTables(database);
}

/**
 * Creates two empty tables, with a stream only if the test reads it. Call it at the top of a test file or in a
 * `describe`, outside hooks and tests: `const db = await testDatabase();`. With `waitsForDisk`, hundreds of markers are
 * created by a few transactions.
 */
export async function testDatabase(
  keyStyle: KeyStyle = 'readable',
  { stream = false, ...options }: { readonly stream?: boolean } & Partial<DatabaseOptions> = {},
): Promise<Database> {
  const database = newDatabase(keyStyle, options);
  afterAll(() => {
    database.client.destroy();
  });
  await (stream ? ensureTables(database) : makeTables(database));
  return database;
}

/** A new collection, created at a time in RFC 3339, by default now. */
export function testCollection(
  database: Database,
  input: CollectionInput,
  now: string = new Date().toISOString(),
): Promise<Collection> {
  return createCollection(newCall(database), input, now);
}
