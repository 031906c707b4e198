import { once } from 'node:events';
import { symlink } from 'node:fs/promises';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { Client } from '@modelcontextprotocol/sdk/client/index.js';
import { StdioClientTransport } from '@modelcontextprotocol/sdk/client/stdio.js';
import { afterAll, beforeAll, describe, expect, inject, onTestFinished, test } from 'vitest';

import { distance } from '../../src/geo/distance.js';
import { createCollection } from '../../src/store/collection/collections.js';
import { newCall } from '../../src/store/database.js';
import { createMarkers } from '../../src/store/marker/markers.js';
import { createKey, guardedServer, type GuardedServer } from '../access/guarded-server.js';
import { until } from '../live/support.js';
import { allItems } from '../stream/support.js';
import { randomFrom } from '../support/random.js';
import { runsAll } from '../support/rounds.js';
import { runCli } from '../support/run-cli.js';
import { temporaryFolder } from '../support/temporary-folder.js';
import { engine, engineSettings, testDatabase } from '../support/test-database.js';

const root = fileURLToPath(new URL('../../', import.meta.url));
const db = await testDatabase('readable', { stream: true });
const folder = temporaryFolder();
const random = randomFrom(20_261_129);
const RULES = {
  roles: {
    anonymous: [{ collections: ['shops'], may: ['read'] }],
    admin: [{ collections: ['*'], may: ['read', 'write', 'admin'] }],
    baker: [
      {
        collections: ['shops'],
        may: ['read'],
        where: { properties: [{ name: 'kind', eq: 'bakery' }] },
        hide: ['margin'],
      },
    ],
  },
};
const KINDS = ['bakery', 'books', 'flowers'];
const round = (value: number) => Math.round(value * 1e5) / 1e5;
/** A third of them around the antimeridian, a third in a town, a third anywhere. */
const shops = Array.from({ length: 600 }, (_, at) => ({
  key: `s${at}`,
  position:
    at % 3 === 0
      ? { lng: round((random() < 0.5 ? 178 : -180) + random() * 2), lat: round(random() * 4) }
      : at % 3 === 1
        ? { lng: round(16.8 + random() / 5), lat: round(52.3 + random() / 5) }
        : { lng: round(random() * 360 - 180), lat: round(random() * 180 - 90) },
  name: at === 7 ? 'The Obelisk' : `Shop ${at}`,
  category: at % 10 === 0 ? null : KINDS[at % 3]!,
  properties: { kind: KINDS[at % 3], margin: at, note: 'x'.repeat(at % 50 === 0 ? 2_500 : 10) },
}));
const vaults = Array.from({ length: 30 }, (_, at) => ({
  key: `v${at}`,
  position: { lng: 10 + at, lat: 10 },
  name: at === 0 ? 'N'.repeat(5_000) : 'Vault',
  category: 'vault',
  // With each in it, an answer would be far too long.
  properties: { text: 'y'.repeat(at === 1 ? 20_000 : 2_800) },
}));

interface Marker {
  readonly id: string;
  readonly meters?: number;
  readonly distance?: number;
  readonly name: string;
  readonly properties: Readonly<Record<string, unknown>>;
}
interface Answer {
  readonly items: readonly Marker[];
  readonly count: number;
  readonly total: number;
  readonly endCursor?: string;
  readonly more?: string;
  readonly problems?: readonly string[];
  readonly categories?: Readonly<Record<string, number>>;
  readonly clusters?: readonly { readonly count: number }[];
  readonly smallerClusters?: number;
}
type Inputs = Readonly<Record<string, unknown>>;

let server: GuardedServer;
let admin = '';
let baker = '';
const settings = { ...engineSettings(), CELLPORT_TABLE: db.tables.entities, CELLPORT_DATA_DIR: folder };

