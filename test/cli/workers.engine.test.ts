import { once } from 'node:events';
import { existsSync, readFileSync } from 'node:fs';
import { request } from 'node:http';
import { connect } from 'node:net';
import { text } from 'node:stream/consumers';
import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, beforeAll, expect, test, vi } from 'vitest';
import { WebSocket } from 'ws';

import { createKey, setRules } from '../access/guarded-server.js';
import { inTurn, runsAll } from '../support/rounds.js';
import { runCli, type RunningCli } from '../support/run-cli.js';
import { temporaryFolder } from '../support/temporary-folder.js';
import { engineSettings, testDatabase } from '../support/test-database.js';

const turn = inTurn(2);
const SUBSCRIPTIONS = 8;
const database = await testDatabase('readable', { stream: true });
const folder = temporaryFolder();
let server: RunningCli;
let url = '';
let key = '';

interface Answer {
  readonly status: number | undefined;
  readonly ratelimit: string;
  readonly body: string;
}

/** Sends a request over a connection of its own: which worker answers is not known. */
const send = (path: string, query?: string, headers: Readonly<Record<string, string>> = { 'x-api-key': key }) =>
  new Promise<Answer>((resolve, reject) => {
    const sent = request(
      `${url}${path}`,
      {
        agent: false,
        method: query === undefined ? 'GET' : 'POST',
        headers: { 'content-type': 'application/json', ...headers },
      },
      (response) => {
        const { statusCode: status, headers: answered } = response;
        const ratelimit = String(answered['ratelimit']);
        text(response).then((body) => resolve({ status, ratelimit, body }), reject);
      },
    );
    sent.on('error', reject);
    sent.end(query === undefined ? undefined : JSON.stringify({ query }));
  });

async function ask<T>(query: string): Promise<T> {
  const { body } = await send('/graphql', query);
  const { data, errors } = JSON.parse(body) as { data: T; errors?: unknown };
  if (errors !== undefined) throw new Error(body);
  return data;
}

const write = (n: number) =>
  ask(
    `mutation { createMarker(input: { collection: "parks", key: "p${n}", position: { lng: 1, lat: 2 } }) { version } }`,
  );

const isRunning = (pid: number) =>
  existsSync(`/proc/${pid}`) && !/State:\s+Z/.test(readFileSync(`/proc/${pid}/status`, 'utf8'));
const workers = () => {
  const pid = server.child.pid ?? 0;
  return readFileSync(`/proc/${pid}/task/${pid}/children`, 'utf8').trim().split(/\s+/).map(Number).filter(isRunning);
};

beforeAll(async () => {
  const everything = { rules: [{ collections: ['*'], may: ['read', 'write', 'admin'] }] };
  const anonymous = { rules: [{ collections: ['parks'], may: ['read'] }], budget: { units: 1_000, per: 'day' } };
  await setRules(database, { roles: { admin: everything, anonymous } });
  key = await createKey(database, { roles: ['admin'] });
  server = runCli(['serve', '--workers', '2'], {
    ...engineSettings(),
    CELLPORT_TABLE: database.tables.entities,
    CELLPORT_DATA_DIR: folder,
    CELLPORT_AUTH: 'on',
    CELLPORT_AUDIT: 'off',
    CELLPORT_MAX_SUBSCRIPTIONS: String(SUBSCRIPTIONS),
    PORT: '0',
  });
  url = await server.serving();
  await ask('mutation { createCollection(input: { key: "parks", name: "Parks" }) { id } }');
});
afterAll(async () => {
  server.child.kill('SIGKILL');
  await server.ended;
});

