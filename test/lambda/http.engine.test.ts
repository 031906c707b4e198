import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { copyFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';
import { brotliDecompressSync, gzipSync } from 'node:zlib';
import { ScanCommand } from '@aws-sdk/lib-dynamodb';
import { build } from 'vite';
import { afterEach, beforeAll, describe, expect, onTestFinished, test, vi } from 'vitest';

import { readConfig } from '../../src/config.js';
import { openHandler, type HttpEvent, type HttpResult } from '../../src/lambda/http-handler.js';
import { newCall } from '../../src/store/database.js';
import { createMarkers } from '../../src/store/marker/markers.js';
import { createStreamsClient } from '../../src/stream/source/dynamodb.js';
import { serve } from '../server/sources/server.js';
import { decodeLayer } from '../support/decode-tile.js';
import { quickly } from '../support/quickly.js';
import { runsAll, variants } from '../support/rounds.js';
import { temporaryFolder } from '../support/temporary-folder.js';
import { engine, engineSettings, newDatabase, testCollection, testDatabase } from '../support/test-database.js';
import { eventOf, type Front, type Sent } from './http-events.js';

const db = await testDatabase('readable', { stream: true });
const folder = temporaryFolder();
const NOW = new Date().toISOString();
const SOON = { timeout: 60_000 };
const SETTINGS = { HOST: '0.0.0.0', CELLPORT_CONSUMER: 'off', CELLPORT_LOG: 'silent', CELLPORT_AUTH: 'off' };

// Those of logs would accumulate until Node warns.
const others = process.listeners('exit');
afterEach(() => {
  for (const listener of process.listeners('exit')) if (!others.includes(listener)) process.off('exit', listener);
});

beforeAll(async () => {
  const collection = await testCollection(db, { key: 'parks', name: 'Parks', mapProperties: ['n'] }, NOW);
  const markers = Array.from({ length: 400 }, (_, n) => ({
    key: `m ${n}%ü?`,
    position: { lng: -10 + (n % 20) / 4, lat: 50 + Math.floor(n / 20) / 8 },
    properties: { n, text: 'x'.repeat(500) },
  }));
  for (const from of [0, 100, 200, 300]) {
    await createMarkers(newCall(db), collection, markers.slice(from, from + 100), NOW);
  }
});

function open(env: Record<string, string> = {}, database = db) {
  const streams = createStreamsClient(engine());
  onTestFinished(() => streams.destroy());
  const nothing = () => Promise.resolve(undefined);
  const backend = { database, streams, where: '', storageFault: nothing, close: nothing as () => Promise<never> };
  const config = readConfig({}, { ...engineSettings(), ...SETTINGS, ...env });
  return openHandler(config, () => Promise.resolve(backend));
}

const bytesOf = ({ body }: HttpResult) => Buffer.from(body, 'base64');
const jsonOf = (result: HttpResult) => JSON.parse(bytesOf(result).toString()) as unknown;
const graphql = (query: string, variables: object = {}, headers: Record<string, string> = {}): Sent => ({
  method: 'POST',
  path: '/graphql',
  headers: { 'content-type': 'application/json', ...headers },
  body: JSON.stringify({ query, variables }),
});

const REQUESTS: Readonly<Record<string, Sent>> = {
  'an operation': graphql('query ($n: Int!) { collection(key: "parks") { markers(first: $n) { nodes { key } } } }', {
    n: 3,
  }),
  'an operation in base64': {
    ...graphql('{ collection(key: "parks") { name } }'),
    body: Buffer.from(JSON.stringify({ query: '{ collection(key: "parks") { name } } # ü' })),
  },
  'a batch of operations': {
    ...graphql(''),
    body: JSON.stringify([{ query: '{ __typename }' }, { query: '{ nonsense }' }]),
  },
  'a query by GET': {
    path: `/graphql?query=${encodeURIComponent('{ collection(key: "parks") { name key } }')}`,
    headers: { 'apollo-require-preflight': '1' },
  },
  'a form, as pages of other sites can send': {
    method: 'POST',
    path: '/graphql',
    headers: { 'content-type': 'application/x-www-form-urlencoded' },
    body: 'query=1',
  },
  'a body that is not JSON': { ...graphql(''), body: Buffer.from([0xff, 0x00]) },
  'a compressed body': {
    ...graphql('', {}, { 'content-encoding': 'gzip' }),
    body: gzipSync('{"query":"{ __typename }"}'),
  },
  'a tile': { path: '/tiles/parks/3/3/2?properties=n&properties=n', headers: { 'accept-encoding': 'identity' } },
  'a tile, compressed': { path: '/tiles/parks/3/3/2', headers: { 'accept-encoding': 'br, gzip' } },
  'the head of a tile': { method: 'HEAD', path: '/tiles/parks/3/3/2' },
  'an empty tile': { path: '/tiles/parks/5/0/0' },
  'a tile of nothing': { path: '/tiles/n%C3%B6%20%3F%23%25/3/3/2' },
  'a map': { path: '/maps/parks?bounds=-11,49,-4,53&zoom=3' },
  'a feature by a key of any characters': {
    path: `/ogc/collections/parks/items/${encodeURIComponent('m 7%ü?')}?f=json`,
  },
  'a page that does not exist': { path: '/none' },
  'another method': { ...graphql(''), method: 'PUT' },
  'a request from another site': { path: '/healthz', headers: { origin: 'https://maps.example.org' } },
  'its health': { path: '/healthz' },
};

const OWN_HEADERS = ['connection', 'content-length', 'date', 'keep-alive', 'transfer-encoding', 'x-request-id'];

describe.each(variants<Front>(['url', 'api', 'stage']))('events of %s', (front: Front) => {
  test('have the answers that a server sends: status, headers and bytes', async () => {
    const env = { CELLPORT_CACHE_SECONDS: '60', CELLPORT_ALLOWED_ORIGINS: 'https://maps.example.org' };
    const handler = await open(env);
    const { url } = await serve(db, { ...SETTINGS, ...env });
    const compare = async ([name, sent]: [string, Sent]) => {
      const { method = 'GET', path, headers = {}, body: text } = sent;
      // Some answers have links.
      const reached = { host: new URL(url).host, 'x-forwarded-proto': 'http' };
      const asked = <Got>(ask: () => Promise<Got>) => (method === 'GET' ? quickly(ask) : ask());
      const event = eventOf(front, { ...sent, headers: { ...headers, ...reached } });
      const result = await asked(() => handler(event));
      const wanted = await asked(() =>
        fetch(url + path, {
          method,
          headers: { 'accept-encoding': 'identity', ...headers },
          ...(text !== undefined && { body: Buffer.from(text) as Uint8Array<ArrayBuffer> }),
        }),
      );
      const others = Object.fromEntries([...wanted.headers].filter(([header]) => !OWN_HEADERS.includes(header)));
      const { 'x-request-id': id, date: _, ...own } = result.headers;
      expect({ name, status: result.statusCode, headers: own }).toEqual({
        name,
        status: wanted.status,
        headers: others,
      });
      expect(id).toMatch(/./);
      const encoded = result.headers['content-encoding'] === 'br';
      const bytes = encoded ? brotliDecompressSync(bytesOf(result)) : bytesOf(result);
      // `fetch` has decoded it.
      const body = Buffer.from(await wanted.arrayBuffer()).toString('latin1');
      expect({ name, body: bytes.toString('latin1') }).toEqual({ name, body });
    };
    // One that is held up for seconds reads the index instead of pages, which its answers may say.
    for (const each of Object.entries(REQUESTS)) await vi.waitFor(() => compare(each), SOON);
  });
});

test('a tile has the markers inside', async () => {
  const handler = await open();
  const tile = bytesOf(await handler(eventOf('url', { path: '/tiles/parks/3/3/2?limit=500' })));
  expect(decodeLayer(tile, 'markers')).toHaveLength(400);
});

test('links lead to the name by which a client reached AWS, or CloudFront, if that is trusted', async () => {
  const tileJson = { path: '/tiles/parks.json', headers: { 'x-forwarded-host': 'maps.example.org' } };
  const linked = async (handler: (event: HttpEvent) => Promise<HttpResult>, more: Record<string, string> = {}) => {
    const event = eventOf('url', { ...tileJson, headers: { ...tileJson.headers, ...more } });
    return (jsonOf(await handler(event)) as { tiles: string[] }).tiles[0];
  };
  // A caller may say anything.
  expect(await linked(await open(), { 'x-forwarded-prefix': '/a' })).not.toContain('/a/');
  expect(await linked(await open())).toBe('https://r3pmxmplak.lambda-url.eu-central-1.on.aws/tiles/parks/{z}/{x}/{y}');
  for (const trusted of ['1', '203.0.113.0/24']) {
    const handler = await open({ CELLPORT_TRUST_PROXY: trusted });
    expect(await linked(handler, { 'x-forwarded-prefix': '/a' })).toBe(
      'https://maps.example.org/a/tiles/parks/{z}/{x}/{y}',
    );
  }
});

test('the audit has the address that AWS saw, and that which a trusted proxy in front of AWS saw', async () => {
  const create = (key: string) => graphql(`mutation { createCollection(input: { key: "${key}", name: "A" }) { key } }`);
  const sent = { headers: { 'x-forwarded-for': '192.0.2.1, 198.51.100.2', 'content-type': 'application/json' } };
  const from = async (trusted: string, key: string) => {
    const handler = await open({ CELLPORT_AUDIT: 'table', CELLPORT_TRUST_PROXY: trusted });
    expect(jsonOf(await handler(eventOf('api', { ...create(key), ...sent })))).toMatchObject({ data: {} });
    const { Items = [] } = await db.client.send(new ScanCommand({ TableName: db.tables.derived }));
    return Items.find(({ changes }) => String(changes).includes(key))?.['from'] as unknown;
  };
  expect([await from('off', 'first'), await from('1', 'second')]).toEqual(['203.0.113.7', '198.51.100.2']);
});

test('what a function cannot do is refused with the reason', async () => {
  const handler = await open({ CELLPORT_MAX_FIRST: '100000' });
  const subscription = 'subscription { markerChanged(collection: "parks") { kind } }';
  const reasons = [
    await handler(eventOf('url', graphql(subscription))),
    await handler(eventOf('url', { ...graphql(subscription), path: '/graphql/stream' })),
    await handler(eventOf('url', { path: '/tiles/parks/changes' })),
  ];
  for (const result of reasons) expect(bytesOf(result).toString()).toMatch(/subscri/i);
  expect(bytesOf(reasons[1]!).toString()).toContain('this server does not follow changes; subscribe to one that does');
  // Base64 of more than AWS returns.
  const key = 'parks';
  const all = (n: number) => `m${n}: markers(first: 400) { nodes { properties } }`;
  const query = `{ collection(key: "${key}") { ${Array.from({ length: 30 }, (_, n) => all(n)).join(' ')} } }`;
  // A busy machine may end the lists early.
  await vi.waitFor(async () => {
    const large = await handler(eventOf('url', graphql(query)));
    expect(large.statusCode).toBe(400);
    expect(bytesOf(large).toString()).toMatch(/LIMIT_EXCEEDED.*size of the answer|size of the answer.*LIMIT_EXCEEDED/);
  }, SOON);
  const small = await handler(eventOf('url', graphql(query, {}, { 'accept-encoding': 'gzip' })));
  expect([small.statusCode, small.headers['content-encoding']]).toEqual([200, 'gzip']);
});

test('it does not begin with settings that let anybody change data, or with tables that are missing', async () => {
  await expect(open({ CELLPORT_AUTH: '' })).rejects.toThrow(/CELLPORT_AUTH=on/);
  await expect(open({}, newDatabase())).rejects.toThrow(/must|missing/);
});

test.runIf(runsAll)(
  'the function is one file that needs no node_modules and answers again after it was frozen',
  async () => {
    const config = fileURLToPath(new URL('../../scripts/lambda.vite.config.mjs', import.meta.url));
    await build({ configFile: config, mode: 'http', build: { outDir: join(folder, 'built') } });
    const alone = join(folder, 'alone.mjs');
    await copyFile(join(folder, 'built/http.mjs'), alone);
    const program = `import { createInterface } from 'node:readline';
    import { handler } from './alone.mjs';
    console.log('ready');
    for await (const line of createInterface(process.stdin)) console.log(JSON.stringify(await handler(JSON.parse(line))));
    process.exit();`;
    await writeFile(join(folder, 'run.mjs'), program);
    const { HOST: _, ...settings } = SETTINGS;
    const env = { ...engineSettings(), ...settings, CELLPORT_TABLE: db.tables.entities, PATH: process.env['PATH'] };
    const child = spawn(process.execPath, ['run.mjs'], { cwd: folder, env, stdio: ['pipe', 'pipe', 'inherit'] });
    const lines = createInterface(child.stdout)[Symbol.asyncIterator]();
    const next = async () => (await lines.next()).value ?? '';
    expect(await next()).toBe('ready');
    const ask = async (sent: Sent) => {
      child.stdin.write(`${JSON.stringify(eventOf('url', sent))}\n`);
      return JSON.parse(await next()) as HttpResult;
    };
    expect(jsonOf(await ask(graphql('{ collection(key: "parks") { name } }')))).toEqual({
      data: { collection: { name: 'Parks' } },
    });
    child.kill('SIGSTOP');
    await new Promise((resolve) => setTimeout(resolve, 3_000));
    child.kill('SIGCONT');
    const tile = bytesOf(
      await ask({ path: '/tiles/parks/3/3/2?limit=500', headers: { 'accept-encoding': 'identity' } }),
    );
    expect(decodeLayer(tile, 'markers')).toHaveLength(400);
    child.stdin.end();
    await once(child, 'exit');
  },
);