/** A client of `cellport mcp`, which runs in a process of its own. */
async function connect(env: Readonly<Record<string, string>> = {}, ...args: string[]) {
  const command = { command: process.execPath, args: [join(inject('compiled'), 'src/cli/main.js'), 'mcp', ...args] };
  const inherited = { PATH: process.env['PATH'] ?? '', HOME: process.env['HOME'] ?? '' };
  const transport = new StdioClientTransport({
    ...command,
    cwd: root,
    env: { ...inherited, ...settings, ...env },
    stderr: 'ignore',
  });
  const client = new Client({ name: 'test', version: '1' });
  const strange: Error[] = [];
  client.onerror = (error) => strange.push(error);
  await client.connect(transport);
  async function call(name: string, inputs: Inputs = {}): Promise<{ readonly text: string; readonly failed: boolean }> {
    const { content, isError = false } = await client.callTool({ name, arguments: { ...inputs } });
    // What is not of the protocol would have been an error.
    expect(strange).toEqual([]);
    return { text: (content as { text: string }[])[0]?.text ?? '', failed: isError === true };
  }
  return {
    client,
    call,
    close: () => client.close(),
    async ask(name: string, inputs?: Inputs): Promise<Answer> {
      const { text, failed } = await call(name, inputs);
      expect([failed, text]).toEqual([false, text]);
      expect(text.length).toBeLessThan(35_000);
      return JSON.parse(text) as Answer;
    },
    async fault(name: string, inputs?: Inputs): Promise<string> {
      const { text, failed } = await call(name, inputs);
      expect([failed, text]).toEqual([true, text]);
      return text;
    },
  };
}
type Connected = Awaited<ReturnType<typeof connect>>;

/** All items of a tool, page by page. */
async function all(client: Connected, name: string, inputs: Inputs): Promise<Marker[]> {
  const found: Marker[] = [];
  let after: string | undefined;
  do {
    const { items, endCursor, more } = await client.ask(name, { ...inputs, ...(after !== undefined && { after }) });
    expect(more === undefined).toBe(endCursor === undefined);
    found.push(...items);
    after = endCursor;
  } while (after !== undefined);
  return found;
}
const keysOf = (markers: readonly Marker[]) => markers.map(({ id }) => id.split('::')[2] ?? '');

let mcp: Connected;
beforeAll(async () => {
  const now = new Date().toISOString();
  const call = newCall(db);
  for (const [key, markers] of Object.entries({ shops, vaults })) {
    const collection = await createCollection(call, { key, name: `All ${key}`, mapProperties: ['kind'] }, now);
    for (let from = 0; from < markers.length; from += 100) {
      const { failures } = await createMarkers(call, collection, markers.slice(from, from + 100), now);
      if (failures.length > 0) throw new Error(JSON.stringify(failures));
    }
  }
  // A server keeps counts and the index of search.
  server = await guardedServer(db, RULES, { CELLPORT_DATA_DIR: folder, CELLPORT_SEARCH_MB: '64' });
  admin = await createKey(db, { roles: ['admin'] });
  baker = await createKey(db, { roles: ['baker'] });
  const headers = { 'x-api-key': admin };
  await until(async () => {
    const { data } = await server.ask(
      '{ search(text: "obelisk") { totalCount } collection(key: "shops") { count } }',
      {},
      headers,
    );
    return data?.search?.totalCount === 1 && data.collection.count === shops.length;
  });
  mcp = await connect({ CELLPORT_KEY: admin });
});
afterAll(async () => {
  await mcp.close();
  await server.close();
});

test('tools are listed as read-only, each input described, with units, bounds and defaults', async () => {
  const { tools } = await mcp.client.listTools();
  expect(tools.map(({ name }) => name).sort()).toEqual(['collections', 'near', 'search', 'summary', 'viewport']);
  for (const { description, inputSchema, annotations } of tools) {
    expect(description?.length).toBeGreaterThan(60);
    expect(annotations).toEqual({ readOnlyHint: true });
    for (const schema of Object.values(inputSchema.properties ?? {})) {
      expect((schema as { description?: string }).description?.length).toBeGreaterThan(5);
    }
  }
  const { properties, required } = tools.find(({ name }) => name === 'viewport')!.inputSchema;
  expect(required).toEqual(['collection', 'bounds']);
  expect(properties).toMatchObject({
    first: { type: 'integer', default: 50 },
    bounds: {
      required: expect.arrayContaining(['west', 'south', 'east', 'north']) as unknown,
      properties: { west: { type: 'number', description: expect.stringContaining('antimeridian') as unknown } },
    },
  });
  expect(tools.find(({ name }) => name === 'near')?.inputSchema.properties).toMatchObject({
    center: { properties: { lat: { minimum: -90, maximum: 90 } } },
    radius: { description: expect.stringContaining('meters') as unknown },
  });
});

