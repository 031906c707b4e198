import { once } from 'node:events';
import { connect, type Socket } from 'node:net';
import { setImmediate } from 'node:timers';
import { setTimeout as sleep } from 'node:timers/promises';
import { createClient } from 'graphql-ws';
import { afterEach, beforeAll, expect, test } from 'vitest';
import { WebSocket } from 'ws';

import { LiveHub } from '../../src/live/hub.js';
import { silentLog } from '../../src/log.js';
import type { Limits } from '../../src/model/limits.js';
import { markerRecord } from '../live/records.js';
import { collect, until } from '../live/support.js';
import { interceptCalls } from '../support/faults.js';
import { postQuery } from '../support/post-query.js';
import { recordCalls } from '../support/record-calls.js';
import { newDatabase, testCollection, testDatabase } from '../support/test-database.js';
import { startServer, type LiveServer } from './live-server.js';

const QUERY = '{collections {nodes {key}}}';
const CHANGED = 'subscription {markerChanged(collection: "parks") {kind}}';
/** As many as are never refused. */
const FEW = 64;

const db = await testDatabase();
const sockets: (WebSocket | Socket)[] = [];
let goOn = () => {};
let server: LiveServer;

beforeAll(async () => {
  await testCollection(db, { key: 'parks', name: 'Parks' }, '2026-11-21T10:00:00.000Z');
});
afterEach(async () => {
  goOn();
  for (const socket of sockets.splice(0)) {
    if ('terminate' in socket) socket.terminate();
    else socket.destroy();
  }
  await server.close();
});

/** A server whose queries are not answered until `goOn` is called. */
async function startHeld(limits: Partial<Limits> = {}, options: { readonly trustedProxies?: number } = {}) {
  const held = newDatabase('readable', { tables: db.tables });
  const recording = recordCalls(held);
  const wait = new Promise<void>((resolve) => {
    goOn = resolve;
  });
  interceptCalls(held, 'Query', async () => {
    await wait;
    return { Items: [], Count: 0 };
  });
  const hub = new LiveHub({ keys: db.keys, log: silentLog, clock: db.clock });
  hub.connected();
  server = await startServer(held, { live: hub, limits: { deadlineMs: 120_000, ...limits }, ...options });
  const gone = new AbortController();
  const asked: Promise<number>[] = [];
  const ask = async () => (await postQuery(server.url, QUERY, { signal: gone.signal })).status;
  return {
    hub,
    recording,
    ask,
    leave: () => gone.abort(),
    /** The status of each request so far. */
    answers: () => Promise.all(asked),
    /** Sends requests until one is refused. */
    fill: async () => {
      let refused = false;
      for (; !refused; await sleep(5)) {
        const status = ask();
        asked.push(status);
        void status.then(
          (code) => (refused ||= code === 503),
          () => undefined,
        );
      }
      return asked.length;
    },
  };
}

/** A WebSocket that has been acknowledged; what it has received, and how it was closed. */
async function openSocket() {
  const socket = new WebSocket(`${server.url.replace('http', 'ws')}/graphql`, 'graphql-transport-ws');
  sockets.push(socket);
  const messages: { type: string; id?: string; payload?: unknown }[] = [];
  const told = { socket, messages, closed: undefined as number | undefined };
  socket.on('message', (data: Buffer) => messages.push(JSON.parse(data.toString())));
  socket.on('close', (code) => {
    told.closed = code;
  });
  await once(socket, 'open');
  socket.send('{"type":"connection_init"}');
  await until(() => messages.length > 0);
  return told;
}

const subscribeTo = (query: string, id: string) => JSON.stringify({ type: 'subscribe', id, payload: { query } });

