import { UpdateTableCommand } from '@aws-sdk/client-dynamodb';
import { afterAll, expect, test } from 'vitest';

import { deleteTable, ensureTables } from '../../src/store/table/tables.js';
import { NoStream } from '../../src/stream/ports.js';
import { createStreamsClient, openStream } from '../../src/stream/source/dynamodb.js';
import { recordCalls } from '../support/record-calls.js';
import { engine, testDatabase } from '../support/test-database.js';

const database = await testDatabase('readable', { stream: true, waitsForDisk: true });
const streams = createStreamsClient(engine());
afterAll(() => streams.destroy());
const TableName = database.tables.entities;

async function setStream(enabled: boolean): Promise<void> {
  const view = enabled ? { StreamViewType: 'NEW_AND_OLD_IMAGES' as const } : {};
  const StreamSpecification = { StreamEnabled: enabled, ...view };
  await database.client.send(new UpdateTableCommand({ TableName, StreamSpecification }));
}

test('on the embedded engine, which reads a whole table to describe it, the stream is identified once while it is enabled', async () => {
  const stream = openStream(database, streams);
  const calls = recordCalls(database);
  const first = await stream.identify();
  expect(await stream.identify()).toBe(first);
  expect(calls.count('DescribeTable')).toBe(1);

  await setStream(false);
  await expect(stream.identify()).rejects.toThrow(NoStream);
  await setStream(true);
  const second = await stream.identify();
  expect(second).not.toBe(first);

  await deleteTable(database, TableName);
  await expect(stream.identify()).rejects.toThrow(NoStream);
  await ensureTables(database);
  expect([first, second]).not.toContain(await stream.identify());
});
