import { once } from 'node:events';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { WebSocket } from 'ws';

import { LiveHub } from '../../src/live/hub.js';
import { silentLog } from '../../src/log.js';
import { ATTACKS, bodyOf } from '../graphql/attacks/documents.js';
import { memoryDatabase } from '../support/memory-store.js';
import { startServer, type LiveServer } from './live-server.js';

const db = memoryDatabase();
let server: LiveServer;
beforeAll(async () => {
  const live = new LiveHub({ keys: db.keys, log: silentLog, clock: db.clock });
  // Follows no stream, because nothing changes here.
  server = await startServer(db, { live: Object.assign(live, { recentFrom: async () => undefined }) });
});
afterAll(() => server.close());

interface Answer {
  readonly errors?: readonly { readonly message: string; readonly extensions: { readonly code: string } }[];
}

/** Asserts that a response has a reason, and neither repeats the input nor reveals a bug of ours. */
function expectReason(text: string): void {
  expect(text.length).toBeLessThan(100_000);
  const { errors = [] } = JSON.parse(text) as Answer;
  expect(errors.map(({ extensions: { code } }) => code)).not.toContain('INTERNAL_SERVER_ERROR');
  expect(server.logged.filter(({ level }) => level === 'error')).toEqual([]);
}

/** A body of 4 MB holds no document of 4 MB. */
const SENDABLE = ATTACKS.filter(({ name }) => !name.includes(' 4 MB'));

describe.each(SENDABLE)('$name', (attack) => {
  test('by POST is answered with its reason', async () => {
    const response = await server.post(bodyOf(attack));
    expect([200, 400, 413]).toContain(response.status);
    expectReason(await response.text());
  });
});

const deep = (depth: number) => '['.repeat(depth) + ']'.repeat(depth);

test.each([
  ['a polygon', 5_000, 'query ($value: GeoJSON!) {collection(key: "a") {inside(polygon: $value) {edges {cursor}}}}'],
  [
    'a filter',
    50_000,
    'query ($value: JSON) {collection(key: "a") {markers(filter: {properties: [{name: "a", eq: $value}]}) {edges {cursor}}}}',
  ],
  ['a variable that no operation has', 200_000, '{__typename}'],
])('%s nested %i deep is BAD_USER_INPUT with its path', async (_name, depth, query) => {
  const response = await server.post(`{"query":${JSON.stringify(query)},"variables":{"value":${deep(depth)}}}`);
  const text = await response.text();
  expectReason(text);
  expect([response.status, (JSON.parse(text) as Answer).errors]).toMatchObject([
    400,
    [
      {
        message: expect.stringMatching(/^value(\.coordinates)?(\[0\])+ must be nested at most 64 levels deep/),
        extensions: { code: 'BAD_USER_INPUT' },
      },
    ],
  ]);
});

test('a literal nested deeper than the limit for variables is rejected, too', async () => {
  const { errors } = await server.ask(
    `{collection(key: "a") {markers(filter: {properties: [{name: "a", eq: ${deep(66)}}]}) {edges {cursor}}}}`,
  );
  expect(errors).toMatchObject([{ message: expect.stringContaining('nested at most 64 levels deep') }]);
});

test('a response lists 100 errors, and the number of others', async () => {
  const fields = Array.from({ length: 150 }, (_, at) => `a${at}: cell(collection: "nobody", geohash: "u0") {count}`);
  const { errors } = await server.ask(`{${fields.join(' ')}}`);
  expect(errors).toHaveLength(101);
  expect(errors[99]).toMatchObject({ path: ['a99'], extensions: { code: 'NOT_FOUND' } });
  expect(errors[100]?.message).toBe('number of errors is 150, the limit is 100: 50 more were omitted');
});

test('a response that would be too long is refused with its limit, and the next one is sent', async () => {
  const small = await startServer(db, { limits: { maxAnswerBytes: 100_000 } });
  const fields = Array.from(
    { length: 190 },
    (_, at) => `a${at}: __type(name: "Query") {${'description '.repeat(2)} fields {description}}`,
  );
  const answer = await small.ask(`{${fields.join(' ')}}`);
  expect(answer).toMatchObject({
    status: 400,
    data: undefined,
    errors: [{ extensions: { code: 'LIMIT_EXCEEDED', field: 'size of the answer', limit: 100_000 } }],
  });
  expect((await small.ask('{__typename}')).data).toEqual({ __typename: 'Query' });
  await small.close();
});

