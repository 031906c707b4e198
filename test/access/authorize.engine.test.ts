import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { DynamoDBClient } from '@aws-sdk/client-dynamodb';
import { createYoga } from 'graphql-yoga';
import { afterAll, beforeAll, describe, expect, onTestFinished, test, vi } from 'vitest';

import { silentLog } from '../../src/log.js';
import {
  createCellport,
  type Authorization,
  type AuthorizationQuestion,
  type Cellport,
} from '../../src/server/public.js';
import { newCall } from '../../src/store/database.js';
import { createMarkers } from '../../src/store/marker/markers.js';
import { createZone } from '../../src/store/zone/zones.js';
import { until } from '../live/support.js';
import { variants } from '../support/rounds.js';
import { rectangle } from '../support/shapes.js';
import { temporaryFolder } from '../support/temporary-folder.js';
import { engine, testCollection, testDatabase } from '../support/test-database.js';
import { everyMutation, everyQuery } from './every-field.js';
import { bearer, createKey, setRules } from './guarded-server.js';

const folder = temporaryFolder();
const db = await testDatabase('readable', { stream: true });
const where = { properties: [{ name: 'fleet', eq: 'north' }] };
const READ = { may: ['read'] };
const RULES = {
  roles: {
    stranger: [{ collections: ['others'], ...READ }],
    reader: [{ collections: ['guarded'], ...READ, where }],
    driver: [{ collections: ['guarded'], may: ['read', 'write', 'record'], where }],
    writer: [{ collections: ['guarded'], may: ['write'] }],
    admin: [{ collections: ['*'], may: ['read', 'write', 'record', 'admin'] }],
  },
};
type Role = keyof typeof RULES.roles;

/** The same decisions as those rules, by a header that says the role. */
function authorize({ request, action, collection }: AuthorizationQuestion): Authorization {
  const role = request === null ? 'admin' : (request.headers['x-role'] as Role);
  const [rule] = RULES.roles[role];
  const [named = ''] = rule?.collections ?? [];
  if (named !== '*' && named !== collection) return false;
  if (rule?.may.includes(action) !== true) return false;
  return 'where' in rule ? { where } : true;
}

const FIND = '{ search(text: "marker", first: 200) { totalCount edges { node { ... on Marker { id } } } } }';

let byRules: Cellport;
let byFunction: Cellport;
let globalId: string;
const keys: Partial<Record<Role, Record<string, string>>> = {};
const roles = Object.keys(RULES.roles) as Role[];
const now = new Date().toISOString();
const FLEETS = ['north', 'south', 'west'];
/** Markers of all fleets, of which every third is of the north. */
const markers = Array.from({ length: 60 }, (_, n) => ({
  key: n === 1 ? 'canary' : `m${n}`,
  position: { lng: 10 + n / 50, lat: 50 + n / 50 },
  name: `Marker ${n}`,
  place: ['Town', String(n % 7)],
  properties: { fleet: FLEETS[n % 3] ?? '' },
}));

beforeAll(async () => {
  for (const key of ['guarded', 'others']) {
    const input = { key, name: key, mapProperties: ['fleet'], globalIds: true };
    const collection = await testCollection(db, input, now);
    const { written } = await createMarkers(newCall(db), collection, markers, now);
    globalId = written[1]?.marker.globalId ?? '';
    await createZone(newCall(db), collection, { key: 'area', geometry: rectangle(9, 49, 12, 52) }, now);
  }
  await setRules(db, RULES);
  for (const role of roles) keys[role] = bearer(await createKey(db, { roles: [role] }));
  const { endpoint, region, credentials } = engine();
  const client = new DynamoDBClient({ endpoint, region, credentials });
  const common = { table: db.tables.entities, client, log: silentLog };
  const settings = {
    CELLPORT_ENGINE: 'aws',
    CELLPORT_AUDIT: 'off',
    CELLPORT_CACHE_SECONDS: '60',
    CELLPORT_SEARCH_MB: '16',
    CELLPORT_DATA_DIR: folder,
  };
  byRules = await createCellport({ ...common, consumer: false, settings: { ...settings, CELLPORT_AUTH: 'on' } });
  byFunction = await createCellport({ ...common, authorize, settings });
  client.destroy();
  await until(async () => {
    for (const one of [byRules, byFunction]) {
      const query =
        '{ guarded: collection(key: "guarded") { count countsExact } others: collection(key: "others") { count } }';
      const { data } = await one.execute({ query, headers: { ...keys.admin, 'x-role': 'admin' } });
      const found = await one.execute({ query: FIND, headers: { ...keys.admin, 'x-role': 'admin' } });
      if (JSON.stringify(found).includes('UNAVAILABLE')) return false;
      const { guarded, others } = data as Record<string, { count: number; countsExact?: boolean } | undefined>;
      if (guarded?.count !== 60 || others?.count !== 60 || guarded.countsExact !== true) return false;
    }
    return true;
  });
});
afterAll(async () => {
  await byFunction.close();
  await byRules.close();
});

