import {
  BatchExecuteStatementCommand,
  BatchGetCommand,
  BatchWriteCommand,
  DeleteCommand,
  GetCommand,
  PutCommand,
  QueryCommand,
  ScanCommand,
  TransactWriteCommand,
  type QueryCommandInput,
} from '@aws-sdk/lib-dynamodb';
import { describe, expect, test } from 'vitest';

import type { Database } from '../../src/store/database.js';
import { memoryDatabase } from './memory-store.js';
import { testDatabase } from './test-database.js';

const stores = { 'DynamoDB Local': await testDatabase(), memory: memoryDatabase() };

/** Responses of both stores, without table names. */
async function both<T extends object>(ask: (db: Database) => Promise<T>): Promise<readonly [T, T]> {
  const [local, memory] = await Promise.all(
    Object.values(stores).map(async (db) => {
      const { $metadata: _, ...answer } = (await ask(db)) as Record<string, unknown>;
      const text = JSON.stringify(answer, (_name, value: unknown) =>
        value instanceof Set ? [...value] : typeof value === 'bigint' ? String(value) : value,
      );
      return JSON.parse(text.replaceAll(db.tables.entities, 'table')) as T;
    }),
  );
  if (local === undefined || memory === undefined) throw new Error('two stores give two answers');
  return [local, memory];
}

async function expectSame<T extends object>(ask: (db: Database) => Promise<T>): Promise<T> {
  const [local, memory] = await both(ask);
  expect(memory).toEqual(local);
  return memory;
}

const failure = (work: Promise<unknown>) =>
  work.then(
    () => ({ name: 'none' }),
    ({ name }: Error) => ({ name }),
  );

const SORT_KEYS = ['', 'a', 'a::b', 'aa', 'é', '\uffff', '𝄞', 'z', 'Z', '0', ' ', '~'];
const KEYS = SORT_KEYS.map((text) => `k${text}`);

async function put(db: Database, item: Readonly<Record<string, unknown>>, condition?: string) {
  return db.client.send(
    new PutCommand({
      TableName: db.tables.entities,
      Item: item,
      ReturnConsumedCapacity: 'TOTAL',
      ...(condition === undefined ? {} : { ConditionExpression: condition }),
    }),
  );
}

for (const db of Object.values(stores)) {
  const items = KEYS.map((sk, at) => ({
    pk: 'p',
    sk,
    ...(at % 3 === 0 ? {} : { gpkA: `g${at % 2}`, gskA: KEYS[(at * 7) % KEYS.length] }),
    ...(at % 4 === 0 ? { globalId: `id ${at % 8}` } : {}),
    name: `name ${at}`,
    lng: at / 3,
    lat: -at,
    m: { rank: at, open: at % 2 === 0, none: null, list: ['a', 1, { deep: true }] },
    other: 'x'.repeat(at * 400),
  }));
  const large = Array.from({ length: 20 }, (_, at) => ({ pk: 'large', sk: String(at), other: 'y'.repeat(100_000) }));
  for (const some of [items, large]) {
    const requests = some.map((Item) => ({ PutRequest: { Item } }));
    await db.client.send(new BatchWriteCommand({ RequestItems: { [db.tables.entities]: requests } }));
  }
}

const expectSameQuery = (input: Omit<QueryCommandInput, 'TableName'>) =>
  expectSame((db) =>
    db.client.send(new QueryCommand({ TableName: db.tables.entities, ReturnConsumedCapacity: 'TOTAL', ...input })),
  );