test('what one worker writes, the next answer of any has', async () => {
  const map = `{ collection(key: "parks") { name } viewport(bounds: { west: 0, south: 0, east: 3, north: 3 }, zoom: 9) {
    markers(collection: "parks") { nodes { key } } } }`;
  interface Map {
    readonly collection: { readonly name: string };
    readonly viewport: { readonly markers: { readonly nodes: readonly { readonly key: string }[] } };
  }
  for (let n = 0; n < 12; n += 1) {
    await write(n);
    await ask(`mutation { updateCollection(input: { key: "parks", name: "Parks ${n}" }) { id } }`);
    for (const { collection, viewport } of await Promise.all([ask<Map>(map), ask<Map>(map), ask<Map>(map)])) {
      expect(collection.name).toBe(`Parks ${n}`);
      expect(viewport.markers.nodes.map((one) => one.key)).toContain(`p${n}`);
    }
  }
  await ask('mutation { deleteMarkers(ids: ["marker::parks::p0", "marker::parks::p1"]) { deleted } }');
  for (const { viewport } of await Promise.all([ask<Map>(map), ask<Map>(map)]))
    expect(viewport.markers.nodes).toHaveLength(10);
});

test('counts and readiness are the same at all workers', async () => {
  const counted = async () => {
    const counts = await Promise.all([1, 2, 3, 4].map(() => ask('{ collection(key: "parks") { count countsExact } }')));
    expect(counts).toEqual(counts.map(() => ({ collection: { count: 10, countsExact: true } })));
  };
  await vi.waitFor(counted, { timeout: 20_000, interval: 100 });
  for (let n = 0; n < 4; n += 1)
    expect(JSON.parse((await send('/readyz')).body)).toMatchObject({
      ready: true,
      stream: { owner: true, countsExact: true },
    });
});

test('a change reaches the subscribers at all workers', async () => {
  const heard = new Set<number>();
  const stopping = new AbortController();
  const query = encodeURIComponent('subscription { markerChanged(collection: "parks") { kind id } }');
  for (let n = 0; n < 4; n += 1) {
    const subscribed = request(
      `${url}/graphql/stream?query=${query}`,
      { agent: false, headers: { 'x-api-key': key }, signal: stopping.signal },
      (response) => {
        response.on('data', (data) => String(data).includes('CREATED') && heard.add(n));
        response.on('error', () => undefined);
      },
    );
    subscribed.on('error', () => undefined);
    subscribed.end();
  }
  for (let n = 100; heard.size < 4 && n < 150; n += 1) {
    await write(n);
    await sleep(200);
  }
  stopping.abort();
  expect(heard.size).toBe(4);
});

test('the metrics of any worker are the sums of all', async () => {
  for (let n = 0; n < 6; n += 1) await ask('query Counted { collection(key: "parks") { key } }');
  for (let n = 0; n < 2; n += 1) {
    const { body } = await send('/metrics');
    expect(body).toContain('cellport_requests_total{operation="Counted",code=""} 6\n');
    expect(body).toMatch(/cellport_counts_exact 1\n/);
    expect(body).toMatch(new RegExp(`cellport_read_units_total\\{table="${database.tables.entities}",index=""\\} \\d`));
    expect(body.match(/^process_cpu_seconds_total /gm)).toHaveLength(1);
  }
});

test('limits are those of one server: workers share budgets, and each has a part of the subscriptions', async () => {
  const left: number[] = [];
  const ids = Array.from({ length: 8 }, (_, n) => `"marker::parks::p${n + 2}"`);
  const nodes = `{ nodes(ids: [${ids.join()}]) { id } }`;
  for (let n = 0; n < 6; n += 1) {
    const { ratelimit } = await send('/graphql', nodes, {});
    left.push(Number(/r=(\d+)/.exec(ratelimit)?.[1]));
  }
  expect(left).toEqual([...new Set(left)].toSorted((a, b) => b - a));

  const sockets = Array.from({ length: SUBSCRIPTIONS + 4 }, () => {
    const socket = new WebSocket(`${url.replace('http', 'ws')}/graphql`, 'graphql-transport-ws', {
      headers: { 'x-api-key': key },
    });
    const opened = new Promise<boolean>((resolve) => {
      socket.once('open', () => resolve(true));
      socket.once('error', () => resolve(false));
    });
    return { socket, opened };
  });
  const opened = await Promise.all(sockets.map((one) => one.opened));
  expect(opened.filter(Boolean)).toHaveLength(SUBSCRIPTIONS);
  for (const { socket } of sockets) socket.terminate();
});

