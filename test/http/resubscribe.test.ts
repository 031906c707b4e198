import { createClient } from 'graphql-ws';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { WebSocket } from 'ws';

import { createHub } from '../../src/live/hub.js';
import { silentLog } from '../../src/log.js';
import { createCollection } from '../../src/store/collection/collections.js';
import { newCall } from '../../src/store/request/meter.js';
import { markerRecord } from '../live/records.js';
import { collect, until } from '../live/support.js';
import { interceptCalls } from '../support/faults.js';
import { rounds } from '../support/rounds.js';
import { testDatabase } from '../support/test-database.js';
import { type LiveServer, startServer } from './live-server.js';

const EACH = 100;
const SOCKETS = rounds('subscriptions') / EACH;
/** Long enough that all of them take longer than the deadline of one. */
const READ_MS = 200;
const DEADLINE_MS = 2_000;

const db = await testDatabase();
const hub = createHub({ keys: db.keys, log: silentLog, now: () => Date.now() });
let server: LiveServer;
beforeAll(async () => {
  const now = new Date().toISOString();
  await createCollection(db, { key: 'parks', name: 'Parks' }, now, newCall());
  hub.connected();
  server = await startServer(db, { live: hub, limits: { deadlineMs: DEADLINE_MS } });
});
afterAll(() => server.close());

test('many subscriptions at once start in turns, each within a deadline of its own', async () => {
  let reading = 0;
  let most = 0;
  interceptCalls(db, 'BatchGetItem', async (input, ask) => {
    reading += 1;
    most = Math.max(most, reading);
    await new Promise((resolve) => setTimeout(resolve, READ_MS));
    return ask(input).finally(() => (reading -= 1));
  });
  const clients = Array.from({ length: SOCKETS }, () =>
    createClient({ url: `${server.url.replace('http', 'ws')}/graphql`, webSocketImpl: WebSocket, retryAttempts: 0 }),
  );
  const query = 'subscription {markerChanged(collection: "parks") {kind}}';
  const all = clients.flatMap((client) => Array.from({ length: EACH }, () => collect(client, query)));
  await until(() => most > 0);
  expect((await fetch(`${server.url}/healthz`)).status).toBe(200);
  let sequence = 0;
  await until(() => {
    hub.take(markerRecord(db.keys, { sequence: String((sequence += 1)), key: 'one', after: [1, 1] }));
    return all.every(({ data, ended }) => data.length > 0 || ended !== undefined);
  });
  expect(all.flatMap(({ errors }) => errors)).toEqual([]);
  expect(most).toBeLessThanOrEqual(16);
  for (const client of clients) await client.dispose();
});