test('viewport lists and counts what a scan finds inside, page by page, also across the antimeridian', async () => {
  const boxes = [
    { west: 179, south: 0.5, east: -179, north: 3 },
    { west: 179, south: 0.5, east: 181, north: 3 },
    { west: -180, south: -90, east: 180, north: 90 },
    { west: 16.85, south: 52.35, east: 16.95, north: 52.45 },
    { west: 0, south: 85, east: 1, north: 86 },
  ];
  for (const bounds of boxes) {
    const { west, south, east, north } = bounds;
    const inside = shops.filter(({ position: { lng, lat } }) => {
      const isBetween =
        east > 180
          ? lng >= west || lng <= east - 360
          : west > east
            ? lng >= west || lng <= east
            : lng >= west && lng <= east;
      return isBetween && lat >= south && lat <= north;
    });
    const found = await all(mcp, 'viewport', { collection: 'shops', bounds, first: 70 });
    expect(keysOf(found).sort()).toEqual(inside.map(({ key }) => key).sort());
    expect((await mcp.ask('viewport', { collection: 'shops', bounds, first: 1 })).count).toBe(inside.length);
    const filter = { category: ['books'], properties: [{ name: 'margin', gte: 100 }] };
    const some = await all(mcp, 'viewport', { collection: 'shops', bounds, filter });
    const wanted = inside.filter(({ category, properties: { margin } }) => category === 'books' && margin >= 100);
    expect(keysOf(some).sort()).toEqual(wanted.map(({ key }) => key).sort());
  }
});

test('near lists what a scan finds, nearest first, with and without a radius', async () => {
  for (const center of [
    { lng: 180, lat: 2 },
    { lng: 16.9, lat: 52.4 },
    { lng: -40, lat: -88 },
  ]) {
    const sorted = shops
      .map(({ key, position }) => ({ key, meters: distance(center, position) }))
      .sort((one, other) => one.meters - other.meters);
    const { items } = await mcp.ask('near', { collection: 'shops', center, first: 25 });
    expect(keysOf(items)).toEqual(sorted.slice(0, 25).map(({ key }) => key));
    for (const [at, { distance: meters }] of items.entries()) expect(meters).toBeCloseTo(sorted[at]!.meters, 3);
    const radius = 150_000;
    const found = await all(mcp, 'near', { collection: 'shops', center, radius, first: 40 });
    expect(keysOf(found)).toEqual(sorted.filter(({ meters }) => meters <= radius).map(({ key }) => key));
  }
});

test('summary counts by category, or by clusters if there are too many', async () => {
  const counts: Record<string, number> = {};
  for (const { category } of shops) counts[category ?? '(none)'] = (counts[category ?? '(none)'] ?? 0) + 1;
  const whole = await mcp.ask('summary', { collection: 'shops' });
  expect(whole).toEqual({ total: shops.length, categories: counts, rarerCategories: 0 });
  const bounds = { west: 16.8, south: 52.3, east: 17, north: 52.5 };
  const town = shops.filter((_, at) => at % 3 === 1).length;
  const {
    total,
    clusters = [],
    smallerClusters,
    more,
  } = await mcp.ask('summary', { collection: 'shops', bounds, limit: 50 });
  expect([total, more?.includes('bounds of a cluster')]).toEqual([town, true]);
  // As many as fit on a map: one alone would say nothing.
  expect(clusters.length).toBeGreaterThan(10);
  expect(clusters.length).toBeLessThanOrEqual(30);
  const shown = clusters.map(({ count }) => count);
  expect(shown).toEqual([...shown].sort((one, other) => other - one));
  expect(smallerClusters === 0 ? shown.reduce((sum, count) => sum + count, 0) : town).toBe(town);
});

test('search finds words in the index of a server, and markers as they are now', async () => {
  const { items, total } = await mcp.ask('search', { text: 'obelisk' });
  expect([total, items.map(({ id }) => id)]).toEqual([1, ['marker::shops::s7']]);
  const found = await all(mcp, 'search', { text: 'shop', collections: ['shops'], first: 90 });
  // And their collection.
  expect(found.length).toBe(shops.length);
  const { items: collections } = await mcp.ask('search', { text: 'all vaults' });
  expect(collections).toEqual([{ type: 'Collection', id: 'collection::vaults', title: 'All vaults' }]);
});

