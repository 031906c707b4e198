import { createClient } from 'graphql-ws';
import { afterAll, beforeAll, expect, test, vi } from 'vitest';
import { WebSocket } from 'ws';

import { newApiKey } from '../../src/access/api-key.js';
import { Budgets } from '../../src/access/budgets.js';
import { CellportError } from '../../src/errors.js';
import { newCall } from '../../src/store/database.js';
import { createMarkers } from '../../src/store/marker/markers.js';
import { temporaryFolder } from '../support/temporary-folder.js';
import { testCollection, testDatabase } from '../support/test-database.js';
import { bearer, createKey, guardedServer, type Answer, type GuardedServer } from './guarded-server.js';

const db = await testDatabase('readable', { stream: true });
const folder = temporaryFolder();
const BUDGET = 400;
const RULES = {
  roles: {
    anonymous: { rules: [{ collections: ['parks'], may: ['read'] }], budget: { units: BUDGET, per: 'minute' } },
    poor: { rules: [{ collections: ['*'], may: ['read', 'write', 'admin'] }], budget: { units: 100, per: 'day' } },
    rich: { rules: [{ collections: ['*'], may: ['read', 'write', 'admin'] }], budget: { units: 1e6, per: 'day' } },
    admin: [{ collections: ['*'], may: ['read', 'write', 'record', 'admin'] }],
  },
};
const COST = { 'x-cellport-cost': '1' };
const keyOf = async (...roles: string[]) => bearer(await createKey(db, { roles }));
const codesOf = ({ errors }: Answer) => errors.map(({ extensions }) => String(extensions['code']));
let server: GuardedServer;

const SEARCH = '{ search(text: "park", first: 5000) { edges { node { ... on Marker { key } } } } }';
const WIDE = `{ viewport(bounds: { west: 0, south: 40, east: 20, north: 60 }, zoom: 3) {
  markers(collection: "parks", first: 5000) { nodes { key properties } } } }`;

beforeAll(async () => {
  const now = new Date().toISOString();
  const collection = await testCollection(db, { key: 'parks', name: 'Parks' }, now);
  for (let from = 0; from < 600; from += 300) {
    const markers = Array.from({ length: 300 }, (_, n) => ({
      key: `p${from + n}`,
      position: { lng: 10 + (n % 100) / 100, lat: 50 + (from + n) / 100 },
      name: `park ${from + n}`,
      properties: { note: 'x'.repeat(500) },
    }));
    await createMarkers(newCall(db), collection, markers, now);
  }
  server = await guardedServer(db, RULES, { CELLPORT_SEARCH_MB: '64', CELLPORT_DATA_DIR: folder });
  const admin = await keyOf('admin');
  const ready = async () => {
    const { data } = await server.ask(
      '{ collection(key: "parks") { countsExact } search(text: "park", first: 1) { totalCount } }',
      {},
      admin,
    );
    if (data?.collection.countsExact !== true || !(data.search?.totalCount >= 600)) throw new Error('not ready');
  };
  await vi.waitFor(ready, { timeout: 60_000, interval: 200 });
});
afterAll(() => server.close());

test('an operation takes what DynamoDB charges for it, and its answer says what is left', async () => {
  const key = await keyOf('rich');
  const headers = { ...key, ...COST };
  let available = 1e6;
  for (const query of [
    WIDE,
    '{ marker(id: "marker::parks::p1") { properties } }',
    'mutation { createMarker(input: { collection: "parks", key: "own", position: { lng: 1, lat: 1 } }) { key } }',
    '{ __typename }',
  ]) {
    const { extensions, errors, headers: answered } = await server.ask(query, {}, headers);
    expect(errors).toEqual([]);
    const { readUnits, writeUnits, requested, actual, available: left } = extensions.cost;
    expect(actual).toBe(readUnits + 5 * writeUnits);
    expect(requested).toBeGreaterThanOrEqual(actual);
    // The budget of a day fills up by 12 units a second.
    expect(left).toBeGreaterThanOrEqual(Math.floor(available - actual));
    expect(left).toBeLessThan(available - actual + 1_000);
    available = left;
    expect(answered.get('ratelimit-policy')).toBe('"budget";q=1000000;w=86400;qu="read-units"');
    expect(answered.get('ratelimit')).toBe(`"budget";r=${Math.floor(left)};t=${Math.ceil((1e6 - left) * 0.0864)}`);
  }
  expect(available).toBeLessThan(1e6);
});