test('a worker that is killed is replaced, and only its own connections end', async ({ skip, task }) => {
  skip(!turn(task));
  const idle = Array.from({ length: 6 }, () => {
    const socket = connect(Number(new URL(url).port), '127.0.0.1');
    socket.on('error', () => undefined);
    return socket;
  });
  await Promise.all(idle.map((socket) => new Promise((resolve) => socket.once('connect', resolve))));
  // When the last one is answered, those before have been accepted.
  for (let n = 0; n < 4; n += 1) expect(await send('/healthz')).toMatchObject({ status: 200 });
  const [first = 0, second = 0] = workers();
  const counted = async () => Number(/operation="Known",code=""\} (\d+)/.exec((await send('/metrics')).body)?.[1]);
  for (let n = 0; n < 6; n += 1) await ask('query Known { collection(key: "parks") { key } }');
  expect(await counted()).toBe(6);
  process.kill(first, 'SIGKILL');
  for (let n = 0; n < 30; n += 1) expect(await send('/healthz')).toMatchObject({ status: 200 });
  // How they are spread depends on connections of the tests before, which may not be known to have ended.
  const open = idle.filter(({ destroyed }) => !destroyed);
  expect([1, 2, 3, 4, 5]).toContain(open.length);
  for (const socket of open) {
    socket.write(`GET /healthz HTTP/1.1\r\nHost: ${new URL(url).host}\r\n\r\n`);
    expect(String(await once(socket, 'data'))).toMatch(/^HTTP\/1.1 200 /);
  }
  await vi.waitFor(() => expect(workers()).toHaveLength(2), { timeout: 20_000 });
  expect(server.output()).toContain('A worker process has ended (SIGKILL)');
  // Requests wait for the one that has begun.
  process.kill(second, 'SIGKILL');
  for (let n = 0; n < 4; n += 1) await write(200 + n);
  expect(await counted()).toBe(6);
  expect(workers()).not.toContain(first);
  expect(workers()).not.toContain(second);
  for (const socket of idle) socket.destroy();
});

test('metrics do not wait for a worker that hangs', async () => {
  const [first = 0] = workers();
  process.kill(first, 'SIGSTOP');
  const tries: Promise<void>[] = [];
  const answers: Answer[] = [];
  const tryOnce = async () => void answers.push(await send('/metrics'));
  try {
    // Those that the stopped one was given wait for it, and so do all before the other one has started.
    while (answers.length === 0) {
      tries.push(tryOnce());
      await sleep(500);
    }
    expect(answers[0]?.body).toMatch(/cellport_counts_exact 1\n/);
  } finally {
    process.kill(first, 'SIGCONT');
  }
  await Promise.all(tries);
});

test.runIf(runsAll)('a worker that hangs is replaced, whoever waits for it', async () => {
  const [first = 0, ...others] = workers();
  process.kill(first, 'SIGSTOP');
  await vi.waitFor(
    () => {
      expect(workers()).not.toContain(first);
      expect(workers()).toHaveLength(1 + others.length);
    },
    { timeout: 180_000, interval: 1_000 },
  );
});

test('SIGTERM to the group ends all processes in order, after the requests in progress', async () => {
  const running = workers();
  const headers = { 'content-type': 'application/json', 'x-api-key': key, expect: '100-continue' };
  const slow = request(`${url}/graphql`, { method: 'POST', agent: false, headers });
  const answered = new Promise<string>((resolve, reject) => {
    slow.once('response', (response) => resolve(text(response)));
    slow.once('error', reject);
  });
  const begun = new Promise((resolve) => slow.once('continue', resolve));
  slow.flushHeaders();
  await begun;
  for (const pid of [...running, server.child.pid ?? 0]) process.kill(pid, 'SIGTERM');
  await vi.waitFor(() => expect(send('/healthz')).rejects.toThrow('ECONNREFUSED'), { timeout: 20_000, interval: 50 });
  slow.end('{"query":"{ collection(key: \\"parks\\") { key } }"}');
  expect(await answered).toBe('{"data":{"collection":{"key":"parks"}}}\n');
  expect(await server.ended).toBe(0);
  expect(running.filter(isRunning)).toEqual([]);
  expect(server.output()).toMatch(/stopping\n$/);
});