describe('the memory store gives the same answers as DynamoDB Local to', () => {
  test.each([
    ['a partition', 'pk = :pk', { ':pk': 'p' }],
    ['a partition that is empty', 'pk = :pk', { ':pk': 'nothing' }],
    ['keys between two others', 'pk = :pk AND sk BETWEEN :from AND :to', { ':pk': 'p', ':from': 'ka', ':to': 'k~' }],
    ['keys beyond one', 'pk = :pk AND sk > :after', { ':pk': 'p', ':after': 'kaa' }],
    ['keys before one', 'pk = :pk AND sk < :before', { ':pk': 'p', ':before': 'ké' }],
    ['one key', 'pk = :pk AND sk = :sk', { ':pk': 'p', ':sk': 'k𝄞' }],
  ])('a query of %s', async (_name, KeyConditionExpression, ExpressionAttributeValues) => {
    for (const ScanIndexForward of [true, false]) {
      for (const ConsistentRead of [true, false]) {
        await expectSameQuery({ KeyConditionExpression, ExpressionAttributeValues, ScanIndexForward, ConsistentRead });
      }
    }
  });

  test.each(['geoA', 'global'])('a query of the index %s, which does not contain all items', async (IndexName) => {
    const [hash, values] = IndexName === 'geoA' ? ['gpkA', ['g0', 'g1', 'g2']] : ['globalId', ['id 0', 'id 4']];
    for (const value of values) {
      await expectSameQuery({
        IndexName,
        KeyConditionExpression: '#hash = :hash',
        ExpressionAttributeNames: { '#hash': hash },
        ExpressionAttributeValues: { ':hash': value },
      });
    }
  });

  test('queries that are paged by number of items and by size', async () => {
    for (const [pk, Limit] of [
      ['p', 1],
      ['p', 4],
      ['p', KEYS.length],
      ['large', undefined],
      ['large', 15],
    ] as const) {
      for (const ScanIndexForward of [true, false]) {
        let after: Record<string, unknown> | undefined;
        do {
          const { LastEvaluatedKey: next } = (await expectSameQuery({
            KeyConditionExpression: 'pk = :pk',
            ExpressionAttributeValues: { ':pk': pk },
            ScanIndexForward,
            ...(Limit === undefined ? {} : { Limit }),
            ...(after === undefined ? {} : { ExclusiveStartKey: after }),
          })) as { LastEvaluatedKey?: Record<string, unknown> };
          after = next;
        } while (after !== undefined);
      }
    }
    await expectSameQuery({
      IndexName: 'geoA',
      KeyConditionExpression: 'gpkA = :pk AND gskA BETWEEN :from AND :to',
      ExpressionAttributeValues: { ':pk': 'g1', ':from': 'k', ':to': 'kz' },
      ExclusiveStartKey: { gpkA: 'g1', gskA: 'k0', pk: 'p', sk: 'never' },
      Limit: 2,
    });
  });

  test('projections and filters', async () => {
    const all = { KeyConditionExpression: 'pk = :pk', ExpressionAttributeValues: { ':pk': 'p' } };
    await expectSameQuery({ ...all, ProjectionExpression: 'sk, #n', ExpressionAttributeNames: { '#n': 'name' } });
    await expectSameQuery({
      ...all,
      ProjectionExpression: '#m.#r',
      ExpressionAttributeNames: { '#m': 'm', '#r': 'rank' },
    });
    for (const not of ['', 'not_']) {
      await expectSameQuery({
        ...all,
        FilterExpression: `attribute_${not}exists(#g)`,
        ExpressionAttributeNames: { '#g': 'globalId' },
        Limit: 5,
      });
    }
  });

  test('reads by key of existing and missing items', async () => {
    for (const sk of ['ka', 'kb']) {
      await expectSame((db) =>
        db.client.send(
          new GetCommand({ TableName: db.tables.entities, Key: { pk: 'p', sk }, ReturnConsumedCapacity: 'TOTAL' }),
        ),
      );
    }
    const batch = async (keys: readonly string[]) => {
      const [local, memory] = await both((db) => {
        const Keys = keys.map((sk) => ({ pk: 'p', sk }));
        const RequestItems = { [db.tables.entities]: { Keys, ConsistentRead: true } };
        return db.client.send(new BatchGetCommand({ RequestItems, ReturnConsumedCapacity: 'TOTAL' }));
      });
      const sorted = ({ Responses }: typeof local) =>
        (Responses?.['table'] ?? []).toSorted((a, b) => (String(a['sk']) < String(b['sk']) ? -1 : 1));
      expect(sorted(memory)).toEqual(sorted(local));
      expect(memory.ConsumedCapacity).toEqual(local.ConsumedCapacity);
    };
    await batch([...KEYS, 'kb']);
    const twice = { Keys: [KEYS[0], KEYS[0]].map((sk) => ({ pk: 'p', sk })) };
    await expectSame((db) =>
      failure(db.client.send(new BatchGetCommand({ RequestItems: { [db.tables.entities]: twice } }))),
    );
  });

  test('a scan, with every item once', async () => {
    const [local, memory] = await both(async ({ client, tables }) => {
      const { Items = [] } = await client.send(new ScanCommand({ TableName: tables.entities, IndexName: 'geoA' }));
      return { items: Items.toSorted((a, b) => (String(a['sk']) < String(b['sk']) ? -1 : 1)) };
    });
    expect(local.items.length).toBeGreaterThan(5);
    expect(memory).toEqual(local);
  });

  test('writes, and conditions that reject them', async () => {
    const item = { pk: 'w', sk: '1', gpkA: 'w', gskA: '1', name: 'first' };
    const isNew = 'attribute_not_exists(pk)';
    expect(await expectSame((db) => failure(put(db, item, isNew)))).toEqual({ name: 'none' });
    expect(await expectSame((db) => failure(put(db, item, isNew)))).toEqual({
      name: 'ConditionalCheckFailedException',
    });
    await expectSame((db) => failure(put(db, { ...item, gskA: '2', name: 'second' })));
    const transact = (sks: readonly string[]) =>
      expectSame((db) => {
        const TransactItems = sks.map((sk) => ({
          Put: { TableName: db.tables.entities, Item: { ...item, sk }, ConditionExpression: isNew },
        }));
        return failure(db.client.send(new TransactWriteCommand({ TransactItems })));
      });
    expect(await transact(['2', '3'])).toEqual({ name: 'none' });
    expect(await transact(['4', '2'])).toEqual({ name: 'TransactionCanceledException' });
    await expectSame((db) =>
      db.client.send(new DeleteCommand({ TableName: db.tables.entities, Key: { pk: 'w', sk: '3' } })),
    );
    await expectSameQuery({ KeyConditionExpression: 'pk = :pk', ExpressionAttributeValues: { ':pk': 'w' } });
    await expectSameQuery({
      IndexName: 'geoA',
      KeyConditionExpression: 'gpkA = :pk',
      ExpressionAttributeValues: { ':pk': 'w' },
    });
  });

  test('the statements that write cell blocks', async () => {
    const run = (statement: string, parameters: readonly unknown[]) =>
      expectSame(async (db) => {
        const Statement = statement.replace('TABLE', db.tables.derived);
        const { Responses = [] } = await db.client.send(
          new BatchExecuteStatementCommand({ Statements: [{ Statement, Parameters: [...parameters] }] }),
        );
        return { codes: Responses.map(({ Error: error }) => error?.Code ?? 'done') };
      });
    const insert = `INSERT INTO "TABLE" VALUE {'pk': ?, 'sk': ?, 'b': ?, 'na': ?}`;
    const update = `UPDATE "TABLE" SET "b" = ? SET "na" = ? SET "nb" = ? WHERE pk = ? AND sk = ? AND b = ?`;
    expect(await run(insert, ['c', '1', 1, 10])).toEqual({ codes: ['done'] });
    expect(await run(insert, ['c', '1', 1, 10])).toEqual({ codes: ['DuplicateItem'] });
    expect(await run(update, [2, 20, 30, 'c', '1', 1])).toEqual({ codes: ['done'] });
    expect(await run(update, [3, 20, 30, 'c', '1', 1])).toEqual({ codes: ['ConditionalCheckFailed'] });
    expect(await run(update, [3, 20, 30, 'c', 'nothing', 1])).toEqual({ codes: ['ConditionalCheckFailed'] });
    await expectSame(({ client, tables }) =>
      client.send(new GetCommand({ TableName: tables.derived, Key: { pk: 'c', sk: '1' }, ConsistentRead: true })),
    );
  });

  test('nothing that it does not support, which it rejects', async () => {
    const { client, tables } = stores.memory;
    const strange = { TableName: tables.entities, KeyConditionExpression: 'begins_with(pk, :pk)' };
    await expect(
      client.send(new QueryCommand({ ...strange, ExpressionAttributeValues: { ':pk': 'p' } })),
    ).rejects.toThrow('the memory store does not support');
    await expect(client.send(new QueryCommand({ ...strange, QueryFilter: {} }))).rejects.toThrow(
      'the memory store does not support',
    );
  });
});