test('an answer that would be too long ends early and tells how to go on; what is too long in one marker is cut', async () => {
  const bounds = { west: -180, south: -90, east: 180, north: 90 };
  const { items, more, endCursor } = await mcp.ask('viewport', { collection: 'vaults', bounds });
  expect(items.length).toBeLessThan(vaults.length);
  expect(more).toMatch(/endCursor.*after/);
  expect(endCursor).not.toBe(undefined);
  const found = await all(mcp, 'viewport', { collection: 'vaults', bounds });
  expect(keysOf(found).sort()).toEqual(vaults.map(({ key }) => key).sort());
  const named = (key: string) => found.find(({ id }) => id.endsWith(`::${key}`));
  expect(named('v2')?.properties).toEqual(vaults[2]?.properties);
  expect(named('v0')?.name).toBe(`${'N'.repeat(200)}…`);
  expect(named('v1')?.properties['text']).toBe(`${'y'.repeat(200)}…`);
});

describe('access', () => {
  const bounds = { west: -180, south: -90, east: 180, north: 90 };

  test('without a key, a private collection does not exist', async () => {
    const anonymous = await connect({ CELLPORT_AUTH: 'on' });
    onTestFinished(() => anonymous.close());
    const listed = await anonymous.ask('collections');
    expect(listed.items).toMatchObject([{ key: 'shops', name: 'All shops', mapProperties: ['kind'] }]);
    for (const [name, inputs] of Object.entries({
      viewport: { bounds },
      summary: {},
      near: { center: { lng: 0, lat: 0 } },
      search: { text: 'vault', collections: ['vaults'] },
    })) {
      const one = name === 'search' ? {} : { collection: 'vaults' };
      const hidden = await anonymous.fault(name, { ...one, ...inputs });
      expect(hidden).toBe('there is no collection "vaults"');
      const absent = JSON.parse(JSON.stringify({ ...one, ...inputs }).replaceAll('vaults', 'absent')) as Inputs;
      expect(await anonymous.fault(name, absent)).toBe('there is no collection "absent"');
    }
    expect((await anonymous.ask('search', { text: 'vault' })).total).toBe(0);
  });

  test('a key opens what its rules allow, in rows and properties, even where this process was not told to ask', async () => {
    const elsewhere = join(folder, `elsewhere-${Date.now()}`);
    const guarded = await connect({ CELLPORT_KEY: baker, CELLPORT_DATA_DIR: elsewhere });
    onTestFinished(() => guarded.close());
    const found = await all(guarded, 'viewport', { collection: 'shops', bounds, first: 100 });
    expect(keysOf(found).sort()).toEqual(
      shops
        .filter((_, at) => at % 3 === 0)
        .map(({ key }) => key)
        .sort(),
    );
    expect(found.filter(({ properties }) => 'margin' in properties)).toEqual([]);
    expect(await guarded.fault('summary', { collection: 'vaults' })).toBe('there is no collection "vaults"');
    // A server that comes later brings an index.
    expect(await guarded.fault('search', { text: 'shop' })).toMatch(/no complete search index in .*cellport serve/);
    await symlink(folder, elsewhere);
    let searched = '';
    await until(async () => {
      searched = (await guarded.call('search', { text: 'shop 3' })).text;
      return searched.includes('items');
    });
    expect(searched).toContain('marker::shops::s3"');
    expect(searched).not.toContain('marker::shops::s32"');
  });

  test.runIf(runsAll)('through a server at a URL, tools answer the same', async () => {
    const through = await connect(
      { CELLPORT_KEY: baker, CELLPORT_TABLE: 'none-at-all' },
      '--url',
      `${server.url}/graphql/`,
    );
    onTestFinished(() => through.close());
    const found = await all(through, 'near', { collection: 'shops', center: { lng: 180, lat: 2 }, radius: 200_000 });
    expect(found.length).toBeGreaterThan(50);
    expect(keysOf(found).every((key) => Number(key.slice(1)) % 3 === 0)).toBe(true);
    expect((await through.ask('search', { text: 'obelisk' })).total).toBe(0);
    const wrong = await connect({ CELLPORT_KEY: `${baker.slice(0, -4)}AAAA` }, '--url', server.url);
    onTestFinished(() => wrong.close());
    expect(await wrong.fault('collections')).toMatch(/key/i);
    const nobody = await connect({}, '--url', 'http://127.0.0.1:9');
    onTestFinished(() => nobody.close());
    expect(await nobody.fault('collections')).toBe('no Cellport answers at http://127.0.0.1:9/graphql');
    const other = await connect({}, '--url', String(engine().endpoint));
    onTestFinished(() => other.close());
    expect(await other.fault('collections')).toMatch(/^no Cellport answers at .*\(status \d+\)$/);
    expect(await runCli(['mcp', '--url', 'maps.example.org'], settings).ended).toBe(2);
  });
});

