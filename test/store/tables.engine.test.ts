import { CreateTableCommand, UpdateTimeToLiveCommand } from '@aws-sdk/client-dynamodb';
import { afterAll, describe, expect, test } from 'vitest';

import type { Database } from '../../src/store/database.js';
import { deleteTables } from '../../src/store/table/month-tables.js';
import { tableDefinitions } from '../../src/store/table/table-definitions.js';
import { checkTables, deleteTable, describeTables, ensureTables, openTables } from '../../src/store/table/tables.js';
import { recordCalls } from '../support/record-calls.js';
import { newDatabase, testCollection, testDatabase } from '../support/test-database.js';

const database = await testDatabase('readable', { stream: true });

const others: Database[] = [];
afterAll(async () => {
  for (const other of others) for (const name of Object.values(other.tables)) await deleteTable(other, name);
});

/** A database without tables; those created by a test are deleted afterwards. */
function fresh(): Database {
  const other = newDatabase();
  others.push(other);
  return other;
}

type Request = ReturnType<typeof tableDefinitions>[number]['request'];

/** Creates both tables, with the definition of the entities table changed by a function. */
async function makeDifferent(change: (request: Request) => Request, ttl: string | null = 'ttl'): Promise<Database> {
  const other = fresh();
  const [entities, derived] = tableDefinitions(other.tables).map(({ request }) => request);
  if (entities === undefined || derived === undefined) throw new Error('two tables were expected');
  await other.client.send(new CreateTableCommand(change(entities)));
  await other.client.send(new CreateTableCommand(derived));
  const expire = (TableName: string, AttributeName: string) =>
    other.client.send(
      new UpdateTimeToLiveCommand({ TableName, TimeToLiveSpecification: { AttributeName, Enabled: true } }),
    );
  if (ttl !== null) await expire(other.tables.entities, ttl);
  await expire(other.tables.derived, 'ttl');
  return other;
}

const without = (name: string) => (request: Request) => {
  const indexes = (request.GlobalSecondaryIndexes ?? []).filter(({ IndexName }) => IndexName !== name);
  const used = new Set([
    'pk',
    'sk',
    ...indexes.flatMap(({ KeySchema }) => (KeySchema ?? []).map((key) => key.AttributeName)),
  ]);
  return {
    ...request,
    GlobalSecondaryIndexes: indexes,
    AttributeDefinitions: request.AttributeDefinitions?.filter(({ AttributeName }) => used.has(AttributeName)),
  };
};

const projecting =
  (projection: object) =>
  (request: Request): Request => ({
    ...request,
    GlobalSecondaryIndexes: request.GlobalSecondaryIndexes?.map((index) =>
      index.IndexName === 'geoA' ? { ...index, Projection: projection } : index,
    ),
  });

describe('creating the tables', () => {
  test('returns the names of those it created, and creates nothing the second time', async () => {
    const other = fresh();
    const { entities, derived } = other.tables;
    expect([...(await ensureTables(other))].sort()).toEqual([entities, derived].sort());
    const calls = recordCalls(other);
    expect(await ensureTables(other)).toEqual([]);
    expect(calls.count('CreateTable')).toBe(0);
  });

  test('and checking them describes tables that exist once', async () => {
    const other = fresh();
    const { created, table } = await openTables(other);
    expect(created).toHaveLength(2);
    const calls = recordCalls(other);
    expect(await openTables(other)).toEqual({ created: [], table });
    expect(calls.count('DescribeTable')).toBe(2);
    expect(calls.count('DescribeTimeToLive')).toBe(2);
  });

  test('and opening them is refused with the other key style, once there are collections', async () => {
    const compact = newDatabase('compact', { tables: fresh().tables });
    await openTables(compact);
    const readable = newDatabase('readable', { tables: compact.tables });
    await openTables(readable);
    const input = { key: 'shops', name: 'Shops', code: 'Sh' };
    await testCollection(compact, input, '2026-11-21T10:00:00.000Z');
    await openTables(compact);
    await expect(openTables(readable)).rejects.toThrow(
      /^CELLPORT_KEY_STYLE must be compact, in which table .*; got "readable"/,
    );
  });

  test('succeeds in several processes at once', async () => {
    const other = fresh();
    const made = await Promise.all([ensureTables(other), ensureTables(other), ensureTables(other)]);
    expect(made.flat()).toHaveLength(2);
    await checkTables(other);
  });

  test('completes what a killed process began', async () => {
    const other = await makeDifferent((request) => request, null);
    await expect(checkTables(other)).rejects.toThrow(/TTL/);
    expect((await openTables(other)).created).toEqual([]);
    await checkTables(other);
  });

  test('and deleting them leaves none', async () => {
    const other = fresh();
    await ensureTables(other);
    expect(await deleteTables(other)).toHaveLength(2);
    expect((await describeTables(other)).map(({ description }) => description)).toEqual([undefined, undefined]);
    expect(await deleteTables(other)).toEqual([]);
  });
});

