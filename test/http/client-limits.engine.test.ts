import { once } from 'node:events';
import { createClient } from 'graphql-ws';
import { afterEach, beforeAll, expect, test } from 'vitest';
import { WebSocket } from 'ws';

import { LiveHub } from '../../src/live/hub.js';
import { silentLog } from '../../src/log.js';
import type { Limits } from '../../src/model/limits.js';
import { until } from '../live/support.js';
import { testCollection, testDatabase } from '../support/test-database.js';
import { startServer, type LiveServer } from './live-server.js';

const db = await testDatabase();
const [MINE, OTHERS] = ['198.51.100.1', '198.51.100.2'];
const STREAM = '/graphql/stream?query=subscription{markerChanged(collection:"parks"){kind}}';
let server: LiveServer;
let left = new AbortController();
const sockets: WebSocket[] = [];

beforeAll(async () => {
  await testCollection(db, { key: 'parks', name: 'Parks' });
});
afterEach(async () => {
  left.abort();
  left = new AbortController();
  for (const socket of sockets.splice(0)) socket.terminate();
  await server.close();
});

/** A server that trusts the proxy of this machine, or none. */
async function start(limits: Partial<Limits>, trustedProxies: number | readonly string[] = ['127.0.0.1', '::1']) {
  const live = new LiveHub({ keys: db.keys, log: silentLog, clock: db.clock });
  live.connected();
  server = await startServer(db, { limits, trustedProxies, live });
}

const get = (path: string, address: string) =>
  fetch(server.url + path, { headers: { 'x-forwarded-for': address }, signal: left.signal });

/** Resolves with `open`, the close code, or the HTTP status of the refusal. */
async function opens(address: string): Promise<'open' | number> {
  const socket = new WebSocket(`${server.url.replace('http', 'ws')}/graphql`, 'graphql-transport-ws', {
    headers: { 'x-forwarded-for': address },
  });
  sockets.push(socket);
  return new Promise((resolve) => {
    socket.on('error', () => undefined);
    socket.once('unexpected-response', (_request, response) => {
      expect(response.headers['retry-after']).toBe('5');
      resolve(response.statusCode ?? 0);
    });
    socket.once('close', resolve);
    // A refusal follows at once.
    socket.once('open', () => setTimeout(() => resolve('open'), 100));
  });
}

test('requests in progress of one address are limited, also behind a proxy, without those of others', async () => {
  await start({ connectionsPerAddress: 3 });
  const streams = await Promise.all([MINE, MINE, MINE].map((address) => get(STREAM, address)));
  expect(streams.map(({ status }) => status)).toEqual([200, 200, 200]);
  const refused = await get('/healthz', MINE);
  expect([refused.status, refused.headers.get('retry-after'), await refused.json()]).toMatchObject([
    429,
    '5',
    { errors: [{ extensions: { code: 'THROTTLED', retryAfterMs: 5_000 } }] },
  ]);
  expect(await opens(MINE)).toBe(1013);
  expect([(await get('/healthz', OTHERS)).status, await opens(OTHERS)]).toEqual([200, 'open']);
  expect(server.logged.map(({ message }) => message).join()).toContain('CELLPORT_TRUST_PROXY');
  left.abort();
  left = new AbortController();
  await until(async () => (await get('/healthz', MINE)).status === 200);
});

test('WebSockets count as connections until they close', async () => {
  await start({ connectionsPerAddress: 2 }, 1);
  expect([await opens(MINE), await opens(MINE), await opens(MINE)]).toEqual(['open', 'open', 1013]);
  for (const socket of sockets.splice(0)) socket.close();
  await until(async () => (await get('/healthz', MINE)).status === 200);
});

test('handshakes of an IPv6 network are limited until they are acknowledged', async () => {
  await start({ handshakesPerAddress: 2 });
  const address = '2001:db8::';
  expect(await Promise.all([opens(`${address}1`), opens(`${address}2`)])).toEqual(['open', 'open']);
  expect(await opens(`${address}3`)).toBe(1013);
  expect(await opens(OTHERS)).toBe('open');
  for (const socket of sockets.splice(0, 1)) {
    socket.send('{"type":"connection_init"}');
    await once(socket, 'message');
    sockets.push(socket);
  }
  expect(await opens(`${address}4`)).toBe('open');
});

test('new WebSockets of an address are limited in each minute, after which clients connect again by themselves', async () => {
  await start({ socketsPerMinute: 2 });
  const outcomes: unknown[] = [];
  for (let count = 0; count < 5; count += 1) outcomes.push(await opens(MINE));
  expect(outcomes).toEqual(['open', 'open', 1013, 1013, 429]);
  const codes: unknown[] = [];
  class Socket extends WebSocket {
    constructor(url: string, protocol: string) {
      super(url, protocol, { headers: { 'x-forwarded-for': OTHERS } });
      this.on('close', (code) => codes.push(code));
    }
  }
  for (const socket of [await opens(OTHERS), await opens(OTHERS)]) expect(socket).toBe('open');
  let retries = 0;
  const client = createClient({
    url: `${server.url.replace('http', 'ws')}/graphql`,
    webSocketImpl: Socket,
    lazy: false,
    retryWait: async () => void (retries += 1),
    retryAttempts: 1,
    onNonLazyError: () => undefined,
  });
  await until(() => codes.length === 2);
  expect([codes, retries]).toEqual([[1013, 1013], 1]);
  await client.dispose();
});

test('the machine itself has no limits, and without trusted proxies the header says nothing', async () => {
  await start({ connectionsPerAddress: 1, handshakesPerAddress: 1, socketsPerMinute: 1 }, 0);
  const outcomes = await Promise.all([opens(MINE), opens(MINE), opens(MINE)]);
  expect(outcomes).toEqual(['open', 'open', 'open']);
  expect((await get('/healthz', MINE)).status).toBe(200);
});
