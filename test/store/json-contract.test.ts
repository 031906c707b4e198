import { Readable } from 'node:stream';
import * as aws from '@aws-sdk/client-dynamodb';
import { GetRecordsCommand } from '@aws-sdk/client-dynamodb-streams';
import * as lib from '@aws-sdk/lib-dynamodb';
import { describe, expect, test } from 'vitest';

import { createDatabase } from '../../src/store/create-database.js';
import { newCall } from '../../src/store/database.js';
import { send, type Operation, type Operations } from '../../src/store/request/send.js';
import { createStreamsClient, openTableStream } from '../../src/stream/source/dynamodb.js';
import { newMemoryDatabase } from '../support/memory-store.js';

/** The request of an HTTP client of the SDK. */
interface Sent {
  readonly method: string;
  readonly protocol: string;
  readonly hostname: string;
  readonly port?: number;
  readonly path: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string | Uint8Array;
}

interface Given {
  readonly statusCode: number;
  readonly headers?: Readonly<Record<string, string>>;
  readonly body: unknown;
}

const VALUE = {
  text: 'é "quoted" \u2028 😀',
  bytes: new Uint8Array([0, 255, 7]),
  number: -1.5e-7,
  whole: 12_345_678_901_234_567_890n,
  yes: true,
  nothing: null,
  list: ['a', [], { deep: [null] }],
  texts: new Set(['a', 'b']),
  numbers: new Set([1, 2.5]),
  manyBytes: new Set([new Uint8Array([1]), new Uint8Array([2, 3])]),
};
const KEY = { pk: 'p', sk: new Uint8Array([1, 2]) };
const WIRE_KEY = { pk: { S: 'p' }, sk: { N: '7' } };
const WIRE_VALUE = { B: 'AQID' };

/** An input of each operation, the SDK's command, and an answer. */
const OPERATIONS: { [K in Operation]: [Operations[K]['input'], new (input: never) => object, object] } = {
  get: [{ TableName: 'table', Key: KEY, ConsistentRead: true }, lib.GetCommand, { Item: { a: WIRE_VALUE } }],
  batchGet: [
    { RequestItems: { table: { Keys: [KEY], ExpressionAttributeNames: { '#a': 'a' }, ProjectionExpression: '#a' } } },
    lib.BatchGetCommand,
    { Responses: { table: [{ a: { S: 'x' }, b: WIRE_VALUE }] }, UnprocessedKeys: { table: { Keys: [WIRE_KEY] } } },
  ],
  wireBatchGet: [{ RequestItems: { table: { Keys: [WIRE_KEY] } } }, aws.BatchGetItemCommand, { Responses: {} }],
  query: [
    { TableName: 'table', ExpressionAttributeValues: { ':a': VALUE }, ExclusiveStartKey: KEY, Limit: 3 },
    lib.QueryCommand,
    { Items: [{ a: WIRE_VALUE, b: { N: '1' } }], Count: 1, ScannedCount: 2, LastEvaluatedKey: WIRE_KEY },
  ],
  wireQuery: [
    { TableName: 'table', ExpressionAttributeValues: { ':a': { S: 'x' } }, ExclusiveStartKey: WIRE_KEY },
    aws.QueryCommand,
    { Items: [WIRE_KEY], Count: 1, LastEvaluatedKey: WIRE_KEY },
  ],
  scan: [{ TableName: 'table', ExclusiveStartKey: KEY }, lib.ScanCommand, { Items: [{ a: { L: [WIRE_VALUE] } }] }],
  wireScan: [{ TableName: 'table', Segment: 0, TotalSegments: 2 }, aws.ScanCommand, { Items: [WIRE_KEY], Count: 1 }],
  put: [{ TableName: 'table', Item: { ...KEY, ...VALUE }, ConditionExpression: 'a = b' }, lib.PutCommand, {}],
  update: [
    { TableName: 'table', Key: KEY, UpdateExpression: 'SET a = :a', ExpressionAttributeValues: { ':a': VALUE } },
    lib.UpdateCommand,
    { Attributes: { a: { M: { b: WIRE_VALUE } } } },
  ],
  delete: [{ TableName: 'table', Key: KEY, ReturnValues: 'ALL_OLD' }, lib.DeleteCommand, { Attributes: WIRE_KEY }],
  batchWrite: [
    { RequestItems: { table: [{ PutRequest: { Item: VALUE } }, { DeleteRequest: { Key: KEY } }] } },
    lib.BatchWriteCommand,
    { UnprocessedItems: { table: [{ DeleteRequest: { Key: WIRE_KEY } }] } },
  ],
  transactWrite: [
    {
      ClientRequestToken: 'token',
      TransactItems: [
        { Put: { TableName: 'table', Item: VALUE } },
        { ConditionCheck: { TableName: 'table', Key: KEY, ConditionExpression: 'a = b' } },
      ],
    },
    lib.TransactWriteCommand,
    {},
  ],
  batchExecute: [
    { Statements: [{ Statement: 'DELETE', Parameters: [VALUE, 'x', KEY.sk] }] },
    lib.BatchExecuteStatementCommand,
    { Responses: [{ Error: { Code: 'ConditionalCheckFailed', Message: 'no' } }, { Item: WIRE_KEY, TableName: 't' }] },
  ],
};

