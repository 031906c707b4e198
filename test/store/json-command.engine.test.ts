import { DynamoDBClient, PutItemCommand } from '@aws-sdk/client-dynamodb';
import {
  DynamoDBDocumentClient,
  QueryCommand,
  type QueryCommandInput,
  type QueryCommandOutput,
} from '@aws-sdk/lib-dynamodb';
import { beforeAll, expect, test } from 'vitest';

import { systemClock } from '../../src/clock.js';
import { Scheduler } from '../../src/scheduling/scheduler.js';
import { newCall } from '../../src/store/database.js';
import { JsonCommand } from '../../src/store/request/json-command.js';
import { plainOperation } from '../../src/store/request/json-values.js';
import { send } from '../../src/store/request/send.js';
import { testDatabase } from '../support/test-database.js';

const db = await testDatabase();
const TableName = db.tables.entities;

const VALUES = {
  text: { S: 'é "quoted" \u2028 😀' },
  empty: { S: '' },
  number: { N: '-1.5e-7' },
  zero: { N: '0' },
  // More digits than a double has.
  long: { N: '12345678901234567890' },
  longFraction: { N: '1.2345678901234567890123' },
  yes: { BOOL: true },
  no: { BOOL: false },
  nothing: { NULL: true },
  bytes: { B: new Uint8Array([0, 255, 7]) },
  texts: { SS: ['a', 'b'] },
  numbers: { NS: ['1', '2.5', '9007199254740993'] },
  manyBytes: { BS: [new Uint8Array([1]), new Uint8Array([2, 3])] },
  list: { L: [{ S: 'a' }, { L: [] }, { M: { deep: { L: [{ NULL: true }] } } }] },
  map: { M: { S: { S: 'named as a type' }, empty: { M: {} }, '1': { N: '1' }, toString: { S: 'own' } } },
};

beforeAll(async () => {
  for (const sk of ['a', 'b', 'c']) {
    await db.client.send(new PutItemCommand({ TableName, Item: { pk: { S: 'p' }, sk: { S: sk }, ...VALUES } }));
  }
});

const all: QueryCommandInput = {
  TableName,
  KeyConditionExpression: 'pk = :pk',
  ExpressionAttributeValues: { ':pk': 'p' },
  ReturnConsumedCapacity: 'TOTAL',
};

/** A response without its request metadata. */
const answered = async (input: QueryCommandInput) => {
  const [ours, theirs] = [await send(newCall(db), 'query', input), await db.client.send(new QueryCommand(input))];
  return [ours, theirs].map(({ $metadata: { httpStatusCode }, ...rest }) => ({ ...rest, httpStatusCode }));
};

test('a Query returns what lib-dynamodb returns, for values of every type', async () => {
  for (const more of [{}, { Limit: 2 }, { Select: 'COUNT' as const }, { ExpressionAttributeValues: { ':pk': 'no' } }]) {
    const [ours, theirs] = await answered({ ...all, ...more });
    expect(ours).toEqual(theirs);
  }
  const [ours] = await answered({ ...all, Limit: 2 });
  expect(ours).toMatchObject({ Count: 2, LastEvaluatedKey: { pk: 'p', sk: 'b' }, ConsumedCapacity: { TableName } });
});

test('a page continues where the previous one ended', async () => {
  const { LastEvaluatedKey } = await send(newCall(db), 'query', { ...all, Limit: 1 });
  const { Items = [] } = await send(newCall(db), 'query', { ...all, ExclusiveStartKey: LastEvaluatedKey });
  expect(Items.map(({ sk }) => sk)).toEqual(['b', 'c']);
});

test('a rejected Query fails as usual', async () => {
  const wrong = send(newCall(db), 'query', { ...all, KeyConditionExpression: 'nonsense' });
  await expect(wrong).rejects.toMatchObject({ name: 'ValidationException' });
});

test('the items of a long response are converted in turns with other work', async () => {
  const { takeTurn } = new Scheduler(systemClock);
  const count = 2_048;
  // Long enough that 256 of them are never converted in a moment.
  const L = Array.from({ length: 100 }, (_, at) => ({ N: String(at) }));
  const Items = Array.from({ length: count }, (_, at) => ({ pk: { S: `p${at}` }, n: { L } }));
  let others = 0;
  let done = false;
  async function* body() {
    yield Buffer.from(JSON.stringify({ Count: count, Items }));
    others = 0;
  }
  const client = new DynamoDBClient({
    region: 'local',
    endpoint: 'http://127.0.0.1:1',
    credentials: { accessKeyId: 'a', secretAccessKey: 'b' },
    requestHandler: { handle: async () => ({ response: { statusCode: 200, headers: {}, body: body() } }) },
  });
  const other = async () => {
    for (; !done; others += 1) await takeTurn();
  };
  const working = other();
  const query = plainOperation<QueryCommandInput, QueryCommandOutput>('Query', QueryCommand);
  const command = new JsonCommand(query, { TableName: 't' }, takeTurn) as never;
  const answer: QueryCommandOutput = await DynamoDBDocumentClient.from(client).send(command);
  const between = others;
  done = true;
  await working;
  expect(answer.Items).toEqual(Items.map((_, at) => ({ pk: `p${at}`, n: L.map((_one, index) => index) })));
  // One turn for every 256 items at least.
  expect(between).toBeGreaterThanOrEqual(count / 256);
});
