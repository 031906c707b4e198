import { expect, test } from 'vitest';

import { newCall } from '../../src/store/meter.js';
import { send } from '../../src/store/send.js';
import { describeTables, ensureTables } from '../../src/store/tables.js';
import { recordCalls } from '../support/record-calls.js';
import { testDatabase } from '../support/test-database.js';

const database = await testDatabase();

test('making the tables again makes nothing', async () => {
  const calls = recordCalls(database);
  expect(await ensureTables(database)).toEqual([]);
  expect(calls.count('CreateTable')).toBe(0);
});

test('the entities carry a stream with both images and expire by ttl, the derived table does neither', async () => {
  const [entities, derived] = await describeTables(database);
  expect(entities?.description?.StreamSpecification).toEqual({
    StreamEnabled: true,
    StreamViewType: 'NEW_AND_OLD_IMAGES',
  });
  expect(entities?.ttl).toBe('ttl');
  expect(derived?.description?.StreamSpecification).toBeUndefined();
  expect(derived?.ttl).toBeNull();
});

test('a command is metered by what DynamoDB reports', async () => {
  const call = newCall();
  const calls = recordCalls(database);
  await send(database, 'put', { TableName: database.tables.entities, Item: { pk: 'a', sk: 'b', n: 1 } }, call);
  await send(database, 'get', { TableName: database.tables.entities, Key: { pk: 'a', sk: 'b' } }, call);
  expect(call.meter).toMatchObject({ writes: 1, writeUnits: 1, getItems: 1, readUnits: 0.5, itemsReturned: 1 });
  expect(calls.commands[0]).toMatchObject({ name: 'PutItem', input: { Item: { pk: 'a', sk: 'b', n: 1 } } });
});
