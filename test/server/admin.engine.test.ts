import { request } from 'node:http';
import { createServer, type AddressInfo } from 'node:net';
import { text } from 'node:stream/consumers';
import { afterAll, beforeAll, expect, test, vi } from 'vitest';

import { newApiKey } from '../../src/access/api-key.js';
import { Budgets } from '../../src/access/budgets.js';
import { readConfig } from '../../src/config.js';
import { CellportError } from '../../src/errors.js';
import { silentLog } from '../../src/log.js';
import { sampled } from '../../src/server/hot-keys.js';
import { openServer, type Server } from '../../src/server/open-server.js';
import { createStreamsClient } from '../../src/stream/source/dynamodb.js';
import { createKey, setRules } from '../access/guarded-server.js';
import { postQuery } from '../support/post-query.js';
import { runCliHere } from '../support/run-cli.js';
import { engine, testCollection, testDatabase } from '../support/test-database.js';

const database = await testDatabase('readable', { stream: true });
const streams = createStreamsClient(engine());
const servers: Server[] = [];

async function serve(env: Readonly<Record<string, string>> = {}) {
  const config = readConfig({}, { PORT: '0', CELLPORT_CONSUMER: 'off', ...env });
  const backend = { database, streams, where: '', storageFault: async () => undefined, close: async () => undefined };
  const server = openServer(config, sampled(backend), {}, silentLog);
  servers.push(server);
  const url = await server.listen();
  return { url, admin: server.admin.url() ?? '' };
}

const SHOWN = ['/metrics', '/hot-keys', '/status'];
const HEALTH = ['/healthz', '/readyz'];
const statusesOf = (url: string, paths: readonly string[]) =>
  Promise.all(paths.map(async (path) => (await fetch(url + path)).status));

let key = '';
beforeAll(async () => {
  await testCollection(database, { key: 'parks', name: 'Parks' }, '2026-11-29T00:00:00.000Z');
  await setRules(database, { roles: { admin: { rules: [{ collections: ['*'], may: ['read', 'write', 'admin'] }] } } });
  key = await createKey(database, { roles: ['admin'] });
});
afterAll(async () => {
  await Promise.all(servers.map((server) => server.close()));
  streams.destroy();
});

test('what runs Cellport moves to the admin port, asks for no key there, and does not hang on CELLPORT_EXPLAIN', async () => {
  const { url, admin } = await serve({ CELLPORT_ADMIN_PORT: '0', CELLPORT_EXPLAIN: 'off', CELLPORT_AUTH: 'on' });
  expect(await statusesOf(admin, [...SHOWN, ...HEALTH])).toEqual([200, 200, 200, 200, 200]);
  const asAdmin = { 'x-api-key': key };
  const hidden = await Promise.all(SHOWN.map((path) => fetch(url + path, { headers: asAdmin })));
  expect(hidden.map(({ status }) => status)).toEqual([404, 404, 404]);
  expect(await statusesOf(url, HEALTH)).toEqual([200, 200]);
  expect(await statusesOf(admin, ['/graphql?query={__typename}', '/'])).toEqual([404, 404]);
});

test('a page of another site cannot read it by a name of its own', async () => {
  const { admin } = await serve({ CELLPORT_ADMIN_PORT: '0' });
  const foreign = await new Promise<{ status: number | undefined; body: string }>((resolve, reject) => {
    request(`${admin}/metrics`, { headers: { host: 'evil.example' } }, (response) => {
      text(response).then((body) => resolve({ status: response.statusCode, body }), reject);
    })
      .on('error', reject)
      .end();
  });
  expect(foreign).toMatchObject({ status: 403, body: expect.stringContaining('CELLPORT_ALLOWED_HOSTS') as unknown });
});