test('a full server refuses requests with 503 and Retry-After before it parses them; what it admitted, it answers', async () => {
  const { fill, answers } = await startHeld();
  expect(await fill()).toBeGreaterThan(FEW);
  const refused = await server.post(JSON.stringify({ query: QUERY }), { 'x-cellport-cost': '1' });
  expect([refused.status, refused.headers.get('retry-after'), await refused.json()]).toMatchObject([
    503,
    '1',
    { errors: [{ extensions: { code: 'UNAVAILABLE', retryAfterMs: 1_000 } }], extensions: { cost: { queries: 0 } } },
  ]);
  expect((await server.post('no JSON')).status).toBe(503);
  expect((await fetch(`${server.url}/graphql?query=nonsense`, { headers: { 'apollo-require-preflight': '1' } })).status).toBe(503); // prettier-ignore
  // Mutations have a line of their own.
  expect((await server.post('"mutation"')).status).toBe(400);
  expect((await fetch(`${server.url}/healthz`)).status).toBe(200);
  goOn();
  const statuses = await answers();
  expect(statuses.slice(0, FEW)).toEqual(Array.from({ length: FEW }, () => 200));
  expect(statuses.at(-1)).toBe(503);
});

test('clients that leave make room for others at once', async () => {
  const { fill, leave, answers } = await startHeld();
  await fill();
  leave();
  await answers().catch(() => undefined);
  const stream = async () => (await fetch(`${server.url}/graphql/stream?query=nonsense`)).status;
  await until(async () => (await Promise.race([stream(), sleep(1_000)])) !== 503);
  goOn();
  expect(await stream()).toBe(200);
});

test('a full server refuses event streams and handshakes, too', async () => {
  const { fill } = await startHeld();
  await fill();
  const stream = await fetch(`${server.url}/graphql/stream?query=nonsense`);
  expect([stream.status, stream.headers.get('retry-after'), await stream.json()]).toMatchObject([
    503,
    '1',
    { errors: [{ extensions: { code: 'UNAVAILABLE' } }] },
  ]);
  const socket = new WebSocket(`${server.url.replace('http', 'ws')}/graphql`, 'graphql-transport-ws');
  expect((await once(socket, 'close'))[0]).toBe(1013);
});

test('a subscription that a full server refuses gets an error, or a close code after which clients try again', async () => {
  const { fill, hub } = await startHeld();
  const [alone, other] = [await openSocket(), await openSocket()];
  other.socket.send(subscribeTo(CHANGED, 'first'));
  const emit = () => hub.take(markerRecord(db.keys, { sequence: String(Date.now()), key: 'a', after: [1, 1] }));
  await until(() => {
    emit();
    return other.messages.some(({ type }) => type === 'next');
  });
  const client = createClient({
    url: `${server.url.replace('http', 'ws')}/graphql`,
    webSocketImpl: WebSocket,
    lazy: false,
    retryAttempts: 100,
    retryWait: () => sleep(100),
  });
  const closes: unknown[] = [];
  client.on('closed', (event) => closes.push((event as { code: number }).code));
  await new Promise<void>((resolve) => void client.on('connected', () => resolve()));
  await fill();

  // Nor are documents validated before.
  alone.socket.send(subscribeTo('nonsense', '1'));
  other.socket.send(subscribeTo('nonsense', 'second'));
  const retrying = collect(client, CHANGED);
  await until(() => alone.closed !== undefined && other.messages.at(-1)?.type === 'error' && closes.length > 0);
  expect([alone.closed, closes[0]]).toEqual([1013, 1013]);
  expect(alone.messages.filter(({ type }) => type !== 'connection_ack')).toEqual([]);
  expect(other.messages.at(-1)).toMatchObject({
    id: 'second',
    payload: [{ extensions: { code: 'UNAVAILABLE', retryAfterMs: 1_000 } }],
  });
  // A message that would take long to parse is not parsed.
  other.socket.send(JSON.stringify({ type: 'x'.repeat(20_000) }));
  await until(() => other.closed !== undefined);
  expect(other.closed).toBe(1013);

  goOn();
  await until(() => {
    emit();
    return retrying.data.length > 0;
  });
  expect(retrying).toMatchObject({ errors: [], ended: undefined });
  await client.dispose();
});

