import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest';

import { newCall } from '../../src/store/database.js';
import { createMarkers } from '../../src/store/marker/markers.js';
import { createZone } from '../../src/store/zone/zones.js';
import { rectangle } from '../support/shapes.js';
import { testCollection, testDatabase } from '../support/test-database.js';
import { everyMutation, everyQuery, everySubscription } from './every-field.js';
import { bearer, createKey, guardedServer, type GuardedServer } from './guarded-server.js';
import { TRANSPORTS, type Plain } from './transports.js';

const db = await testDatabase('readable', { stream: true });
const RULES = {
  roles: {
    stranger: [{ collections: ['others'], may: ['read'] }],
    reader: [
      {
        collections: ['guarded'],
        may: ['read'],
        where: { properties: [{ name: 'fleet', eq: '$fleet' }] },
        hide: ['canary'],
      },
    ],
    driver: [{ collections: ['guarded'], may: ['read'], where: { properties: [{ name: 'fleet', eq: '$fleet' }] } }],
    admin: [{ collections: ['*'], may: ['read', 'write', 'record', 'admin'] }],
  },
};
type Role = keyof typeof RULES.roles;
let server: GuardedServer;
let globalId: string;
const headers: Partial<Record<Role, Record<string, string>>> = {};
const now = new Date().toISOString();

beforeAll(async () => {
  const input = { key: 'guarded', name: 'Guarded', mapProperties: ['fleet', 'canary'], globalIds: true };
  const collection = await testCollection(db, input, now);
  const markers = Array.from({ length: 40 }, (_, n) => ({
    key: n === 0 ? 'canary' : n % 2 === 0 ? `canary-${n}` : `seen-${n}`,
    position: { lng: 10 + n / 50, lat: 50 + n / 50 },
    name: n % 2 === 0 ? `Canary ${n}` : `Seen ${n}`,
    place: ['Town', n % 2 === 0 ? 'Canary' : 'Seen'],
    properties: { fleet: n % 2 === 0 ? 'south' : 'north', canary: 'canary' },
  }));
  const { written } = await createMarkers(newCall(db), collection, markers, now);
  globalId = written[0]?.marker.globalId ?? '';
  await createZone(newCall(db), collection, { key: 'area', geometry: rectangle(9, 49, 12, 52) }, now);
  server = await guardedServer(db, RULES, { CELLPORT_SEARCH_MB: '64' });
  for (const role of Object.keys(RULES.roles) as Role[]) {
    headers[role] = bearer(await createKey(db, { roles: [role], variables: { fleet: 'north' } }));
  }
  await vi.waitFor(
    async () => {
      const query = '{ collection(key: "guarded") { count countsExact } search(text: "canary") { totalCount } }';
      const { data } = await server.ask(query, {}, headers.admin);
      const { collection: counted, search } = data;
      if (counted.count !== 40 || !counted.countsExact || !search) throw new Error('nothing is counted yet');
    },
    { timeout: 60_000, interval: 200 },
  );
});
afterAll(() => server.close());

const KEY = /guarded|unused/g;
/** Without what differs from one moment to the next. */
const textOf = ({ data = null, errors = [] }: Plain) =>
  JSON.stringify({ data, errors: errors.map((error) => JSON.stringify(error)).sort() })
    .replaceAll(KEY, 'KEY')
    .replaceAll(/"asOf":"[^"]*"/g, '"asOf":"then"');

/** The answers of all transports, which must be one. */
async function same(query: string, role: Role, transports: readonly (keyof typeof TRANSPORTS)[]): Promise<string> {
  const answers = await Promise.all(transports.map((name) => TRANSPORTS[name](server.url, query, headers[role] ?? {})));
  const [first = '', ...others] = answers.map(textOf);
  for (const text of others) expect(text).toBe(first);
  return first;
}

const READING = ['POST', 'GET', 'events', 'events by GET', 'WebSocket'] as const;
const WRITING = ['POST', 'events', 'WebSocket'] as const;