/** Without what differs from one moment to the next, and what only rules have. */
const textOf = (answer: object) =>
  JSON.stringify(answer)
    .replaceAll(/"asOf":"[^"]*"/g, '"asOf":"then"')
    .replaceAll(/"(updatedAt|createdAt)":"[^"]*"/g, '"$1":"then"')
    .replaceAll(/"roles":\[[^\]]*\]/g, '"roles":[]');

async function both(query: string, role: Role): Promise<readonly [string, string]> {
  const ruled = await byRules.execute({ query, headers: keys[role] ?? {} });
  return [textOf(ruled), textOf(await byFunction.execute({ query, headers: { 'x-role': role } }))];
}

describe.each(variants(roles, 2))('for a %s', (role) => {
  test('a function that decides as rules do gives the same answers as rules, whatever is read', async () => {
    const [ruled, asked] = await both(FIND, role);
    expect(asked).toBe(ruled);
    for (const key of ['guarded', 'others', 'unused']) {
      for (const [type, query] of everyQuery(key, globalId)) {
        // A server that is held up for seconds reads the index instead of pages, and may then refuse to count.
        await vi.waitFor(
          async () => {
            const [ofRules, ofFunction] = await both(query, role);
            expect(ofFunction, `${type} of ${key}`).toBe(ofRules);
          },
          { timeout: 60_000 },
        );
      }
    }
  });

  test('it sees its own rows alone: in lists, counts, cells, clusters and places', async () => {
    const query = `{
      collection(key: "guarded") { count places { count } within(center: { lng: 10, lat: 50 }, radius: 900000, first: 100) { nodes { key } } }
      viewport(bounds: { west: 0, south: 40, east: 20, north: 60 }, zoom: 4) {
        count(collection: "guarded") cells(collection: "guarded") { count } clusters(collection: "guarded") { count }
        features(collection: "guarded") } }`;
    const { data } = await byFunction.execute({ query, headers: { 'x-role': role } });
    const may = authorize({ request: { headers: { 'x-role': role } }, action: 'read', collection: 'guarded' });
    const own = markers.filter(({ properties: { fleet } }) => may === true || (may !== false && fleet === 'north'));
    type Counted = readonly { readonly count: number }[];
    const { collection, viewport } = data as {
      collection: { count: number; places: Counted; within: { nodes: readonly { key: string }[] } } | null;
      viewport: { count: number; cells: Counted; clusters: Counted; features: { features: readonly unknown[] } } | null;
    };
    if (may === false) {
      expect(JSON.stringify(data)).not.toMatch(/\d/);
      return;
    }
    const sum = (counted: Counted = []) => counted.reduce((all, { count }) => all + count, 0);
    expect(collection?.within.nodes.map(({ key }) => key).sort()).toEqual(own.map(({ key }) => key).sort());
    const counts = [collection?.count, sum(collection?.places), viewport?.count, viewport?.features.features.length];
    const all = [...counts, sum(viewport?.cells), sum(viewport?.clusters)];
    expect(all).toEqual(Array(6).fill(own.length));
  });
});