test('bodies that have not arrived, or wait, take a limited amount of memory; small ones do not count', async () => {
  await startHeld({ maxBodyBytes: 20_000 });
  const { port } = new URL(server.url);
  const head = 'POST /graphql HTTP/1.1\r\nhost: localhost\r\ncontent-type: application/json\r\n';
  const start = async (length: string) => {
    const socket = connect(Number(port), '127.0.0.1');
    sockets.push(socket);
    await once(socket, 'connect');
    socket.write(`${head}${length}\r\n\r\n`);
    return socket;
  };
  const first = await start('content-length: 20000');
  for (let count = 1; count < FEW; count += 1) await start('transfer-encoding: chunked');
  const refusal = async () => {
    const [data] = (await once(await start('content-length: 20000'), 'data')) as [Buffer];
    return data.toString();
  };
  await until(async () => {
    const text = await Promise.race([refusal(), sleep(2_000)]);
    return text?.startsWith('HTTP/1.1 503') === true && /connection: close/i.test(text);
  });
  expect((await server.post('"mutation"')).status).toBe(400);
  first.destroy();
  await until(async () => (await server.post(' '.repeat(19_000))).status === 400);
});

test('a client that sends slowly takes a part of the memory for bodies, and leaves others theirs', async () => {
  await startHeld({ maxBodyBytes: 20_000 }, { trustedProxies: 1 });
  const { port } = new URL(server.url);
  const head = 'POST /graphql HTTP/1.1\r\nhost: localhost\r\ncontent-type: application/json\r\n';
  let refused = 0;
  for (let count = 0; count < FEW; count += 1) {
    const socket = connect(Number(port), '127.0.0.1');
    sockets.push(socket);
    socket.on('data', (data: Buffer) => (refused += Number(data.toString().startsWith('HTTP/1.1 503'))));
    await once(socket, 'connect');
    socket.write(`${head}x-forwarded-for: 192.0.2.1\r\ncontent-length: 20000\r\n\r\n`);
  }
  await until(() => refused >= (3 / 4) * FEW);
  expect(refused).toBe((3 / 4) * FEW);
  const large = ' '.repeat(19_000);
  expect((await server.post(large, { 'x-forwarded-for': '192.0.2.1' })).status).toBe(503);
  expect((await server.post(large, { 'x-forwarded-for': '192.0.2.2' })).status).toBe(400);
});

test('sockets that never say hello do not add up', async () => {
  await startHeld();
  const held: WebSocket[] = [];
  let refused = 0;
  while (refused === 0) {
    const socket = new WebSocket(`${server.url.replace('http', 'ws')}/graphql`, 'graphql-transport-ws');
    sockets.push(socket);
    socket.on('error', () => (refused += 1));
    await Promise.race([once(socket, 'open'), once(socket, 'close')]).catch(() => undefined);
    held.push(socket);
  }
  // They are closed if they wait longer.
  await until(() => held.every(({ readyState }) => readyState === WebSocket.CLOSED));
  expect((await openSocket()).messages).toMatchObject([{ type: 'connection_ack' }]);
});

test('many messages on one socket are handled one in each round of the event loop', async () => {
  await startHeld();
  const { socket, messages } = await openSocket();
  let rounds = 0;
  let next = setImmediate(function count() {
    rounds += 1;
    next = setImmediate(count);
  });
  for (let count = 0; count < 1_000; count += 1) socket.send('{"type":"ping"}');
  await until(() => messages.length > 1_000);
  clearImmediate(next);
  expect(rounds).toBeGreaterThanOrEqual(1_000);
});

test('readiness is checked once for all who ask at the same time', async () => {
  const { recording } = await startHeld();
  const socket = connect(Number(new URL(server.url).port), '127.0.0.1');
  sockets.push(socket);
  let text = '';
  socket.setEncoding('utf8').on('data', (piece: string) => (text += piece));
  socket.write('GET /readyz HTTP/1.1\r\nhost: localhost\r\n\r\n'.repeat(50));
  await until(() => recording.count('Query') > 0);
  goOn();
  await until(() => text.split('HTTP/1.1 200').length > 50);
  expect(recording.count('Query')).toBe(1);
});
