// The set-up asserts, too.
// oxlint-disable vitest/no-standalone-expect
import { afterAll, beforeAll, expect, test, vi } from 'vitest';

import { LAYERS } from '../../src/map/tiles/tile.js';
import { newCall } from '../../src/store/database.js';
import { createMarkers } from '../../src/store/marker/markers.js';
import { decodeLayer } from '../support/decode-tile.js';
import { randomFrom } from '../support/random.js';
import { testCollection, testDatabase } from '../support/test-database.js';
import { bearer, createKey, guardedServer, type GuardedServer } from './guarded-server.js';

const db = await testDatabase('readable', { stream: true });
const RULES = {
  roles: {
    driver: [
      {
        collections: ['mixed'],
        may: ['read'],
        where: { properties: [{ name: 'fleet', eq: '$fleet' }] },
        hide: ['margin', 'fleet'],
      },
    ],
    blind: [{ collections: ['mixed'], may: ['read'], hide: ['margin', 'fleet'] }],
    admin: [{ collections: ['*'], may: ['read', 'write', 'record', 'admin'] }],
  },
};
const random = randomFrom(3);
const markers = Array.from({ length: 120 }, (_, n) => ({
  key: `m${n}`,
  position: { lng: 10 + random() / 4, lat: 50 + random() / 4 },
  name: `Name ${n}`,
  properties: { speed: n % 7, note: `note ${n}`, fleet: n % 3 === 0 ? 'north' : 'foreign', margin: `secret ${n}` },
}));
const shown = markers.map(({ properties: { fleet: _fleet, margin: _margin, ...properties }, ...one }) => ({
  ...one,
  properties,
}));
/** What each collection has: `mixed` everything, the others what a principal of `mixed` is to see. */
const CONTENTS = { mixed: markers, north: shown.filter((_, n) => n % 3 === 0), every: shown };

const filtered = (...properties: object[]) => `filter=${encodeURIComponent(JSON.stringify({ properties }))}`;
const SEEN = filtered({ name: 'speed', gte: 3 });
const HIDDEN = [
  filtered({ name: 'margin', exists: true }),
  filtered({ name: 'margin', contains: 'secret' }),
  filtered({ name: 'fleet', eq: 'north' }),
  filtered({ name: 'fleet', ne: 'north' }),
];
/** Questions by URL, of a collection whose key stands in place of KEY. */
const URLS = [
  ...['8/135/86', '11/1082/692', '5/16/10', '0/0/0'].flatMap((tile) => [
    `/tiles/KEY/${tile}?properties=margin,note,fleet`,
    `/tiles/KEY/${tile}?limit=10&${SEEN}`,
    ...HIDDEN.map((filter) => `/tiles/KEY/${tile}?${filter}`),
  ]),
  ...['zoom=4', 'zoom=9', 'zoom=9&limit=5', ...HIDDEN.map((filter) => `zoom=12&${filter}`)].map(
    (rest) => `/maps/KEY?bbox=9.9,49.9,10.3,50.3&${rest}`,
  ),
  '/ogc/collections/KEY/items?limit=200',
  '/ogc/collections/KEY/items?limit=200&bbox=10,50,10.1,50.1',
  ...['m0', 'm1', 'm2'].map((key) => `/ogc/collections/KEY/items/${key}`),
  '/ogc/collections/KEY/items?limit=200&f=html',
];
const ORIGIN = 'https://maps.example';
let server: GuardedServer;

/** What a tile has, without the numbers of its features, which are hashes of their IDs, and in one order. */
const shownIn = (tile: Uint8Array) =>
  LAYERS.map((layer) =>
    decodeLayer(tile, layer)
      .map(({ id: _id, ...feature }) => JSON.stringify(feature).replaceAll(/(mixed|north|every)::/g, ''))
      .sort(),
  );

beforeAll(async () => {
  const now = new Date().toISOString();
  for (const [key, list] of Object.entries(CONTENTS)) {
    const made = { key, name: 'Name', mapProperties: ['speed', 'fleet', 'margin'] };
    const collection = await testCollection(db, made, now);
    expect((await createMarkers(newCall(db), collection, list, now)).failures).toEqual([]);
  }
  server = await guardedServer(db, RULES, { CELLPORT_ALLOWED_ORIGINS: `https://other.example,${ORIGIN}` });
  const admin = bearer(await createKey(db, { roles: ['admin'] }));
  await vi.waitFor(
    async () => {
      for (const [key, list] of Object.entries(CONTENTS)) {
        const { data } = await server.ask(`{ collection(key: "${key}") { count countsExact } }`, {}, admin);
        expect(data).toEqual({ collection: { count: list.length, countsExact: true } });
      }
    },
    { timeout: 60_000, interval: 200 },
  );
});
afterAll(() => server.close());

test.each([
  ['driver', 'north'],
  ['blind', 'every'],
] as const)('whatever a %s asks by URL is answered as of a collection with only what it sees', async (role, like) => {
  const own = bearer(await createKey(db, { roles: [role], variables: { fleet: 'north' } }));
  const admin = bearer(await createKey(db, { roles: ['admin'] }));
  const answer = async (url: string, key: string, headers: Record<string, string>) => {
    const response = await fetch(server.url + url.replaceAll('KEY', key), { headers });
    const body = Buffer.from(await response.arrayBuffer());
    const isTile = response.headers.get('content-type') === 'application/vnd.mapbox-vector-tile';
    const text = isTile ? JSON.stringify(shownIn(body)) : body.toString();
    return [response.status, response.headers.get('x-cellport-count'), text.replaceAll(key, 'KEY')];
  };
  expect((await answer('/tiles/KEY.json', 'mixed', own))[2]).not.toMatch(/margin|fleet/);
  for (const url of URLS) {
    const [seen, told] = [await answer(url, 'mixed', own), await answer(url, like, admin)];
    expect([url, ...seen]).toEqual([url, ...told]);
    expect(JSON.stringify(seen)).not.toMatch(/secret|foreign/);
  }
});

test('caches are told of all that an answer depends on: who asks, from which page, and how', async () => {
  const headers = { ...bearer(await createKey(db, { roles: ['admin'] })), origin: ORIGIN };
  for (const url of [...URLS, '/graphql?query={viewer{name}}']) {
    const answer = await fetch(server.url + url.replaceAll('KEY', 'mixed'), { headers });
    expect([url, answer.headers.get('access-control-allow-origin')]).toEqual([url, ORIGIN]);
    const named = answer.headers.get('vary')?.toLowerCase().split(', ') ?? [];
    expect([url, ...named]).toEqual([url, ...new Set(named)]);
    expect([url, named]).toEqual([
      url,
      expect.arrayContaining(url.startsWith('/graphql') ? ['origin'] : ['origin', 'authorization', 'x-api-key']),
    ]);
  }
});
