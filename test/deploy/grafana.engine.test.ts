import { execFileSync, spawnSync } from 'node:child_process';
import { existsSync, readFileSync } from 'node:fs';
import { homedir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';

import { readConfig } from '../../src/config.js';
import { silentLog } from '../../src/log.js';
import { sampled } from '../../src/server/hot-keys.js';
import { openServer, type Server } from '../../src/server/open-server.js';
import { createStreamsClient } from '../../src/stream/source/dynamodb.js';
import { postQuery } from '../support/post-query.js';
import { engine, testDatabase } from '../support/test-database.js';

const root = join(import.meta.dirname, '../..');
const ALERTS = join(root, 'deploy/grafana/alerts.yml');
const DASHBOARD = join(root, 'deploy/grafana/dashboard.json');
/** Where test/services/install-promtool.sh puts it. */
const PROMTOOL = join(process.env['XDG_CACHE_HOME'] ?? join(homedir(), '.cache'), 'cellport-tests/promtool');
const HAS_PROMTOOL = existsSync(PROMTOOL);
if (!HAS_PROMTOOL) console.warn('SKIPPED: no promtool; test/services/install-promtool.sh fetches it');

const streams = createStreamsClient(engine());
let server: Server;
let text = '';

beforeAll(async () => {
  const database = await testDatabase('readable', { stream: true });
  const backend = { database, streams, where: '', storageFault: async () => undefined, close: async () => undefined };
  server = openServer(readConfig({}, { PORT: '0' }), sampled(backend), {}, silentLog);
  const url = await server.listen();
  await (await postQuery(url, 'query Asked { collections(first: 1) { nodes { key } } }')).text();
  text = await (await fetch(`${url}/metrics`)).text();
});
afterAll(async () => {
  await server.close();
  streams.destroy();
});

test.each([ALERTS, DASHBOARD])('every metric that is named in %s is one of a server', (file) => {
  const types = new Map([...text.matchAll(/^# TYPE (\S+) (\S+)$/gm)].map(([, name = '', type = '']) => [name, type]));
  const used = new Set(readFileSync(file, 'utf8').match(/\b(cellport|nodejs|process)_\w+/g));
  expect(used.size).toBeGreaterThan(8);
  const isThere = (name: string) =>
    types.has(name) || types.get(name.replace(/_(bucket|sum|count)$/, '')) === 'histogram';
  expect([...used].filter((name) => !isThere(name))).toEqual([]);
});

test('the dashboard shows every metric of Cellport', () => {
  const own = [...text.matchAll(/^# TYPE (cellport_\w+) /gm)].map(([, name = '']) => name);
  const dashboard = readFileSync(DASHBOARD, 'utf8');
  expect(own.filter((name) => !dashboard.includes(name))).toEqual([]);
});

test.runIf(HAS_PROMTOOL)('promtool finds nothing wrong with the metrics of Cellport', () => {
  const { stderr, error } = spawnSync(PROMTOOL, ['check', 'metrics'], { input: text, encoding: 'utf8' });
  expect(error).toBeUndefined();
  // prom-client has gauges with the suffix of counters.
  const problems = stderr.split('\n').filter((line) => line !== '' && !line.startsWith('nodejs_'));
  expect(problems).toEqual([]);
});

test.runIf(HAS_PROMTOOL)('promtool accepts the alert rules, and they fire when they are to', () => {
  const run = (...args: readonly string[]) => execFileSync(PROMTOOL, args, { encoding: 'utf8' });
  expect(run('check', 'rules', ALERTS)).toContain('SUCCESS');
  expect(run('test', 'rules', join(import.meta.dirname, 'alerts.rules.yml'))).toContain('SUCCESS');
});
