import { setImmediate as setImmediately } from 'node:timers';
import { setTimeout as sleep } from 'node:timers/promises';
import { afterEach, beforeAll, expect, onTestFinished, test } from 'vitest';

import { LiveHub } from '../../src/live/hub.js';
import { silentLog } from '../../src/log.js';
import { markerRecord } from '../live/records.js';
import { collect, until, websocketClient, type Collected } from '../live/support.js';
import { rounds } from '../support/rounds.js';
import { testCollection, testDatabase } from '../support/test-database.js';
import { startServer, testServer } from './live-server.js';

const EACH = 100;
const SOCKETS = rounds('subscriptions') / EACH;
const AT_ONCE = 16;
const DEADLINE_MS = 60_000;
const QUERY = 'subscription {markerChanged(collection: "parks") {kind}}';

const db = await testDatabase();
const hub = new LiveHub({ keys: db.keys, log: silentLog, clock: db.clock });
const open = hub.markerChanges.bind(hub);
const server = await testServer(db, { live: hub, limits: { deadlineMs: DEADLINE_MS } });
beforeAll(async () => {
  await testCollection(db, { key: 'parks', name: 'Parks' }, '2026-11-21T10:00:00.000Z');
  hub.connected();
});
afterEach(() => {
  hub.markerChanges = open;
});

/** Reads /healthz, one time after the other, until it is stopped; then says how often and how long the longest wait was. */
function watchHealth(): () => Promise<string> {
  const waits: number[] = [];
  let stopped = false;
  const reading = (async () => {
    for (; !stopped; await sleep(1)) {
      const sent = performance.now();
      expect((await fetch(`${server.url}/healthz`)).status).toBe(200);
      waits.push(performance.now() - sent);
    }
  })();
  return async () => {
    stopped = true;
    await reading;
    return `${waits.length} reads of /healthz, the longest ${Math.max(...waits).toFixed(0)} ms`;
  };
}

test('many simultaneous subscriptions start in turns, and others are served meanwhile', async () => {
  let starting = 0;
  let started = 0;
  let most = 0;
  const warnings: string[] = [];
  const onWarning = ({ message }: Error) => void warnings.push(message);
  process.on('warning', onWarning);
  onTestFinished(() => void process.off('warning', onWarning));
  hub.markerChanges = async (wanted) => {
    starting += 1;
    most = Math.max(most, starting);
    return open(wanted).finally(() => {
      starting -= 1;
      started += 1;
    });
  };
  const clients = Array.from({ length: SOCKETS }, () => websocketClient(server.url));
  const stopWatching = watchHealth();
  const began = performance.now();
  const all = clients.flatMap((client) => Array.from({ length: EACH }, () => collect(client, QUERY)));
  const isEnded = ({ ended }: Collected) => ended !== undefined;
  await until(() => started + all.filter(isEnded).length >= all.length);
  const took = performance.now() - began;
  const health = await stopWatching();
  if (process.env['CELLPORT_RUNS'] !== undefined)
    console.log(`${all.length} subscriptions on ${SOCKETS} sockets in ${took.toFixed(0)} ms; ${health}`);
  hub.take(markerRecord(db.keys, { sequence: '1', key: 'one', after: [1, 1] }));
  await until(() => all.every((each) => each.data.length > 0 || isEnded(each)));
  expect(all.flatMap(({ errors }) => errors)).toEqual([]);
  expect(all.some(isEnded)).toBe(false);
  expect(most).toBeLessThanOrEqual(AT_ONCE);
  expect(warnings).toEqual([]);
  for (const client of clients) await client.dispose();
});

test('one event for many of them is answered in turns, and others are served meanwhile', async () => {
  const answering = await startServer(db, {
    live: hub,
    executor: () => async () => {
      const until = performance.now() + 3;
      while (performance.now() < until);
      return { data: {} };
    },
  });
  const all = await Promise.all(
    Array.from({ length: 50 }, () => answering.graphql.subscribe({ query: QUERY }, { access: undefined })),
  );
  const answers = all.flatMap((started) => ('answers' in started ? [started.answers] : []));
  expect(answers).toHaveLength(50);
  const first = Promise.all(answers.map((each) => each.next()));
  let turns = 0;
  let next = setImmediately(function count() {
    turns += 1;
    next = setImmediately(count);
  });
  hub.take(markerRecord(db.keys, { sequence: '2', key: 'two', after: [1, 1] }));
  await first;
  clearImmediate(next);
  expect(turns).toBeGreaterThanOrEqual(10);
  for (const each of answers) await each.return?.();
  await answering.close();
});
