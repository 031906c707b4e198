import { once } from 'node:events';
import { afterEach, beforeAll, expect, test } from 'vitest';
import { WebSocket } from 'ws';

import { LiveHub } from '../../src/live/hub.js';
import { silentLog } from '../../src/log.js';
import type { Limits } from '../../src/model/limits.js';
import { markerRecord } from '../live/records.js';
import { collect, until, websocketClient, type Data } from '../live/support.js';
import { postQuery } from '../support/post-query.js';
import { testCollection, testDatabase } from '../support/test-database.js';
import { startServer, type LiveServer } from './live-server.js';

const db = await testDatabase();
let server: LiveServer | undefined;

beforeAll(async () => {
  await testCollection(db, { key: 'parks', name: 'Parks' }, '2026-11-21T10:00:00.000Z');
});
afterEach(async () => {
  await server?.close();
  server = undefined;
});

/** A server whose changes come from the test. */
async function startWith(limits: Partial<Limits> = {}, values = 20) {
  const queueLimits = { values, bytes: 100 * 1024 * 1024, allBytes: 100 * 1024 * 1024 };
  const hub = new LiveHub({ keys: db.keys, log: silentLog, clock: db.clock, queueLimits });
  hub.connected();
  server = await startServer(db, { live: hub, limits });
  return { hub, server };
}

const QUERY = 'subscription { markerChanged(collection: "parks") { kind marker { key properties } } }';
const TEXT = 'x'.repeat(300_000);

const SENT = 200;
/** Far more than the buffers in between hold, one at a time, as a client that keeps up would get them. */
async function flood(hub: Awaited<ReturnType<typeof startWith>>['hub']): Promise<void> {
  for (let n = 0; n < SENT; n += 1) {
    hub.take(
      markerRecord(db.keys, { sequence: String(n + 1), key: `m${n}`, after: [1, 1], properties: { text: TEXT } }),
    );
    await new Promise((resolve) => setTimeout(resolve, 2));
  }
}

test('a client that does not read is disconnected with a reason, and never queues more than the limit', async () => {
  const {
    hub,
    server: { url },
  } = await startWith();
  const socket = new WebSocket(`${url.replace('http', 'ws')}/graphql`, 'graphql-transport-ws');
  const messages: { type: string; payload?: Data }[] = [];
  socket.on('message', (data: Buffer) => messages.push(JSON.parse(data.toString())));
  await once(socket, 'open');
  socket.send(JSON.stringify({ type: 'connection_init' }));
  await until(() => messages.length > 0);
  socket.send(JSON.stringify({ type: 'subscribe', id: '1', payload: { query: QUERY } }));
  await until(() => {
    hub.take(markerRecord(db.keys, { sequence: String(Date.now()), key: 'first', after: [1, 1] }));
    return messages.length > 1;
  });

  socket.pause();
  await flood(hub);
  socket.resume();
  await until(() => messages.at(-1)?.type === 'complete');
  const told = messages.filter(({ payload }) => payload?.['data']?.markerChanged.marker.key.startsWith('m'));
  expect(told.length).toBeLessThan(SENT);
  // In order, with none missing before the end.
  expect(told.map(({ payload }) => payload?.['data'].markerChanged.marker.key)).toEqual(told.map((_, n) => `m${n}`));
  expect(messages.at(-2)).toMatchObject({
    type: 'next',
    payload: { errors: [{ extensions: { code: 'LIMIT_EXCEEDED' } }] },
  });
  socket.close();
  await once(socket, 'close');
});

test('an event stream that is not read is closed with a reason, too', async () => {
  const {
    hub,
    server: { url },
  } = await startWith();
  const response = await postQuery(url, QUERY, { path: '/graphql/stream', headers: { accept: 'text/event-stream' } });
  await flood(hub);
  const events = (await response.text()).split('\n\n').filter((event) => event.startsWith('event: '));
  expect(events.length).toBeLessThan(SENT);
  expect(events.at(-1)).toMatch('event: complete');
  expect(events.at(-2)).toMatch('LIMIT_EXCEEDED');
});

test('a server at its limit says so, and accepts subscriptions again when a client has left', async () => {
  const {
    hub,
    server: { url },
  } = await startWith({ subscriptions: 2 });
  const [one, two] = [websocketClient(url), websocketClient(url)];
  const held = [collect(one, QUERY), collect(one, QUERY)];
  await until(() => {
    hub.take(markerRecord(db.keys, { sequence: String(Date.now()), key: 'a', after: [1, 1] }));
    return held.every(({ data }) => data.length > 0);
  });
  const refused = collect(two, QUERY);
  await until(() => refused.ended !== undefined);
  expect(refused.errors).toMatchObject([{ extensions: { code: 'LIMIT_EXCEEDED', limit: 2 } }]);
  await one.dispose();
  const again = [collect(two, QUERY)];
  await until(() => {
    hub.take(markerRecord(db.keys, { sequence: String(Date.now()), key: 'a', after: [1, 1] }));
    const last = again.at(-1);
    if (last?.ended !== undefined) again.push(collect(two, QUERY));
    return last !== undefined && last.data.length > 0;
  });
  await two.dispose();
});

test('if changes may be lost, all subscriptions end and say so', async () => {
  const {
    hub,
    server: { url },
  } = await startWith();
  const client = websocketClient(url);
  const told = collect(client, QUERY);
  await until(() => {
    hub.take(markerRecord(db.keys, { sequence: String(Date.now()), key: 'a', after: [1, 1] }));
    return told.data.length > 0;
  });
  hub.disconnected('for a test');
  await until(() => told.ended !== undefined);
  expect(told).toMatchObject({ ended: 'complete', errors: [{ extensions: { code: 'UNAVAILABLE' } }] });
  // Changes are delivered again only once the hub follows them again.
  const waiting = collect(client, QUERY);
  await new Promise((resolve) => setTimeout(resolve, 200));
  hub.connected();
  await until(() => {
    hub.take(markerRecord(db.keys, { sequence: String(Date.now()), key: 'a', after: [1, 1] }));
    return waiting.data.length > 0;
  });
  await client.dispose();
});

test('a server that shuts down ends every subscription with a reason, and closes', async () => {
  const { server: stopped } = await startWith();
  const { url } = stopped;
  const client = websocketClient(url);
  const closed = new Promise((resolve) => client.on('closed', resolve));
  const told = collect(client, QUERY);
  const response = await postQuery(url, QUERY, { path: '/graphql/stream' });
  await new Promise((resolve) => setTimeout(resolve, 300));
  server = undefined;
  await stopped.close();
  expect(told.errors).toMatchObject([{ extensions: { code: 'UNAVAILABLE' } }]);
  expect(await closed).toMatchObject({ code: 1001 });
  const text = await response.text();
  expect(text).toMatch('the server is shutting down');
  expect(text.trimEnd()).toMatch(/event: complete\ndata:$/);
});
