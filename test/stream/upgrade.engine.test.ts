import { expect, test, vi } from 'vitest';

import { silentLog, type Log } from '../../src/log.js';
import { recountDerived, startConsumer } from '../../src/server/consumer.js';
import { keepExact } from '../../src/server/exact-counts.js';
import { loadStreamState } from '../../src/store/cell/stream-state.js';
import { newCall } from '../../src/store/database.js';
import { PAGE_FORMAT } from '../../src/store/page/page-data.js';
import { putInBulk } from '../../src/store/request/batches.js';
import { send } from '../../src/store/request/send.js';
import { Consumer } from '../../src/stream/consume/consumer.js';
import { createStreamsClient } from '../../src/stream/source/dynamodb.js';
import { engine, testDatabase } from '../support/test-database.js';
import { markersOfTable, pagesOfTable } from './pages-of-table.js';
import { countedCells, markerItem, started, storedCells, streamParts, untilRead, whileConsuming } from './support.js';

const db = await testDatabase('readable', { stream: true });
const backend = { database: db, streams: createStreamsClient(engine()) };
const put = (first: number, count: number) =>
  putInBulk(
    newCall(db),
    db.tables.entities,
    Array.from({ length: count }, (_, index) => markerItem(db, 'parks', `m${first + index}`, index / 100, index / 50)),
  );
const stateNow = () => loadStreamState(newCall(db), 'cells');

/** Runs a consumer without pages, like the previous release. */
const keepAsBefore = (work: () => Promise<unknown>) => whileConsuming(db, work, { pages: undefined });

test('pages are not trusted after a release that maintains others has written the cells', async () => {
  await keepAsBefore(() => put(0, 100));
  const Key = db.keys.streamState('cells');
  const { Item = {} } = await send(newCall(db), 'get', { TableName: db.tables.derived, Key, ConsistentRead: true });
  const { pages, ...rest } = Item;
  const store = (state: object) =>
    send(newCall(db), 'put', { TableName: db.tables.derived, Item: { ...state, ...Key } });
  expect((await stateNow())?.pages).not.toBeNull();
  await store({ ...rest, pages: { ...(pages as object), format: PAGE_FORMAT + 1 } });
  expect((await stateNow())?.pages).toBeNull();
  await store(rest);
  expect((await stateNow())?.pages).toBeNull();
});

test('a table without pages is served without them on AWS, and the log advises a recount', async () => {
  const warned: unknown[] = [];
  const log: Log = { ...silentLog, warn: (...message: unknown[]) => void warned.push(message.at(-1)) };
  const cells = startConsumer(backend, log);
  await put(100, 20);
  await cells.caughtUp(new AbortController().signal);
  expect(cells.status()).toMatchObject({ owner: true, countsExact: true, pages: null });
  expect(warned).toEqual([expect.stringMatching(/run `cellport recount`/)]);
  expect((await pagesOfTable(db)).items).toEqual([]);
  await cells.stop();
  expect(await storedCells(db)).toEqual(await countedCells(db));
});

test('with the embedded engine, missing pages are built automatically', async () => {
  const cells = startConsumer(backend, silentLog, { embedded: true });
  const exact = keepExact(
    () => cells.status(),
    (signal) => recountDerived(backend, silentLog, false, signal),
    silentLog,
  );
  await vi.waitUntil(() => cells.status().pages !== null && cells.status().countsExact, { timeout: 60_000 });
  await put(120, 20);
  await cells.caughtUp(new AbortController().signal);
  await exact.stop();
  await cells.stop();
  const { markers, faults } = await pagesOfTable(db);
  expect(faults).toEqual([]);
  expect(Object.keys(markers)).toHaveLength(140);
  expect(markers).toEqual(await markersOfTable(db));
  expect(await storedCells(db)).toEqual(await countedCells(db));
});

test('pages that cannot be written are abandoned, and counting continues', async () => {
  const parts = streamParts(db);
  const { pages } = parts;
  if (!pages) throw new Error('no pages are kept');
  const rejected = Object.assign(new Error('a key is too long'), { name: 'ValidationException' });
  const open = (generation: string) => ({ ...pages.open(generation), write: () => Promise.reject(rejected) });
  expect((await stateNow())?.pages).not.toBeNull();
  const consumer = new Consumer({ ...parts, pages: { ...pages, open } });
  const running = started(consumer);
  await put(140, 20);
  await untilRead(db);
  expect(consumer.status()).toMatchObject({ pages: null, countsExact: true });
  await running.stop();
  expect((await stateNow())?.pages).toBeNull();
  expect(await storedCells(db)).toEqual(await countedCells(db));
});