test('a path, a content type and a key are repeated only in part', async () => {
  const long = 'x'.repeat(8_000);
  for (const response of [
    await fetch(`${server.url}/${long}`),
    await server.post('{}', { 'content-type': `a/${long}` }),
    await server.post(JSON.stringify({ query: `{cell(collection: "${long}", geohash: "u0") {count}}` })),
  ]) {
    const text = await response.text();
    expect(text).toMatch('…');
    expect(text.length).toBeLessThan(2_500);
  }
});

const stream = (query: string, variables = '') =>
  fetch(`${server.url}/graphql/stream?query=${encodeURIComponent(query)}&variables=${encodeURIComponent(variables)}`);

describe('an event stream', () => {
  test.each(['[', '[]', '1', '"a"', 'null', '', '{"a":', deep(1_000)])(
    'with the variables %s is answered',
    async (variables) => {
      const response = await stream('a', variables);
      expect(response.status).toBe(200);
      const [, data = ''] = /data: (.*)\n/.exec(await response.text()) ?? [];
      expectReason(data);
    },
  );

  test('enforces the limits of documents and variables', async () => {
    const post = async (body: string) => {
      const response = await fetch(`${server.url}/graphql/stream`, {
        method: 'POST',
        headers: { 'content-type': 'application/json' },
        body,
      });
      return response.text();
    };
    expect(await post(JSON.stringify({ query: `{a}#${'x'.repeat(70_000)}` }))).toContain('size of the query');
    const SUBSCRIPTION = 'subscription ($since: DateTime) {markerChanged(collection: "a", since: $since) {id}}';
    expect(await post(`{"query":${JSON.stringify(SUBSCRIPTION)},"variables":{"since":${deep(1_000)}}}`)).toContain(
      'at most 64 levels',
    );
    expect(
      await post(JSON.stringify({ query: SUBSCRIPTION, variables: { since: 'x'.repeat(1_000_000) } })).then(
        (text) => text.length,
      ),
    ).toBeLessThan(3_000);
  });
});

describe('a WebSocket', () => {
  const connect = async () => {
    const socket = new WebSocket(server.url.replace('http', 'ws') + '/graphql', 'graphql-transport-ws');
    await once(socket, 'open');
    const received: string[] = [];
    socket.on('message', (data: Buffer) => received.push(data.toString()));
    socket.send('{"type":"connection_init"}');
    await expect.poll(() => received.length).toBe(1);
    return { socket, received };
  };

  test('answers each attack with its reason', async () => {
    const { socket, received } = await connect();
    for (const attack of SENDABLE) {
      const before = received.length;
      socket.send(`{"type":"subscribe","id":"1","payload":${bodyOf(attack)}}`);
      await expect
        .poll(() => received.slice(before).join(''), { timeout: 30_000 })
        .toMatch(/"type":"(error|complete)"/);
      const { type, payload } = JSON.parse(received[before] ?? '') as { type: string; payload: unknown };
      expectReason(JSON.stringify(type === 'next' ? payload : { errors: payload }));
    }
    socket.terminate();
  });

  test.each([
    ['an id of 100,000 characters twice', (id: string) => [id, id]],
    ['a message that only servers send', () => ['{"type":"next","id":"1","payload":{}}']],
    ['a ping with a payload nested 100,000 deep', () => [`{"type":"ping","payload":{"a":${deep(100_000)}}}`]],
  ])('survives %s', async (_name, messages) => {
    const { socket } = await connect();
    const SUBSCRIBE = `{"type":"subscribe","id":"${'x'.repeat(100_000)}","payload":{"query":"subscription {markerChanged(collection: \\"a\\") {id}}"}}`;
    for (const message of messages(SUBSCRIBE)) socket.send(message);
    // Answered when all messages have been read.
    socket.ping();
    await Promise.race([once(socket, 'close'), once(socket, 'pong')]);
    expect(server.logged.filter(({ level }) => level === 'error')).toEqual([]);
    socket.terminate();
  });
});
