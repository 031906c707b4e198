import { createClient } from 'graphql-ws';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { WebSocket } from 'ws';

import { LiveHub } from '../../src/live/hub.js';
import { silentLog } from '../../src/log.js';
import { createCollection } from '../../src/store/collection/collections.js';
import { newCall } from '../../src/store/request/meter.js';
import { markerRecord } from '../live/records.js';
import { type Collected, collect, until } from '../live/support.js';
import { rounds } from '../support/rounds.js';
import { testDatabase } from '../support/test-database.js';
import { type LiveServer, startServer } from './live-server.js';

const EACH = 100;
const SOCKETS = rounds('subscriptions') / EACH;
/** Long enough that all of them take longer than the deadline of one. */
const START_MS = 200;
const DEADLINE_MS = 2_000;

const db = await testDatabase();
const hub = new LiveHub({ keys: db.keys, log: silentLog, now: () => Date.now() });
let server: LiveServer;
beforeAll(async () => {
  await createCollection(db, { key: 'parks', name: 'Parks' }, '2026-11-21T10:00:00.000Z', newCall());
  hub.connected();
  server = await startServer(db, { live: hub, limits: { deadlineMs: DEADLINE_MS } });
});
afterAll(() => server.close());

test('many subscriptions at once start in turns, each within a deadline of its own', async () => {
  let starting = 0;
  let started = 0;
  let most = 0;
  const open = hub.markerChanges.bind(hub);
  hub.markerChanges = async (wanted) => {
    starting += 1;
    most = Math.max(most, starting);
    await new Promise((resolve) => setTimeout(resolve, START_MS));
    return open(wanted).finally(() => {
      starting -= 1;
      started += 1;
    });
  };
  const clients = Array.from({ length: SOCKETS }, () =>
    createClient({ url: `${server.url.replace('http', 'ws')}/graphql`, webSocketImpl: WebSocket, retryAttempts: 0 }),
  );
  const query = 'subscription {markerChanged(collection: "parks") {kind}}';
  const all = clients.flatMap((client) => Array.from({ length: EACH }, () => collect(client, query)));
  await until(() => most > 0);
  expect((await fetch(`${server.url}/healthz`)).status).toBe(200);
  const isEnded = ({ ended }: Collected) => ended !== undefined;
  await until(() => started + all.filter(isEnded).length >= all.length);
  hub.take(markerRecord(db.keys, { sequence: '1', key: 'one', after: [1, 1] }));
  await until(() => all.every((each) => each.data.length > 0 || isEnded(each)));
  expect(all.flatMap(({ errors }) => errors)).toEqual([]);
  expect(all.some(isEnded)).toBe(false);
  expect(most).toBeLessThanOrEqual(16);
  for (const client of clients) await client.dispose();
});