test('expensive queries in a loop cost their sender its own budget; others are served as before', async () => {
  const other = await keyOf('rich');
  const began = Date.now();
  const attacks: Answer[] = [];
  const goesOn = () => attacks.length < 600;
  const attack = async () => {
    while (goesOn()) {
      for (const query of [SEARCH, WIDE]) attacks.push(await server.ask(query, {}, COST));
    }
  };
  const served: Answer[] = [];
  const use = async () => {
    while (goesOn()) served.push(await server.ask(WIDE, {}, { ...other, ...COST }));
  };
  await Promise.all([...Array.from({ length: 8 }, attack), use()]);
  const refilled = (BUDGET * (Date.now() - began)) / 60_000;
  const used = attacks.reduce((sum, { extensions }) => sum + ((extensions?.cost.actual ?? 0) as number), 0);
  expect(used).toBeLessThanOrEqual(BUDGET + refilled);
  expect(used).toBeGreaterThan(BUDGET / 2);
  const refused = attacks.filter((answer) => codesOf(answer)[0] === 'THROTTLED');
  expect(refused.length).toBeGreaterThan(attacks.length / 2);
  for (const { status, headers, errors, extensions } of refused) {
    const { retryAfterMs } = errors[0].extensions;
    expect([status, retryAfterMs > 0]).toEqual([429, true]);
    // A flood is refused before its requests are read. What was read tells only admins of what others may not see.
    if (extensions !== undefined)
      expect(extensions.cost).toEqual({ requested: 100, actual: 0, available: expect.any(Number) as number });
    expect(headers.get('retry-after')).toBe(String(Math.ceil(retryAfterMs / 1_000)));
  }
  expect(served.length).toBeGreaterThan(0);
  for (const { status, errors, data } of served) {
    expect([status, errors, data?.viewport.markers.nodes.length]).toEqual([200, [], 600]);
  }
});

test('an operation stops at its ceiling, before it reads or writes more', async () => {
  const key = await keyOf('poor');
  const headers = { ...key, ...COST };
  const ids = Array.from({ length: 60 }, (_, n) => `marker::parks::p${n}`);
  const { errors, extensions, data } = await server.ask(
    'query Nodes($ids: [ID!]!) { nodes(ids: $ids) { id } }',
    { ids },
    headers,
  );
  expect([data, codesOf({ errors } as Answer)]).toEqual([undefined, ['LIMIT_EXCEEDED']]);
  expect(errors[0].message).toMatch(/the limit is 25:.*CELLPORT_MAX_REQUEST_UNITS/);
  expect(extensions.cost.actual).toBeLessThanOrEqual(25);
  const markers = Array.from({ length: 6 }, (_, n) => ({ key: `new${n}`, position: { lng: 1, lat: 1 } }));
  const written = await server.ask(
    'mutation Create($markers: [MarkerInput!]!) { createMarkers(collection: "parks", markers: $markers) { markers { key } failures { code } } }',
    { markers },
    headers,
  );
  const { markers: created, failures } = written.data.createMarkers;
  expect(created.length).toBeGreaterThan(0);
  expect(failures).toEqual(Array(6 - created.length).fill({ code: 'LIMIT_EXCEEDED' }));
  expect(written.extensions.cost.actual).toBeLessThanOrEqual(25);
});

test('operations of a WebSocket use the same budget, and are refused alone', async () => {
  const secret = await createKey(db, { roles: ['rich'], budget: { units: 40, per: 'day' } });
  const client = createClient({
    url: `${server.url.replace('http', 'ws')}/graphql`,
    webSocketImpl: WebSocket,
    connectionParams: { authorization: `Bearer ${secret}` },
    retryAttempts: 0,
  });
  const codes = async (query: string) => {
    for await (const { errors = [] } of client.iterate({ query })) {
      return errors.map(({ extensions }) => extensions?.['code']);
    }
    return [];
  };
  const outcomes: unknown[] = [];
  for (let n = 0; n < 60; n++) {
    outcomes.push(await codes(`{ marker(id: "marker::parks::p${n}") { key } }`).catch((error: unknown) => (error as { extensions: { code: string } }[]).map(({ extensions }) => extensions.code))); // prettier-ignore
  }
  // Each takes a unit, and some the half of one for the collection.
  const refusedFrom = outcomes.findIndex((codes) => Array.isArray(codes) && codes.length > 0);
  expect(refusedFrom).toBeGreaterThan(20);
  expect(outcomes.slice(refusedFrom)).toEqual(Array(60 - refusedFrom).fill(['THROTTLED']));
  expect((await server.ask('{ marker(id: "marker::parks::p1") { key } }', {}, bearer(secret))).status).toBe(429);
  const counted = 'subscription { markerChanged(collection: "parks") { marker { cell(precision: 5) { count } } } }';
  expect(await codes(counted).catch((error: unknown) => error)).toMatchObject([{ extensions: { code: 'THROTTLED' } }]);
  // So many refusals were a flood, which is refused for a second.
  const viewer = () => codes('{ viewer { name } }').catch((error: unknown) => error);
  await vi.waitFor(async () => expect(await viewer()).toEqual([]), { timeout: 10_000, interval: 300 });
  await client.dispose();
});