/** Sends an operation as Cellport does and as the SDK does. Gives the requests, and the answers or errors. */
async function both(operation: Operation, { statusCode, headers = {}, body }: Given, more: object = {}) {
  const text = typeof body === 'string' ? body : JSON.stringify(body);
  const requests: Sent[] = [];
  const database = createDatabase({
    tables: { entities: 'entities', derived: 'derived' },
    keyStyle: 'readable',
    region: 'eu-west-1',
    credentials: { accessKeyId: 'id', secretAccessKey: 'secret' },
  });
  const handle = async (request: Sent) => {
    requests.push(request);
    return { response: { statusCode, headers, body: Readable.from([Buffer.from(text)]) } };
  };
  const retryStrategy = {
    acquireInitialRetryToken: async () => ({}),
    refreshRetryTokenForRetry: () => Promise.reject(new Error('none')),
    recordSuccess: () => undefined,
  };
  Object.assign(database.client.config, {
    requestHandler: { handle, destroy: () => undefined },
    retryStrategy: async () => retryStrategy,
    ...more,
  });
  const [input, Command] = OPERATIONS[operation];
  const outcome = (answer: Promise<object>) =>
    answer.then(
      (output: object) => ({ output: { ...output, $metadata: undefined } }),
      (error: Error & { cause?: Error }) => {
        const { name, message, $fault, $metadata, CancellationReasons, Item } = (error.cause ?? error) as never as {
          [name: string]: unknown;
        };
        const { httpStatusCode } = $metadata as { httpStatusCode: number };
        return { failure: { name, message, $fault, httpStatusCode, CancellationReasons, Item } };
      },
    );
  const call = { ...newCall(database), unpriced: true };
  const ours = await outcome(send(call, operation, input as never));
  const theirs = await outcome(database.client.send(new Command(input as never) as never) as Promise<object>);
  return { requests, ours, theirs };
}

/** What matters of a request: all but what differs each time, or says which library sends it. */
function essence({ method, protocol, hostname, port, path, headers, body }: Sent) {
  const { 'content-type': type, 'x-amz-target': target, host, authorization = '' } = headers;
  const scope = authorization.replace(/, SignedHeaders.*/, '').replace(/\d{8}/, 'date');
  const json = JSON.parse(Buffer.from(body as string).toString()) as unknown;
  const complete = Number(headers['content-length']) === Buffer.byteLength(body as string);
  return { method, protocol, hostname, port, path, type, target, host, scope, json, complete };
}

/** The SDK has bytes where items in wire format have base64. */
const base64 = (value: unknown): unknown =>
  JSON.parse(
    JSON.stringify(value, (_, part: unknown) =>
      part instanceof Uint8Array ? Buffer.from(part).toString('base64') : part,
    ),
  );

const names = Object.keys(OPERATIONS) as Operation[];