test.each(['stranger', 'reader', 'writer'] as const)('a %s is refused the changes that rules refuse', async (role) => {
  for (const key of ['guarded', 'others', 'unused']) {
    for (const [field, mutation] of everyMutation(key)) {
      const isWritten = role === 'writer' && key === 'guarded' && !field.endsWith('Collection');
      // What is allowed would change what the other one finds.
      if (isWritten) continue;
      const [ruled, asked] = await both(mutation, role);
      expect(asked, `${field} of ${key}`).toBe(ruled);
      expect(asked).toMatch(/FORBIDDEN|NOT_FOUND|"deleted":0/);
    }
  }
});

test('whoever sees some rows changes only those', async () => {
  const update = (key: string, fleet = 'north') =>
    byFunction.execute({
      query: `mutation { updateMarker(input: { id: "marker::guarded::${key}", properties: { fleet: "${fleet}" } }) { key } }`,
      headers: { 'x-role': 'driver' },
    });
  const codes = async (key: string, fleet?: string) =>
    (await update(key, fleet)).errors?.map(({ extensions }) => extensions?.['code']);
  expect(await codes('m3')).toBeUndefined();
  expect(await codes('m3', 'south')).toEqual(['NOT_FOUND']);
  expect(await codes('canary')).toEqual(['NOT_FOUND']);
});

test('a filter for whatever is asked does not let its user delete the collection', async () => {
  const { endpoint, region, credentials } = engine();
  const client = new DynamoDBClient({ endpoint, region, credentials });
  const settings = { CELLPORT_ENGINE: 'aws', CELLPORT_SEARCH_MB: '0' };
  const options = { table: db.tables.entities, client, consumer: false, log: silentLog, settings };
  const filtering = await createCellport({ ...options, authorize: () => ({ where }) });
  onTestFinished(() => filtering.close());
  client.destroy();
  const query = 'mutation { deleteCollection(key: "others") { key } }';
  const { errors } = await filtering.execute({ query, headers: {} });
  expect(errors?.map(({ extensions }) => extensions?.['code'])).toEqual(['FORBIDDEN']);
});

test('a server with a class of its own for headers, such as GraphQL Yoga, passes who asks on, and so does any case', async () => {
  const yoga = createYoga({
    schema: byFunction.schema,
    context: ({ request }) => byFunction.context(request),
    logging: false,
  });
  const server = createServer((request, response) => void yoga(request, response)).listen(0, '127.0.0.1');
  onTestFinished(() => void server.close());
  await once(server, 'listening');
  const query = '{ collections { nodes { key } } }';
  const asked = await fetch(`http://127.0.0.1:${(server.address() as AddressInfo).port}/graphql`, {
    method: 'POST',
    headers: { 'content-type': 'application/json', 'x-role': 'reader' },
    body: JSON.stringify({ query }),
  });
  const own = { data: { collections: { nodes: [{ key: 'guarded' }] } } };
  expect(await asked.json()).toEqual(own);
  expect(await byFunction.execute({ query, headers: { 'X-Role': 'reader' } })).toEqual(own);
});

test('calls of your own code are told from requests, and contexts and handlers ask, too', async () => {
  expect((await byFunction.markers.get('marker::guarded::canary'))?.key).toBe('canary');
  const request = (role: string) =>
    new Request('http://localhost/graphql?query=%7Bcollections%7Bnodes%7Bkey%7D%7D%7D', {
      headers: { 'x-role': role, 'apollo-require-preflight': '1' },
    });
  const answer = await byFunction.fetch(request('reader'));
  expect(await answer.text()).toContain('{"data":{"collections":{"nodes":[{"key":"guarded"}]}}}');
  // A cookie may decide, of which caches know nothing.
  expect(answer.headers.get('cache-control')).toBe('no-store');
  for (const path of [
    '/tiles/guarded/0/0/0',
    '/maps/guarded?bbox=9,49,12,52&zoom=5',
    '/ogc/collections/guarded/items',
  ]) {
    const asked = await byFunction.fetch(new Request(`http://localhost${path}`, { headers: { 'x-role': 'reader' } }));
    expect([path, asked.status, asked.headers.get('cache-control')]).toEqual([path, 200, 'private, no-cache']);
  }
});

