import { tmpdir } from 'node:os';
import { expect, test, vi } from 'vitest';

import { systemClock } from '../../src/clock.js';
import { fullDisk } from '../../src/disk.js';
import { createDatabase } from '../../src/store/create-database.js';
import { newCall } from '../../src/store/database.js';
import { deleteReadItems, putInBulk } from '../../src/store/request/batches.js';
import { send } from '../../src/store/request/send.js';
import { Consumer } from '../../src/stream/consume/consumer.js';
import { markerItem, started, streamParts } from '../stream/support.js';
import { interceptCalls } from '../support/faults.js';
import { engine, testCollection, testDatabase } from '../support/test-database.js';
import { startServer } from './live-server.js';

const db = await testDatabase('readable', { stream: true });

interface Ready {
  readonly status: number;
  readonly reasons: readonly string[];
}

async function ready(url: string): Promise<Ready> {
  const response = await fetch(`${url}/readyz`);
  const { reasons } = (await response.json()) as Ready;
  return { status: response.status, reasons };
}

/** DynamoDB Local's response when its disk is full. */
const failure = () =>
  Object.assign(new Error('unknown error'), { name: 'InternalFailure', $fault: 'server', $metadata: {} });

test.each([
  ['the state of the counts', 'PutItem'],
  ['blocks of cells alone', 'BatchExecuteStatement'],
])('/readyz says that writes of %s fail while reads succeed, and recovers', async (_, operation) => {
  let failing = false;
  let ahead = 0;
  const isRead = (input: object) => JSON.stringify(input).includes('SELECT');
  interceptCalls(db, operation, (input, ask) => (failing && !isRead(input) ? Promise.reject(failure()) : ask(input)));
  const clock = { ...systemClock, now: () => performance.now() + ahead };
  const consumer = new Consumer({ ...streamParts(db), clock });
  const running = started(consumer);
  const server = await startServer(db, { status: () => consumer.status() });
  await vi.waitFor(() => expect(consumer.status().owner).toBe(true), { timeout: 30_000 });
  expect(await ready(server.url)).toEqual({ status: 200, reasons: [] });

  const put = () =>
    send(newCall(db), 'transactWrite', {
      TransactItems: [
        { Put: { TableName: db.tables.entities, Item: markerItem(db, 'parks', operation, Math.random(), 2) } },
      ],
    });
  failing = true;
  await put();
  await vi.waitFor(() => expect(consumer.status().failingWrites).not.toBeNull(), { timeout: 60_000 });
  expect(await ready(server.url)).toEqual({ status: 200, reasons: [] });
  ahead = 10_000;
  expect(await ready(server.url)).toEqual({
    status: 503,
    reasons: [expect.stringMatching(/^writes have failed for 1\d s: DynamoDB is unavailable/)],
  });

  failing = false;
  await vi.waitFor(async () => expect(await ready(server.url)).toEqual({ status: 200, reasons: [] }), {
    timeout: 60_000,
  });
  await running.stop();
  await server.close();
});

test('/readyz reports that the disk of the embedded engine is full', async () => {
  await testCollection(db, { key: 'parks', name: 'Parks' });
  let least = Infinity;
  const server = await startServer(db, { storageFault: () => fullDisk(tmpdir(), least) });
  expect(await ready(server.url)).toEqual({
    status: 503,
    reasons: [expect.stringMatching(/^the disk is full: \d+ KB left for the data folder/)],
  });
  least = 0;
  expect(await ready(server.url)).toEqual({ status: 200, reasons: [] });
  await server.close();
});

test('while there is a fault, writes of every kind are refused with it before they are sent, and reads are not', async () => {
  let fault: string | undefined;
  const guarded = createDatabase({
    ...engine(),
    tables: db.tables,
    keyStyle: 'readable',
    storageFault: async () => fault,
  });
  const { entities: TableName } = db.tables;
  const item = markerItem(db, 'parks', 'guarded', 1, 2);
  const Key = { pk: item['pk'], sk: item['sk'] };
  const write = {
    put: () => send(newCall(guarded), 'put', { TableName, Item: item }),
    update: () => send(newCall(guarded), 'update', { TableName, Key, UpdateExpression: 'SET a = pk' }),
    batch: () => putInBulk(newCall(guarded), TableName, [item], { patient: false }),
    transaction: () => send(newCall(guarded), 'transactWrite', { TransactItems: [{ Put: { TableName, Item: item } }] }),
    delete: () => send(newCall(guarded), 'delete', { TableName, Key }),
  };
  await write.put();
  fault = 'the disk is full';
  for (const work of Object.values(write).slice(0, 4))
    await expect(work()).rejects.toMatchObject({ code: 'UNAVAILABLE', message: expect.stringMatching(fault) });
  const deleting = deleteReadItems(newCall(guarded), [item]);
  await expect(write.delete()).rejects.toThrow(fault);
  expect((await send(newCall(guarded), 'get', { TableName, Key })).Item).toMatchObject(Key);
  fault = undefined;
  await deleting;
  expect((await send(newCall(guarded), 'get', { TableName, Key })).Item).toBeUndefined();
  guarded.client.destroy();
});

test('a write that fails after the disk was filled says that, too', async () => {
  let fault: string | undefined;
  const filled = createDatabase({
    ...engine(),
    tables: db.tables,
    keyStyle: 'readable',
    storageFault: async () => fault,
  });
  filled.client.middlewareStack.add(
    () => () => {
      fault = 'the disk is full';
      return Promise.reject(failure());
    },
    { step: 'finalizeRequest', priority: 'low' },
  );
  const item = markerItem(db, 'parks', 'filled', 1, 2);
  await expect(send(newCall(filled), 'put', { TableName: db.tables.entities, Item: item })).rejects.toMatchObject({
    code: 'UNAVAILABLE',
    message: expect.stringMatching(/the disk is full/),
  });
  filled.client.destroy();
});
