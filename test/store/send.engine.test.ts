import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo, Server } from 'node:net';
import { afterEach, describe, expect, test, vi } from 'vitest';

import { newCall, type Database } from '../../src/store/database.js';
import { send } from '../../src/store/request/send.js';
import { listMonths } from '../../src/store/table/month-tables.js';
import { deleteTable, describeTables, ensureTables } from '../../src/store/table/tables.js';
import { createStreamsClient, openStream } from '../../src/stream/source/dynamodb.js';
import { injectFaults } from '../support/faults.js';
import { closedPort, engineProxy } from '../support/proxy.js';
import { recordCalls } from '../support/record-calls.js';
import { engine, newDatabase, testDatabase } from '../support/test-database.js';

const database = await testDatabase();
const { entities } = database.tables;

/** The same tables through a separate client, so that faults affect only one test. */
function client(options: Parameters<typeof newDatabase>[1] = {}): Database {
  return newDatabase('readable', { tables: database.tables, ...options });
}

const servers: Server[] = [];

afterEach(() => {
  for (const server of servers.splice(0)) server.close();
});

async function listen(server: ReturnType<typeof createServer>, port = 0): Promise<number> {
  servers.push(server);
  await once(server.listen(port, '127.0.0.1'), 'listening');
  return (server.address() as AddressInfo).port;
}

const put = (db: Database, sk: string, call = newCall(db)) =>
  send(call, 'put', { TableName: entities, Item: { pk: 'send', sk } });
const stored = async (sk: string) => {
  const { Item } = await send(newCall(database), 'get', { TableName: entities, Key: { pk: 'send', sk } });
  return Item !== undefined;
};

/** What AWS charges, which DynamoDB Local does not report for absent keys of a batch and for ranges without items. */
describe('read units', () => {
  const ITEMS = { small: 100, full: 4_000, over: 5_000, double: 8_100 };
  /** Eventually consistent; a consistent read costs twice as much. */
  const UNITS = { small: 0.5, full: 0.5, over: 1, double: 1, none: 0.5, other: 0.5 };
  const keyOf = (sk: string) => ({ pk: 'priced', sk });
  const cost = async (...args: [Parameters<typeof send>[1], Parameters<typeof send>[2]]) => {
    const call = newCall(database);
    await send(call, ...args);
    return call.meter.readUnits;
  };

  test.each([false, true])(
    'are counted by item of a batch and by sum of a Query; consistent: %s',
    async (ConsistentRead) => {
      const factor = ConsistentRead ? 2 : 1;
      for (const [sk, bytes] of Object.entries(ITEMS)) {
        await send(newCall(database), 'put', { TableName: entities, Item: { ...keyOf(sk), x: 'x'.repeat(bytes) } });
      }
      const names = Object.keys(UNITS) as (keyof typeof UNITS)[];
      for (const wanted of [...names.map((name) => [name]), names, ['none', 'other'], ['over', 'double']] as const) {
        const units = wanted.reduce((sum, name) => sum + UNITS[name as 'small'], 0);
        const batch = { RequestItems: { [entities]: { Keys: wanted.map(keyOf), ConsistentRead } } };
        expect([wanted, await cost('batchGet', batch)]).toEqual([wanted, units * factor]);
      }
      for (const name of names) {
        const one = { TableName: entities, Key: keyOf(name), ConsistentRead };
        expect([name, await cost('get', one)]).toEqual([name, UNITS[name] * factor]);
      }
      const range = (pk: string) => ({
        TableName: entities,
        KeyConditionExpression: 'pk = :pk',
        ExpressionAttributeValues: { ':pk': pk },
        ConsistentRead,
      });
      // 17.2 KB and a few names.
      expect(await cost('query', range('priced'))).toBe(2.5 * factor);
      expect(await cost('query', range('absent'))).toBe(0.5 * factor);
    },
  );
});