test('a subscription asks again for each event', async () => {
  const { endpoint, region, credentials } = engine();
  const client = new DynamoDBClient({ endpoint, region, credentials });
  let allowed = true;
  const settings = { CELLPORT_ENGINE: 'aws', CELLPORT_SEARCH_MB: '0' };
  const options = { table: db.tables.entities, client, consumer: false, log: silentLog, settings };
  const asking = await createCellport({ ...options, authorize: ({ request }) => request === null || allowed });
  onTestFinished(() => asking.close());
  client.destroy();
  const query = 'subscription { markerChanged(collection: "others") { marker { key } } }';
  const headers = { 'content-type': 'application/json' };
  const body = JSON.stringify({ query });
  const request = new Request('http://localhost/graphql/stream', { method: 'POST', headers, body });
  const reader = (await asking.fetch(request)).body?.pipeThrough(new TextDecoderStream()).getReader();
  let text = '';
  void (async () => {
    for (let part = await reader?.read(); part?.done === false; part = await reader?.read()) text += part.value;
  })();
  let n = 0;
  const tellsOf = (key: string, what: string) =>
    until(async () => {
      await asking.markers.upsert('others', [{ key: `${key}${(n += 1)}`, position: { lng: 1, lat: 2 } }]);
      return text.includes(what);
    });
  await tellsOf('seen', '"key":"seen');
  allowed = false;
  await tellsOf('hidden', 'NOT_FOUND');
  expect(text).not.toContain('"key":"hidden');
});

test('an answer that is no answer, such as a promise or a filter that filters nothing, allows nothing and is logged', async () => {
  const { endpoint, region, credentials } = engine();
  const client = new DynamoDBClient({ endpoint, region, credentials });
  let answer: () => unknown = () => true;
  const logged: unknown[] = [];
  const late = await createCellport({
    table: db.tables.entities,
    client,
    consumer: false,
    log: { ...silentLog, error: ({ err }) => void logged.push(err) },
    authorize: ({ action, request }) =>
      action === 'admin' || request === null || (answer() as ReturnType<typeof authorize>),
    settings: { CELLPORT_ENGINE: 'aws' },
  });
  client.destroy();
  const ask = () =>
    late.execute({ query: '{ collection(key: "guarded") { markers(first: 1) { nodes { key } } } }', headers: {} });
  expect(JSON.stringify(await ask())).toContain('"key":"');
  for (const wrong of [
    async () => true,
    // It must not end the process.
    () => Promise.reject(new Error('who asks is not known')),
    () => 'yes',
    () => 1,
    () => ({}),
    () => ({ where: undefined }),
    () => ({ where: {} }),
    () => ({ where: { propertys: [{ name: 'fleet', eq: 'north' }] } }),
    () => ({ where: { properties: [{ name: 'fleet', eq: undefined }] } }),
  ]) {
    answer = wrong;
    expect(JSON.stringify(await ask())).not.toContain('"key":"');
    expect(logged.splice(0).map(String)).toContainEqual(expect.stringMatching(/^Error: authorize must/));
  }
  for (const no of [undefined, null, false]) {
    answer = () => no;
    expect((await ask()).data).toEqual({ collection: null });
  }
  expect(logged).toEqual([]);
  await Promise.all([late.close(), late.close()]);
  // Whatever asks later is told why there is no answer.
  const closed = { message: expect.stringContaining('closed') as unknown, extensions: { code: 'UNAVAILABLE' } };
  expect(await late.execute({ query: '{ collections { nodes { key } } }' })).toEqual({ errors: [closed] });
  await expect(late.context()).rejects.toMatchObject({ code: 'UNAVAILABLE' });
  await expect(late.markers.get('marker::guarded::canary')).rejects.toMatchObject({ code: 'UNAVAILABLE' });
  const refused = await late.fetch(new Request('http://localhost/healthz'));
  expect([refused.status, await refused.json()]).toEqual([503, { errors: [closed] }]);
});
