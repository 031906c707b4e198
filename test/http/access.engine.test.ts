import { request } from 'node:http';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { WebSocket } from 'ws';

import { checkReach } from '../../src/loopback.js';
import { testDatabase } from '../support/test-database.js';
import { startServer, type LiveServer } from './live-server.js';

const db = await testDatabase();
const CREATE = (key: string) => `mutation {createCollection(input: {key: "${key}", name: "A"}) {key}}`;

/** Sends a request with any `Host`, which fetch does not allow. */
function sendAs(
  server: LiveServer,
  host: string,
  path: string,
  query?: string,
): Promise<{ status: number; text: string }> {
  return new Promise((resolve, reject) => {
    const headers = { host, 'content-type': 'application/json' };
    const sent = request(server.url + path, { method: query === undefined ? 'GET' : 'POST', headers }, (response) => {
      let text = '';
      response.setEncoding('utf8').on('data', (piece: string) => (text += piece));
      response.on('end', () => resolve({ status: response.statusCode ?? 0, text }));
    });
    sent.on('error', reject);
    sent.end(query === undefined ? undefined : JSON.stringify({ query }));
  });
}

function opens(server: LiveServer, host: string): Promise<boolean> {
  const socket = new WebSocket(`${server.url.replace('http', 'ws')}/graphql`, 'graphql-transport-ws', {
    headers: { host },
  });
  return new Promise((resolve) => {
    socket.once('error', () => resolve(false));
    socket.once('open', () => {
      socket.terminate();
      resolve(true);
    });
  });
}

describe.each([
  {
    options: {},
    welcome: [
      'localhost',
      'LOCALHOST:4000',
      'localhost.:1',
      'maps.localhost',
      '127.0.0.1:80',
      '127.1.2.3',
      '[::1]:4000',
    ],
    unwelcome: [
      'evil.example',
      'localhost.evil.example',
      '10.0.0.1',
      'evil.example#localhost',
      'a@localhost',
      '127.0.0.1.nip.io',
    ],
  },
  {
    options: { host: '0.0.0.0', allowedHosts: ['maps.example.org', '.lan'] },
    welcome: ['localhost', '10.0.0.1:4000', '[fe80::1]', 'maps.example.org:80', 'Maps.Example.Org', 'a.lan', 'lan'],
    unwelcome: ['evil.example', 'a.maps.example.org', 'evillan', '10.0.0.1.nip.io'],
  },
  { options: { host: 'box' }, welcome: ['box:4000', 'localhost'], unwelcome: ['box.evil.example'] },
  { options: { allowedHosts: ['*'] }, welcome: ['evil.example'], unwelcome: [] },
])('a server with $options', ({ options, welcome, unwelcome }) => {
  let server: LiveServer;
  beforeAll(async () => {
    server = await startServer(db, options);
  });
  afterAll(() => server.close());

  test.each(welcome)('accepts the host name %s', async (host) => {
    expect((await sendAs(server, host, '/healthz')).status).toBe(200);
    expect((await sendAs(server, host, '/graphql', '{__typename}')).status).toBe(200);
    expect(await opens(server, host)).toBe(true);
  });

  test.each(unwelcome)('rejects the host name %s', async (host) => {
    for (const [path, query] of [
      ['/graphql', CREATE('rebound')],
      ['/graphql/stream?query=subscription{none}'],
      ['/'],
      ['/readyz'],
    ] as const) {
      const { status, text } = await sendAs(server, host, path, query);
      expect([status, JSON.parse(text)]).toMatchObject([
        403,
        { errors: [{ message: expect.stringContaining('CELLPORT_ALLOWED_HOSTS'), extensions: { code: 'FORBIDDEN' } }] },
      ]);
    }
    expect(await opens(server, host)).toBe(false);
    expect((await server.ask('{collection(key: "rebound") {key}}')).data).toEqual({ collection: null });
  });
});

describe('a page of another site', () => {
  let server: LiveServer;
  beforeAll(async () => {
    server = await startServer(db, { allowedOrigins: ['https://maps.example.org'] });
  });
  afterAll(() => server.close());

  test.each(['https://evil.example', 'null', 'http://localhost:1'])(
    'at %s changes nothing and starts no event stream',
    async (origin) => {
      const { status, errors } = await server.ask(CREATE('foreign'), {}, { origin });
      expect([status, errors]).toMatchObject([
        403,
        [{ message: expect.stringContaining('CELLPORT_ALLOWED_ORIGINS'), extensions: { code: 'FORBIDDEN' } }],
      ]);
      const stream = await fetch(`${server.url}/graphql/stream?query=subscription{none}`, { headers: { origin } });
      expect([stream.status, await stream.json()]).toMatchObject([
        403,
        { errors: [{ extensions: { code: 'FORBIDDEN' } }] },
      ]);
      expect((await server.ask('{collection(key: "foreign") {key}}')).data).toEqual({ collection: null });
    },
  );

  test('that is allowed, or belongs to this server, may change data', async () => {
    const own = new URL(server.url).origin;
    for (const [key, origin] of [
      ['friend', 'https://maps.example.org'],
      ['own', own],
    ] as const) {
      expect((await server.ask(CREATE(key), {}, { origin })).errors).toEqual([]);
    }
  });
});

test('a server that is reachable from other machines is refused, unless it is read-only or says what is wanted', () => {
  const open = { auth: undefined, readOnly: false };
  for (const host of ['127.0.0.1', '127.1.2.3', 'localhost', '::1']) checkReach(host, open);
  for (const host of ['0.0.0.0', '::', '10.0.0.1', 'box']) {
    expect(() => checkReach(host, open)).toThrow(
      /^HOST is .*CELLPORT_AUTH=on .*CELLPORT_READ_ONLY=on .*CELLPORT_AUTH=off/,
    );
    for (const said of [{ auth: true }, { auth: false }, { readOnly: true }]) checkReach(host, { ...open, ...said });
  }
});

test('a read-only server refuses every mutation, and answers queries', async () => {
  const server = await startServer(db, { readOnly: true });
  const { status, errors, data } = await server.ask(
    `query Q {__typename} ${CREATE('refused').replace('mutation', 'mutation M')}`,
  );
  expect([status, data, errors]).toMatchObject([400, undefined, [{ extensions: { code: 'BAD_USER_INPUT' } }]]);
  const refused = await server.ask(CREATE('refused'));
  expect([refused.status, refused.errors]).toMatchObject([
    403,
    [{ message: expect.stringContaining('CELLPORT_READ_ONLY'), extensions: { code: 'FORBIDDEN' } }],
  ]);
  expect((await server.ask('{collection(key: "refused") {key}}')).data).toEqual({ collection: null });
  await server.close();
});

test('a server with explanations turned off ignores the headers that request costs and reads', async () => {
  const headers = { 'x-cellport-cost': '1', 'x-cellport-explain': '1' };
  for (const explain of [true, false]) {
    const server = await startServer(db, { explain });
    const asked = await server.ask('{collections {nodes {key}}}', {}, headers);
    expect(asked.extensions === undefined).toBe(!explain);
    expect((await (await server.post('nonsense', headers)).text()).includes('"cost"')).toBe(explain);
    await server.close();
  }
});