describe('what the SDK sends and reads', () => {
  test.each(names)('%s', async (operation) => {
    const { requests, ours, theirs } = await both(operation, { statusCode: 200, body: OPERATIONS[operation][2] });
    expect(requests).toHaveLength(2);
    const [one, other] = requests.map(essence);
    expect(one).toEqual(other);
    expect(requests[0]?.headers['user-agent']).toBe('cellport');
    expect(one).toMatchObject({ hostname: 'dynamodb.eu-west-1.amazonaws.com', protocol: 'https:', complete: true });
    if (operation.startsWith('wire')) expect(ours).toEqual({ output: base64((theirs as { output: object }).output) });
    else expect(ours).toEqual(theirs);
  });

  test.each([
    { statusCode: 400, body: { __type: 'com.amazonaws.dynamodb.v20120810#ValidationException', message: 'wrong' } },
    {
      statusCode: 400,
      body: {
        __type: 'com.amazonaws.dynamodb.v20120810#ConditionalCheckFailedException',
        message: 'The conditional request failed',
        Item: { a: { S: 'x' } },
      },
    },
    {
      statusCode: 400,
      body: {
        __type: 'com.amazonaws.dynamodb.v20120810#TransactionCanceledException',
        Message: 'cancelled',
        CancellationReasons: [{ Code: 'None' }, { Code: 'ConditionalCheckFailed', Message: 'no' }],
      },
    },
    { statusCode: 400, body: { __type: 'com.amazon.coral.service#UnrecognizedClientException:', message: 'who' } },
    { statusCode: 400, body: { __type: 'ThrottlingException', message: 'slowly' } },
    { statusCode: 500, body: { __type: 'com.amazonaws.dynamodb.v20120810#InternalServerError', message: 'oh' } },
  ])('the error $body.__type', async (given) => {
    const { ours, theirs } = await both('put', given);
    expect(ours).toEqual(theirs);
    expect(ours).toMatchObject({ failure: { httpStatusCode: given.statusCode } });
  });

  test('an error of a proxy', async () => {
    const { ours } = await both('query', { statusCode: 503, body: '<html>busy</html>' });
    expect(ours).toEqual({ failure: expect.objectContaining({ httpStatusCode: 503, $fault: 'server' }) });
  });

  test.each([
    ['useFipsEndpoint', 'dynamodb-fips.eu-west-1.amazonaws.com'],
    ['useDualstackEndpoint', 'dynamodb.eu-west-1.api.aws'],
  ])('the endpoint with %s', async (setting, hostname) => {
    const { requests } = await both('query', { statusCode: 200, body: {} }, { [setting]: async () => true });
    expect(requests.map((request) => request.hostname)).toEqual([hostname, hostname]);
  });
});

test('the clock of a machine that is wrong is corrected', async () => {
  const clock = Date.now() + 3_600_000;
  const headers = { date: new Date(clock).toUTCString() };
  const refused = { __type: 'com.amazon.coral.service#InvalidSignatureException', message: 'Signature expired' };
  const { requests } = await both('query', { statusCode: 400, headers, body: refused });
  const dates = requests.map(({ headers: { 'x-amz-date': date = '' } }) =>
    Date.parse(date.replace(/(....)(..)(..T..)(..)/, '$1-$2-$3:$4:')),
  );
  expect(Math.abs((dates[1] ?? 0) - clock)).toBeLessThan(60_000);
});

test('a region that cannot be read for a moment fails no later command', async () => {
  let asked = 0;
  const region = () => (asked++ === 0 ? Promise.reject(new Error('not yet')) : Promise.resolve('eu-west-1'));
  const client = createStreamsClient({ region, credentials: { accessKeyId: 'id', secretAccessKey: 'secret' } });
  const body = '{"Records":[]}';
  const handle = async () => ({ response: { statusCode: 200, headers: {}, body: Readable.from([Buffer.from(body)]) } });
  Object.assign(client.config, { requestHandler: { handle } });
  const stream = openTableStream(newMemoryDatabase(), 'table', client);
  await expect(stream.readRecords('iterator')).rejects.toThrow('not yet');
  expect(await stream.readRecords('iterator')).toMatchObject({ records: [] });
});

test('records of a stream are asked for like the SDK does', async () => {
  const requests: Sent[] = [];
  const body = {
    Records: [{ eventName: 'INSERT', dynamodb: { SequenceNumber: '1', Keys: WIRE_KEY } }],
    NextShardIterator: 'next',
  };
  const client = createStreamsClient({
    region: 'eu-west-1',
    credentials: { accessKeyId: 'id', secretAccessKey: 'secret' },
  });
  const handle = async (request: Sent) => {
    requests.push(request);
    return { response: { statusCode: 200, headers: {}, body: Readable.from([Buffer.from(JSON.stringify(body))]) } };
  };
  Object.assign(client.config, { requestHandler: { handle } });
  const database = newMemoryDatabase();
  const read = await openTableStream(database, 'table', client).readRecords('iterator');
  expect(read).toMatchObject({ next: 'next', records: [{ sequence: '1', keys: WIRE_KEY }] });
  await client.send(new GetRecordsCommand({ ShardIterator: 'iterator', Limit: 1_000 }));
  const [one, other] = requests.map(essence);
  expect(one).toEqual(other);
  expect(one?.hostname).toBe('streams.dynamodb.eu-west-1.amazonaws.com');
});
