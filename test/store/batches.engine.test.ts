import { describe, expect, test } from 'vitest';

import { newCall } from '../../src/store/database.js';
import { batchGet, bulkWriter, putInBulk } from '../../src/store/request/batches.js';
import { injectFaults, interceptCalls, leaveUnprocessed } from '../support/faults.js';
import { recordCalls } from '../support/record-calls.js';
import { newDatabase, testDatabase } from '../support/test-database.js';

const database = await testDatabase();
const table = database.tables.entities;
const client = () => newDatabase('readable', { tables: database.tables });

const itemsOf = (pk: string, count: number) => Array.from({ length: count }, (_, n) => ({ pk, sk: String(n), n }));
const keysOf = (items: readonly { readonly pk: string; readonly sk: string }[]) =>
  items.map(({ pk, sk }) => ({ pk, sk }));

describe('a batch of reads', () => {
  test('returns items in the order of its keys, duplicates included, and undefined for missing ones', async () => {
    const items = itemsOf('order', 3);
    await putInBulk(newCall(database), table, items);
    const [zero, one, two] = keysOf(items) as [never, never, never];
    const call = newCall(database);
    const found = await batchGet(call, table, [two, { pk: 'order', sk: 'none' }, zero, one, two]);
    expect(found).toEqual([items[2], undefined, items[0], items[1], items[2]]);
    expect(call.meter.getItems).toBe(4);
  });

  test('is split into batches of 100', async () => {
    const items = itemsOf('many', 250);
    await putInBulk(newCall(database), table, items);
    const calls = recordCalls(database);
    expect(await batchGet(newCall(database), table, keysOf(items))).toEqual(items);
    expect(calls.count('BatchGetItem')).toBe(3);
  });

  test('retries what DynamoDB leaves unprocessed', async () => {
    const items = itemsOf('unprocessed', 100);
    await putInBulk(newCall(database), table, items);
    const db = client();
    let calls = 0;
    interceptCalls(db, 'BatchGetItem', async (input, ask) => {
      const { Keys: keys } = (input['RequestItems'] as Record<string, { Keys: object[] }>)[table] ?? { Keys: [] };
      calls += 1;
      // Every third call returns nothing; the others at most 30.
      const taken = calls % 3 === 0 ? 0 : Math.min(30, keys.length);
      const answer =
        taken === 0 ? { Responses: {} } : await ask({ RequestItems: { [table]: { Keys: keys.slice(0, taken) } } });
      return { ...answer, UnprocessedKeys: taken === keys.length ? {} : { [table]: { Keys: keys.slice(taken) } } };
    });
    expect(await batchGet(newCall(db), table, keysOf(items))).toEqual(items);
  });

  test('fails with THROTTLED if DynamoDB stops returning items', async () => {
    const db = client();
    interceptCalls(db, 'BatchGetItem', async (input) => ({ Responses: {}, UnprocessedKeys: input['RequestItems'] }));
    await expect(batchGet(newCall(db), table, [{ pk: 'a', sk: 'b' }])).rejects.toMatchObject({ code: 'THROTTLED' });
  });

  test('without keys sends no request', async () => {
    const calls = recordCalls(database);
    expect(await batchGet(newCall(database), table, [])).toEqual([]);
    expect(calls.count()).toBe(0);
  });
});

describe('a bulk of writes', () => {
  test('stores everything although DynamoDB leaves items unprocessed, throttles and loses responses', async () => {
    const db = client();
    const items = itemsOf('bulk', 180);
    leaveUnprocessed(db);
    const refused = Array.from({ length: 5 }, () => 'refused' as const);
    injectFaults(db, 'BatchWriteItem', ['throttled', 'answer lost', undefined, ...refused]);
    await putInBulk(newCall(db), table, items);
    expect(await batchGet(newCall(database), table, keysOf(items))).toEqual(items);
  });

  test('stores the last of two items with the same key', async () => {
    await putInBulk(newCall(database), table, [
      { pk: 'twice', sk: 'a', n: 1 },
      { pk: 'twice', sk: 'b', n: 2 },
      { pk: 'twice', sk: 'a', n: 3 },
    ]);
    expect(await batchGet(newCall(database), table, [{ pk: 'twice', sk: 'a' }])).toEqual([
      { pk: 'twice', sk: 'a', n: 3 },
    ]);
  });

  test('has no more concurrent requests for several concurrent calls than for one, and completes all of them', async () => {
    const db = client();
    let underWay = 0;
    let most = 0;
    interceptCalls(db, 'BatchWriteItem', async (input, ask) => {
      underWay += 1;
      most = Math.max(most, underWay);
      const output = await ask(input);
      underWay -= 1;
      return output;
    });
    const put = bulkWriter(newCall(db), table);
    const lots = ['one', 'two', 'three'].map((pk) => itemsOf(pk, 500));
    await Promise.all(lots.map(put));
    expect(most).toBe(12);
    const items = lots.flat();
    expect(await batchGet(newCall(database), table, keysOf(items))).toEqual(items);
  });

  test("continues with other callers' requests if one call fails", async () => {
    const put = bulkWriter(newCall(database), table);
    const wrong = Array.from({ length: 20 * 25 }, () => ({ pk: '', sk: `${Math.random()}` }));
    const items = itemsOf('beside a failure', 500);
    const [failed, done] = await Promise.allSettled([put(wrong), put(items)]);
    expect(failed).toMatchObject({ status: 'rejected', reason: { name: 'ValidationException' } });
    expect(done.status).toBe('fulfilled');
    expect(await batchGet(newCall(database), table, keysOf(items))).toEqual(items);
  });

  test('stops with its signal’s reason', async () => {
    const db = client();
    interceptCalls(db, 'BatchWriteItem', async (input) => ({ UnprocessedItems: input['RequestItems'] }));
    const reason = new Error('interrupted');
    const controller = new AbortController();
    const work = putInBulk(newCall(db, controller.signal), table, itemsOf('stopped', 30));
    controller.abort(reason);
    await expect(work).rejects.toBe(reason);
  });

  test('fails at once if DynamoDB rejects an item', async () => {
    const calls = recordCalls(database);
    await expect(putInBulk(newCall(database), table, [{ pk: '', sk: 'a' }])).rejects.toMatchObject({
      name: 'ValidationException',
    });
    expect(calls.count('BatchWriteItem')).toBe(1);
  });
});