describe.each(everyQuery('guarded', '00000000-0000-4000-8000-000000000000').map(([type]) => type))(
  'every field of %s',
  (type) => {
    const query = (key: string) => new Map(everyQuery(key, globalId)).get(type) ?? '';

    test('is of nothing, for someone who may not read the collection', async () => {
      const [guarded, unused] = [
        await same(query('guarded'), 'stranger', READING),
        await same(query('unused'), 'stranger', READING),
      ];
      expect(guarded).toBe(unused);
      expect(guarded).not.toMatch(/canary|seen-/i);
    });

    test('is of the rows alone, for someone who may read some', async () => {
      const { length } = 'marker::KEY::canary';
      expect(length).toBeGreaterThan(0);
      expect(await same(query('guarded'), 'reader', READING)).not.toMatch(/canary/i);
    });

    test('is answered whole, for an admin', async () => {
      const { errors } = JSON.parse(await same(query('guarded'), 'admin', READING)) as Plain;
      expect(errors).toEqual([]);
    });
  },
);

describe.each(everyMutation('guarded').map(([field]) => field))('%s', (field) => {
  const mutation = (key: string) => new Map(everyMutation(key)).get(field) ?? '';

  test('is refused before anything happens, to whoever may not', async () => {
    const [guarded, unused] = [
      await same(mutation('guarded'), 'stranger', WRITING),
      await same(mutation('unused'), 'stranger', WRITING),
    ];
    expect(guarded).toBe(unused);
    // Markers that do not exist are no failures of it.
    if (field !== 'deleteMarkers') expect(guarded).toContain('NOT_FOUND');
    const refused = await same(mutation('guarded'), 'reader', WRITING);
    expect(refused).toContain('FORBIDDEN');
    const inFragment = mutation('guarded').replace(/^mutation/, 'mutation { ...Own } fragment Own on Mutation');
    if (field !== 'deleteMarkers') expect(await same(inFragment, 'reader', WRITING)).toBe(refused);
    for (const role of ['stranger', 'reader', 'admin'] as const) {
      const { errors = [] } = await TRANSPORTS.GET(server.url, mutation('guarded'), headers[role] ?? {});
      expect(errors).toHaveLength(1);
    }
  });
});

test.each(everySubscription('KEY'))('%s is refused like a query', async (query) => {
  const of = (key: string) => same(query.replace('KEY', key), 'stranger', ['events', 'events by GET', 'WebSocket']);
  const guarded = await of('guarded');
  expect(guarded).toBe(await of('unused'));
  expect(guarded).toContain('NOT_FOUND');
});

/** Every URL that answers from a collection, besides GraphQL. */
const routes = (key: string) => [
  `/tiles/${key}/0/0/0`,
  `/tiles/${key}/14/8647/5545.mvt?layers=markers,clusters,cells,zones&properties=canary,fleet`,
  `/tiles/${key}/5/16/10?limit=1&layers=clusters,cells`,
  `/tiles/${key}/6/33/21?filter={"properties":[{"name":"canary","eq":"canary"}]}`,
  `/tiles/${key}.json?layers=markers,zones`,
  `/maps/${key}?bbox=9,49,12,52&zoom=5`,
  `/maps/${key}?bbox=9,49,12,52&zoom=5&limit=1`,
  `/ogc/collections/${key}`,
  `/ogc/collections/${key}?f=html`,
  `/ogc/collections/${key}/items?bbox=9,49,12,52`,
  `/ogc/collections/${key}/items?limit=5&f=html`,
  `/ogc/collections/${key}/items?filter=canary='canary'`,
  `/ogc/collections/${key}/items/seen-1`,
  `/ogc/collections/${key}/queryables`,
  `/ogc/collections/${key}/tiles`,
  `/ogc/collections/${key}/tiles/WebMercatorQuad?f=html`,
];