describe('the tables', () => {
  test('match their definitions once they are created', async () => {
    await expect(checkTables(database)).resolves.toHaveLength(2);
  });

  test('are billed per request and expire items by ttl; entities has a stream with both images, derived has none', async () => {
    const [entities, derived] = await describeTables(database);
    expect(entities?.description?.StreamSpecification).toEqual({
      StreamEnabled: true,
      StreamViewType: 'NEW_AND_OLD_IMAGES',
    });
    expect(entities?.ttl).toBe('ttl');
    expect(derived?.description?.StreamSpecification).toBeUndefined();
    expect(derived?.ttl).toBe('ttl');
    for (const table of [entities, derived]) {
      expect(table?.description?.BillingModeSummary?.BillingMode).toBe('PAY_PER_REQUEST');
    }
  });

  test('that are missing are reported', async () => {
    const other = fresh();
    await expect(checkTables(other)).rejects.toMatchObject({
      code: 'UNAVAILABLE',
      message: expect.stringContaining(`table ${other.tables.entities}: the table must be present; found missing`),
    });
  });

  test.each<[string, (request: Request) => Request, string | null, object]>([
    ['an index is missing', without('place'), 'ttl', { what: 'index place', expected: 'present', found: 'missing' }],
    [
      'an index has a different key',
      (request) => ({
        ...request,
        GlobalSecondaryIndexes: request.GlobalSecondaryIndexes?.map((index) =>
          index.IndexName === 'global' ? { ...index, KeySchema: [{ AttributeName: 'sk', KeyType: 'HASH' }] } : index,
        ),
        AttributeDefinitions: request.AttributeDefinitions?.filter(({ AttributeName }) => AttributeName !== 'globalId'),
      }),
      'ttl',
      { what: 'key of index global', expected: 'globalId (HASH)', found: 'sk (HASH)' },
    ],
    [
      'an index projects too little',
      projecting({ ProjectionType: 'INCLUDE', NonKeyAttributes: ['lat', 'lng'] }),
      'ttl',
      { what: 'projection of index geoA', expected: 'INCLUDE lng lat name category mv m mc', found: 'INCLUDE lng lat' },
    ],
    [
      'the stream is off',
      (request) => ({ ...request, StreamSpecification: { StreamEnabled: false } }),
      'ttl',
      { what: 'stream', expected: 'NEW_AND_OLD_IMAGES', found: 'none' },
    ],
    [
      'the stream carries new images only',
      (request) => ({ ...request, StreamSpecification: { StreamEnabled: true, StreamViewType: 'NEW_IMAGE' } }),
      'ttl',
      { what: 'stream', expected: 'NEW_AND_OLD_IMAGES', found: 'NEW_IMAGE' },
    ],
    [
      'items expire by another attribute',
      (request) => request,
      'expires',
      { what: 'TTL attribute', expected: 'ttl', found: 'expires' },
    ],
  ])('are rejected if %s, naming what was expected and what was found', async (_, change, ttl, difference) => {
    const other = await makeDifferent(change, ttl);
    await expect(checkTables(other)).rejects.toMatchObject({
      code: 'UNAVAILABLE',
      details: { differences: [{ table: other.tables.entities, ...difference }] },
    });
  });

  test('may have a wider projection than required', async () => {
    await expect(checkTables(await makeDifferent(projecting({ ProjectionType: 'ALL' })))).resolves.toHaveLength(2);
  });
});