test('without an admin port, all of it is on the public one, for those who may see costs', async () => {
  const { url, admin } = await serve();
  expect(admin).toBe('');
  expect(await statusesOf(url, SHOWN)).toEqual([200, 200, 200]);
  const { url: closed } = await serve({ CELLPORT_EXPLAIN: 'off' });
  expect(await statusesOf(closed, SHOWN)).toEqual([403, 403, 403]);
  const { url: guarded } = await serve({ CELLPORT_AUTH: 'on' });
  expect(await statusesOf(guarded, SHOWN)).toEqual([401, 401, 401]);
  const shownTo = async (credential: string) => {
    const asked = SHOWN.map((path) => fetch(guarded + path, { headers: { 'x-api-key': credential } }));
    return (await Promise.all(asked)).map(({ status }) => status);
  };
  expect(await shownTo(newApiKey())).toEqual([401, 401, 401]);
  expect(await shownTo(await createKey(database, { roles: ['nobody'] }))).toEqual([403, 403, 403]);
  expect(await shownTo(key)).toEqual([200, 200, 200]);
  expect(await statusesOf(guarded, HEALTH)).toEqual([200, 200]);
  const hot = ['hot', '--url', guarded];
  expect(await runCliHere(hot, { CELLPORT_KEY: key })).toMatchObject({ code: 0 });
  expect(await runCliHere(hot)).toMatchObject({
    code: 1,
    output: expect.stringContaining('this server requires an API key'),
  });
  // Nor do they look up more made-up keys than anything else.
  const flooded = vi.spyOn(Budgets.prototype, 'admitStranger').mockImplementation(() => {
    throw new CellportError('THROTTLED', 'too many');
  });
  const headers = { 'x-api-key': newApiKey() };
  const answers = await Promise.all(SHOWN.map((path) => fetch(guarded + path, { headers })));
  expect(answers.map(({ status }) => status)).toEqual([429, 429, 429]);
  flooded.mockRestore();
});

test('a port in use is named by its setting', async () => {
  const other = createServer();
  await new Promise<void>((resolve) => other.listen(0, '127.0.0.1', resolve));
  const { port } = other.address() as AddressInfo;
  await expect(serve({ CELLPORT_ADMIN_PORT: String(port) })).rejects.toThrow('set CELLPORT_ADMIN_PORT to another');
  other.close();
});

test('/metrics counts requests to DynamoDB, merged ranges, markers, cached values, units by collection, and what is refused', async () => {
  const { url, admin } = await serve({ CELLPORT_ADMIN_PORT: '0', CELLPORT_READ_ONLY: 'off' });
  const metrics = async () => {
    const lines = (await (await fetch(`${admin}/metrics`)).text()).split('\n');
    const found = lines.map((line) => /^(\S+(?:\{.*\})?) (\S+)$/.exec(line) ?? []);
    return new Map(found.map(([, name = '', value]) => [name, Number(value)]));
  };
  const marker = (n: number) =>
    `m${n}: createMarker(input: { collection: "parks", key: "p${n}", position: { lng: ${n}, lat: 1 } }) { version }`;
  await (await postQuery(url, `mutation { ${[1, 2, 3].map(marker).join('\n')} }`)).text();
  const before = await metrics();
  const view = (east: number) =>
    `v${east}: viewport(bounds: { west: 0, south: 0, east: ${east}, north: 2 }, zoom: 9) { markers(collection: "parks") { nodes { key } } }`;
  const answer = await postQuery(url, `query Two { ${view(2)} ${view(3)} }`);
  expect(await answer.json()).toMatchObject({ data: { v2: { markers: { nodes: [{}, {}] } } } });
  const after = await metrics();
  const by = (name: string) => (after.get(`cellport_${name}`) ?? NaN) - (before.get(`cellport_${name}`) ?? 0);
  expect(by('markers_read_total')).toBeGreaterThanOrEqual(by('markers_found_total'));
  expect(by('markers_found_total')).toBe(5);
  // Both views want the same ranges, which are read once.
  expect(by('ranges_wanted_total')).toBeGreaterThan(by('ranges_read_total'));
  expect(by('dynamodb_requests_total{operation="query"}')).toBeGreaterThanOrEqual(by('ranges_read_total'));
  expect(by('collection_read_units_total{collection="parks"}')).toBeGreaterThan(0);
  expect(by('cache_misses_total{cache="cells"}')).toBeGreaterThanOrEqual(0);
  expect(after.get('cellport_workers')).toBe(1);
  expect([...after.keys()].find((name) => name.startsWith('cellport_build_info'))).toMatch(/version="\d/);
  const refused = await new Promise<number | undefined>((resolve, reject) => {
    request(`${url}/graphql`, { headers: { host: 'evil.example' } }, ({ statusCode }) => resolve(statusCode))
      .on('error', reject)
      .end();
  });
  expect(refused).toBe(403);
  expect((await metrics()).get('cellport_refused_total{reason="forbidden"}')).toBe(1);
});