test('a ceiling set by the operator holds for everybody, and measured budgets only report', async () => {
  const measured = await guardedServer(db, RULES, { CELLPORT_BUDGETS: 'measure', CELLPORT_MAX_REQUEST_UNITS: '50' });
  const admin = await keyOf('admin');
  const poor = await keyOf('poor');
  try {
    const ready = async () => expect((await measured.ask('{ __typename }', {}, admin)).status).toBe(200);
    await vi.waitFor(ready, { timeout: 20_000 });
    const ids = Array.from({ length: 100 }, (_, n) => `marker::parks::p${n}`);
    const many = 'query Nodes($ids: [ID!]!) { nodes(ids: $ids) { id } }';
    expect(codesOf(await measured.ask(many, { ids }, admin))).toEqual(['LIMIT_EXCEEDED']);
    const answers: Answer[] = [];
    for (let n = 0; n < 8; n++) answers.push(await measured.ask(many, { ids: ids.slice(0, 40) }, poor));
    expect(answers.map(({ status }) => status)).toEqual(Array(8).fill(200));
    const last = answers.at(-1)?.headers;
    expect(last?.get('ratelimit-policy')).toMatch(/;measured$/);
    expect(last?.get('ratelimit')).toMatch(/;throttled$/);
  } finally {
    await measured.close();
  }
});

test('once an address has made up too many keys, no other is looked up, whatever it asks for', async () => {
  const known = await keyOf('rich');
  const headers = bearer(newApiKey());
  const paths = [
    '/graphql?query={viewer{name}}',
    '/tiles/parks/0/0/0',
    '/maps/parks?bbox=9,49,12,57&zoom=6',
    '/ogc',
    '/readyz',
    // The same under other names.
    '/%67raphql?query={viewer{name}}',
    '/%74iles/parks/0/0/0',
    '/%72eadyz',
  ];
  const statuses = async (sent: Record<string, string>) => {
    const own = { 'apollo-require-preflight': '1', ...sent };
    return Promise.all(paths.map(async (path) => (await fetch(server.url + path, { headers: own })).status));
  };
  expect(await statuses(known)).toEqual(paths.map(() => 200));
  const flooded = vi.spyOn(Budgets.prototype, 'admitStranger').mockImplementation(() => {
    throw new CellportError('THROTTLED', 'too many');
  });
  const read = vi.spyOn(db.client, 'send');
  try {
    expect(await statuses(headers)).toEqual(paths.map(() => 429));
    expect(read.mock.calls.filter(([{ input }]) => JSON.stringify(input).includes('"key::'))).toEqual([]);
  } finally {
    flooded.mockRestore();
    read.mockRestore();
  }
});

test('tiles and other answers by URL take from the same budget, and are refused beyond it', async () => {
  const headers = await keyOf('poor');
  const get = (path: string) => fetch(server.url + path, { headers });
  // Its properties are in 600 base items.
  const large = await get('/tiles/parks/8/135/86?limit=5000&properties=note');
  expect([large.status, large.headers.get('ratelimit-policy')]).toEqual([
    400,
    '"budget";q=100;w=86400;qu="read-units"',
  ]);
  expect(JSON.stringify(await large.json())).toContain('LIMIT_EXCEEDED');
  let refused: Response | undefined;
  for (let n = 0; n < 200 && refused === undefined; n++) {
    const answer = await get(`/ogc/collections/parks/items/p${n}`);
    if (answer.status !== 200) refused = answer;
  }
  expect([refused?.status, Number(refused?.headers.get('retry-after')) > 0]).toEqual([429, true]);
  expect(JSON.stringify(await refused?.json())).toContain('THROTTLED');
  expect((await get('/maps/parks?bbox=9,49,12,57&zoom=6')).status).toBe(429);
});