test('wrong inputs are refused by name, with what is allowed', async () => {
  const bounds = { west: 0, south: 0, east: 1, north: 1 };
  const center = { lng: 0, lat: 0 };
  for (const [name, inputs, says] of [
    ['viewport', { collection: 'none', bounds }, /^there is no collection "none"$/],
    ['viewport', { collection: 'shops' }, /^Input bounds of required type "BoundsInput!" was not provided/],
    ['viewport', { collection: 'shops', bounds: null }, /^Input bounds .* must not be null/],
    ['viewport', { collection: 'shops', bounds: { ...bounds, south: 2 } }, /south.* at most .*north|south .*2/],
    [
      'viewport',
      { collection: 'shops', bounds: { ...bounds, west: 'x' } },
      /^Input bounds .*"x" at "bounds.west".*Float/,
    ],
    [
      'viewport',
      { collection: 'shops', bounds, limit: 5 },
      /an input must be one of collection, bounds.*; got "limit"/,
    ],
    ['viewport', { collection: 'shops', bounds, first: 0 }, /first must be .* 1 to 5000; got 0/],
    ['viewport', { collection: 'shops', bounds, after: 'x' }, /after/],
    [
      'viewport',
      { collection: 'shops', bounds, filter: { kind: 'x' } },
      /"kind" is not defined by type "MarkerFilter"/,
    ],
    ['viewport', { collection: 'shops', bounds, filter: { properties: [{ name: 'kind' }] } }, /exactly one/],
    ['near', { collection: 'none', center }, /^there is no collection "none"$/],
    ['near', { collection: 'shops', center: { lng: 0, lat: 91 } }, /-90 to 90.*got 91|91.*-90 to 90/],
    [
      'near',
      { collection: 'shops', center, radius: -1 },
      /radius must be a distance from 0 to 20015114.35 meters.*got -1/,
    ],
    ['summary', { collection: 'shops', zoom: 31 }, /zoom must be .*-2.*30.*got 31/],
    ['search', { text: '' }, /text must be at least one letter or digit/],
    ['delete', {}, /tool must be one of collections, .*; got "delete"/],
  ] as const) {
    expect(await mcp.fault(name, inputs)).toMatch(says);
  }
});

test('a call that the client cancels ends the request to the server', async () => {
  let ended: () => void = () => undefined;
  const hasEnded = new Promise<void>((resolve) => (ended = resolve));
  const cancelled = new AbortController();
  const slow = createServer((_, response) => {
    response.once('close', ended);
    cancelled.abort('enough');
  }).listen(0, '127.0.0.1');
  onTestFinished(() => void slow.close());
  await once(slow, 'listening');
  const client = await connect({}, '--url', `http://127.0.0.1:${(slow.address() as AddressInfo).port}`);
  onTestFinished(() => client.close());
  const call = client.client.callTool({ name: 'collections' }, undefined, { signal: cancelled.signal });
  await expect(call).rejects.toThrow('enough');
  await hasEnded;
});

test('nothing is written, and where the SDK is missing, its name is told', async () => {
  const before = [await allItems(db, db.tables.entities)];
  await mcp.ask('viewport', { collection: 'shops', bounds: { west: 0, south: 0, east: 1, north: 1 } });
  expect([await allItems(db, db.tables.entities)]).toEqual(before);
  const hook = `export async function resolve(name, context, next) {
    if (!name.startsWith('@modelcontextprotocol/')) return next(name, context);
    throw Object.assign(new Error('not found'), { code: 'ERR_MODULE_NOT_FOUND' });
  }`;
  const url = (code: string) => `data:text/javascript,${encodeURIComponent(code)}`;
  const register = `import { register } from 'node:module'; register(${JSON.stringify(url(hook))});`;
  const { ended, output } = runCli(['mcp'], { ...settings, NODE_OPTIONS: `--import=${url(register)}` });
  expect(await ended).toBe(1);
  expect(output()).toMatch(
    /^cellport: cellport mcp needs @modelcontextprotocol\/sdk: npm install @modelcontextprotocol\/sdk@1$/m,
  );
});