describe.each(routes('guarded').map((path, index) => [path, index] as const))('%s', (_path, index) => {
  const get = async (key: string, sent: Record<string, string> = {}) => {
    const answer = await fetch(server.url + (routes(key)[index] ?? ''), { headers: sent });
    // Links repeat the filter, which names what is hidden.
    const body = Buffer.from(await answer.arrayBuffer())
      .toString('latin1')
      .replaceAll(/\?filter=[^&"]*/g, '');
    const shown = ['cache-control', 'cache-tag', 'etag', 'x-cellport-count', 'content-type'].map((name) =>
      answer.headers.get(name),
    );
    return { status: answer.status, text: JSON.stringify([body, ...shown]).replaceAll(KEY, 'KEY'), body, shown };
  };

  test('is of nothing for someone who may not read the collection, and needs a credential', async () => {
    const [guarded, unused] = [await get('guarded', headers.stranger), await get('unused', headers.stranger)];
    expect([guarded.status, guarded.text]).toEqual([404, unused.text]);
    expect((await get('guarded')).status).toBe(401);
    expect((await get('guarded', { 'x-api-key': 'cpk_wrong' })).status).toBe(401);
  });

  test('is of the rows alone, for someone who may read some, however often others have asked', async () => {
    for (let n = 0; n < 2; n++) {
      const whole = await get('guarded', headers.admin);
      expect([200, 204]).toContain(whole.status);
      const part = await get('guarded', headers.reader);
      expect(part.text).not.toMatch(/canary|south/i);
      const [control, , etag] = part.shown;
      expect(control).toBe('private, no-cache');
      if (whole.body !== part.body) expect(etag).not.toBe(whole.shown[2]);
      if (index === 0) expect([whole.shown[3], part.shown[3]]).toEqual(['40', '20']);
      // What is hidden from the reader is not from the driver, who might get what the admin got.
      const driver = await get('guarded', headers.driver);
      expect(driver.text).not.toMatch(/canary-\d|south/i);
      if (index === 0) expect(driver.shown[3]).toBe('20');
      if (index === 3) expect([whole.shown[3], part.shown[3]]).toEqual(['40', '0']);
    }
  });
});

test('changed tiles are told to whoever may read the collection, and are those of its rows', async () => {
  const answerOf = async (key: string, role: Role) => {
    const answer = await fetch(`${server.url}/tiles/${key}/changes`, { headers: headers[role] ?? {} });
    return [answer.status, (await answer.text()).replaceAll(KEY, 'KEY')];
  };
  expect(await answerOf('guarded', 'stranger')).toEqual(await answerOf('unused', 'stranger'));
  expect((await answerOf('guarded', 'stranger'))[0]).toBe(404);
  expect((await fetch(`${server.url}/tiles/guarded/changes`)).status).toBe(401);
  const leaving = new AbortController();
  const options = { headers: headers.reader ?? {}, signal: leaving.signal };
  const stream = await fetch(`${server.url}/tiles/guarded/changes`, options);
  const change = (key: string, lng: number) =>
    server.ask(
      `mutation { updateMarker(input: { id: "marker::guarded::${key}", position: { lng: ${lng}, lat: 0.01 } }) { key } }`,
      {},
      headers.admin,
    );
  await change('canary-2', 90.01);
  await change('seen-1', 0.01);
  let text = '';
  for await (const part of stream.body ?? []) {
    text += Buffer.from(part).toString();
    if (text.includes('event: changed')) break;
  }
  expect(text).toContain('[8192,8191]');
  // 90 degrees east.
  expect(text).not.toContain('[12288,');
  leaving.abort();
});

test('a stranger cannot make the server send a tile that it has for others, by its ETag', async () => {
  const own = await fetch(`${server.url}/tiles/guarded/0/0/0`, { headers: headers.admin ?? {} });
  const known = { 'if-none-match': own.headers.get('etag') ?? '' };
  const answer = await fetch(`${server.url}/tiles/guarded/0/0/0`, { headers: { ...headers.stranger, ...known } });
  expect(answer.status).toBe(404);
});

test('no cache keeps what is refused to one principal: others may see it', async () => {
  const paths = [
    'tiles/guarded/0/0/0',
    'maps/guarded?bbox=0,0,1,1&zoom=3',
    'ogc/collections/guarded',
    'tiles/guarded/9/9',
  ];
  for (const sent of [headers.stranger, { 'x-api-key': 'wrong' }]) {
    for (const path of [...paths, 'tiles/guarded/changes']) {
      const answer = await fetch(`${server.url}/${path}`, { headers: sent ?? {} });
      expect([path, answer.ok, answer.headers.get('cache-control')]).toEqual([path, false, 'no-store']);
    }
  }
});

test('OGC lists only what its reader may read, and has no item outside of the rows', async () => {
  const ids = async (role: Role) => {
    const answer = await fetch(`${server.url}/ogc/collections`, { headers: headers[role] ?? {} });
    return ((await answer.json()) as { collections: { id: string }[] }).collections.map(({ id }) => id);
  };
  expect([await ids('stranger'), await ids('reader'), await ids('admin')]).toEqual([[], ['guarded'], ['guarded']]);
  const get = async (key: string) => {
    const url = `${server.url}/ogc/collections/guarded/items/${key}`;
    const answer = await fetch(url, { headers: headers.reader ?? {} });
    return [answer.status, (await answer.text()).replaceAll(key, 'KEY')];
  };
  expect(await get('canary')).toEqual(await get('nobody'));
  expect((await get('canary'))[0]).toBe(404);
});