describe('a command', () => {
  test('is metered by what DynamoDB reports', async () => {
    const call = newCall(database);
    await put(database, 'metered', call);
    await send(call, 'get', { TableName: entities, Key: { pk: 'send', sk: 'metered' } });
    await send(call, 'batchGet', { RequestItems: { [entities]: { Keys: [{ pk: 'send', sk: 'metered' }] } } });
    const query = {
      TableName: entities,
      KeyConditionExpression: 'pk = :pk',
      ExpressionAttributeValues: { ':pk': 'send' },
    };
    await send(call, 'query', query);
    await send(call, 'update', {
      TableName: entities,
      Key: { pk: 'send', sk: 'metered' },
      UpdateExpression: 'SET a = :a',
      ExpressionAttributeValues: { ':a': 1 },
    });
    expect(call.meter).toEqual({
      queries: 1,
      getItems: 2,
      writes: 2,
      readUnits: 1.5,
      writeUnits: 2,
      itemsScanned: 1,
      itemsReturned: 3,
      cacheHits: 0,
      markersFrom: null,
      behindMs: null,
    });
  });

  test('requests no consumed capacity if it is not needed, and counts everything else', async () => {
    const calls = recordCalls(database);
    const call = { ...newCall(database), unpriced: true };
    await put(database, 'unpriced', call);
    expect(calls.commands).toHaveLength(1);
    expect(calls.commands[0]?.input).not.toHaveProperty('ReturnConsumedCapacity');
    expect(call.meter).toMatchObject({ writes: 1, writeUnits: 0 });
  });

  test('that is briefly throttled succeeds', async () => {
    const db = client();
    const faults = injectFaults(db, 'PutItem', ['throttled', 'throttled']);
    await put(db, 'patience');
    expect(faults.met).toBe(2);
    expect(await stored('patience')).toBe(true);
  });

  test('that is always throttled fails with THROTTLED and says when to retry', async () => {
    const db = client();
    injectFaults(db, 'PutItem', 'throttled');
    await expect(put(db, 'throttled')).rejects.toMatchObject({ code: 'THROTTLED', details: { retryAfterMs: 1000 } });
    expect(await stored('throttled')).toBe(false);
  });

  test('fails with UNAVAILABLE while the port is closed, and succeeds later with the same client', async () => {
    const port = closedPort();
    const db = client({ endpoint: `http://127.0.0.1:${port}` });
    await expect(put(db, 'recovered')).rejects.toMatchObject({ code: 'UNAVAILABLE' });
    await listen(engineProxy(), port);
    await put(db, 'recovered');
    expect(await stored('recovered')).toBe(true);
  });

  test('fails with UNAVAILABLE when DynamoDB accepts connections but does not respond', async () => {
    const port = await listen(createServer(() => undefined));
    const db = client({ endpoint: `http://127.0.0.1:${port}`, giveUpAfterMs: 300 });
    await expect(put(db, 'silent')).rejects.toMatchObject({
      code: 'UNAVAILABLE',
      message: expect.stringContaining('300 ms'),
    });
    db.client.destroy();
  });

  test('on a table or a stream fails with UNAVAILABLE too when there is no response', async () => {
    const port = await listen(createServer(() => undefined));
    const endpoint = `http://127.0.0.1:${port}`;
    const db = client({ endpoint, giveUpAfterMs: 300 });
    const streams = createStreamsClient({ ...engine(), endpoint });
    const stream = openStream(db, streams);
    const commands: readonly (() => Promise<unknown>)[] = [
      () => describeTables(db),
      () => ensureTables(db),
      () => deleteTable(db, entities),
      () => listMonths(db),
      () => stream.identify(),
      () => stream.listShards('stream', undefined),
      () => stream.openShard('stream', 'shard', { type: 'oldest' }),
      () => stream.readRecords('iterator'),
    ];
    const outcomes = await Promise.allSettled(commands.map((command) => command()));
    const late = { code: 'UNAVAILABLE', message: expect.stringContaining('300 ms') };
    expect(outcomes).toEqual(commands.map(() => ({ status: 'rejected', reason: expect.objectContaining(late) })));
    db.client.destroy();
    streams.destroy();
  });

  test('fails with UNAVAILABLE when DynamoDB responds with a server error', async () => {
    const port = await listen(createServer((_, response) => response.writeHead(503).end()));
    await expect(put(client({ endpoint: `http://127.0.0.1:${port}` }), '503')).rejects.toMatchObject({
      code: 'UNAVAILABLE',
    });
  });

  test('fails with UNAVAILABLE when its table does not exist', async () => {
    await expect(
      send(newCall(database), 'get', { TableName: 'no-such-table', Key: { pk: 'a', sk: 'b' } }),
    ).rejects.toMatchObject({
      code: 'UNAVAILABLE',
    });
  });

  test('ends with its signal’s reason, even during a pause between retries', async () => {
    const db = client();
    const faults = injectFaults(db, 'PutItem', ['throttled', 'throttled', 'never answered']);
    const reason = new Error('the client went away');
    const controller = new AbortController();
    const work = put(db, 'aborted', newCall(db, controller.signal));
    // The pause after the second attempt is the longer one: it may take two seconds, or less than one millisecond.
    await vi.waitFor(() => expect(faults.met).toBeGreaterThanOrEqual(2), { timeout: 60_000, interval: 1 });
    controller.abort(reason);
    await expect(work).rejects.toBe(reason);
    await expect(put(db, 'aborted', newCall(db, controller.signal))).rejects.toBe(reason);
  });

  test('whose condition fails keeps the name of its error', async () => {
    await put(database, 'once');
    const again = {
      TableName: entities,
      Item: { pk: 'send', sk: 'once' },
      ConditionExpression: 'attribute_not_exists(pk)',
    };
    await expect(send(newCall(database), 'put', again)).rejects.toMatchObject({
      name: 'ConditionalCheckFailedException',
    });
  });
});
