import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest';

import { newCall } from '../../src/store/database.js';
import { createMarkers } from '../../src/store/marker/markers.js';
import { testCollection, testDatabase } from '../support/test-database.js';
import { bearer, createKey, guardedServer, JWT, token, type GuardedServer } from './guarded-server.js';

const db = await testDatabase('readable', { stream: true });
const RULES = {
  roles: {
    anonymous: [{ collections: ['parks'], may: ['read'] }],
    driver: [
      {
        collections: ['vehicles'],
        may: ['read', 'write', 'record'],
        where: { properties: [{ name: 'fleet', eq: '$fleet' }] },
        hide: ['margin'],
      },
    ],
    tenant: [
      {
        collections: ['vehicles'],
        may: ['read', 'write', 'admin'],
        where: { properties: [{ name: 'fleet', eq: 'north' }] },
      },
    ],
    chief: [
      { collections: ['vehicles'], may: ['admin'] },
      { collections: ['vehicles'], may: ['read'], where: { properties: [{ name: 'fleet', eq: 'north' }] } },
    ],
    admin: [{ collections: ['*'], may: ['read', 'write', 'record', 'admin'] }],
  },
  jwt: JWT,
};
let server: GuardedServer;
let north: Record<string, string>;
let admin: Record<string, string>;

const now = new Date().toISOString();

beforeAll(async () => {
  for (const key of ['parks', 'vehicles', 'private']) {
    const collection = await testCollection(db, { key, name: key, mapProperties: ['fleet'] }, now);
    const markers = Array.from({ length: 60 }, (_, n) => ({
      key: `${key}-${n}`,
      position: { lng: 10 + (n % 10) / 10, lat: 50 + n / 100 },
      name: `${key} ${n}`,
      place: ['Town', n % 2 === 0 ? 'Even' : 'Odd'],
      properties: { fleet: n % 3 === 0 ? 'north' : 'south', margin: n },
    }));
    await createMarkers(newCall(db), collection, markers, now);
  }
  server = await guardedServer(db, RULES);
  north = bearer(await createKey(db, { roles: ['driver'], variables: { fleet: 'north' } }));
  admin = bearer(await createKey(db, { roles: ['admin'] }));
  await vi.waitFor(
    async () => {
      const { data } = await server.ask('{ collection(key: "private") { count countsExact } }', {}, admin);
      const { count, countsExact } = data.collection;
      if (count !== 60 || !countsExact) throw new Error('the consumer has not counted yet');
    },
    { timeout: 60_000, interval: 200 },
  );
});
afterAll(() => server.close());

const ALL = '{ west: 0, south: 40, east: 20, north: 60 }';
const COUNTS = `query Counts($key: String!) {
  collection(key: $key) {
    count
    bounds { west south east north }
    places { name count }
    markers(first: 100) { nodes { key properties } }
    markersIn(place: ["Town"], first: 100) { nodes { key } }
    within(center: { lng: 10, lat: 50 }, radius: 1000000, first: 100) { nodes { key properties } }
    nearest(center: { lng: 10, lat: 50 }, count: 100) { node { key } }
  }
  cell(collection: $key, geohash: "u0") { count children { count } markers(first: 100) { nodes { key } } }
  viewport(bounds: ${ALL}, zoom: 3) {
    count(collection: $key)
    cells(collection: $key) { count }
    clusters(collection: $key) { count expansionZoom marker { key } }
    auto(collection: $key, limit: 5) { mode total clusters { count } }
    markers(collection: $key, first: 100) { nodes { key } }
    features(collection: $key)
  }
}`;

type Counted = { readonly count: number };
const sum = (counted: readonly Counted[]) => counted.reduce((all, { count }) => all + count, 0);

describe('a principal that may see some rows', () => {
  test('gets the same answers as an unlimited one would from a collection with only these', async () => {
    const { data, errors } = await server.ask(COUNTS, { key: 'vehicles' }, north);
    expect(errors).toEqual([]);
    const own = Array.from({ length: 60 }, (_, n) => n)
      .filter((n) => n % 3 === 0)
      .map((n) => `vehicles-${n}`)
      .sort();
    const keys = (nodes: readonly { readonly key: string }[]) => nodes.map(({ key }) => key).sort();
    const { collection, cell, viewport } = data;
    for (const list of [collection.markers, collection.markersIn, collection.within, cell.markers, viewport.markers]) {
      expect(keys(list.nodes)).toEqual(own);
    }
    expect(keys(collection.nearest.map(({ node }: { node: { key: string } }) => node))).toEqual(own);
    expect(collection.markers.nodes.every(({ properties }: { properties: object }) => !('margin' in properties))).toBe(
      true,
    );
    const counts = [collection.count, sum(collection.places), cell.count, sum(cell.children), viewport.count];
    expect([...counts, sum(viewport.cells), sum(viewport.clusters), viewport.auto.total]).toEqual(Array(8).fill(20));
    expect(viewport.features.features.length).toBe(20);
    expect(JSON.stringify(data)).not.toMatch(/"fleet":"south"|margin/);
  });

  test('finds no other marker by key or ID, and changes none', async () => {
    const ask = (query: string) => server.ask(query, {}, north);
    const { data } = await ask(`{
      marker(id: "marker::vehicles::vehicles-1") { key }
      nodes(ids: ["marker::vehicles::vehicles-1", "marker::vehicles::vehicles-3"]) { id }
      collection(key: "vehicles") { marker(key: "vehicles-2") { key } }
    }`);
    expect(data).toEqual({
      marker: null,
      nodes: [null, { id: 'marker::vehicles::vehicles-3' }],
      collection: { marker: null },
    });
    const codes = async (mutation: string) =>
      (await ask(`mutation { ${mutation} }`)).errors.map(({ extensions }) => extensions['code']);
    expect(await codes('updateMarker(input: { id: "marker::vehicles::vehicles-1", name: "x" }) { key }')).toEqual([
      'NOT_FOUND',
    ]);
    expect(
      await codes(
        'updateMarker(input: { id: "marker::vehicles::vehicles-3", properties: { fleet: "south" } }) { key }',
      ),
    ).toEqual(['NOT_FOUND']);
    expect(await codes('deleteMarker(id: "marker::vehicles::vehicles-1") { key }')).toEqual(['NOT_FOUND']);
    expect(
      await codes('recordReadings(marker: "marker::vehicles::vehicles-1", readings: [{ values: { a: 1 } }])'),
    ).toEqual(['NOT_FOUND']);
    expect(
      await codes(
        'createMarker(input: { collection: "vehicles", key: "new", position: { lng: 1, lat: 1 }, properties: { fleet: "south" } }) { key }',
      ),
    ).toEqual(['NOT_FOUND']);
    const marker = (key: string, fleet: string) =>
      `{ key: "${key}", position: { lng: 1, lat: 1 }, properties: { fleet: "${fleet}" } }`;
    const failures = async (field: string, ...markers: readonly string[]) => {
      const call = `${field}(collection: "vehicles", markers: [${markers.join(' ')}])`;
      const answer = (await ask(`mutation { ${call} { failures { index code } } }`)).data[field];
      return answer.failures.map(({ index, code }: { index: number; code: string }) => [index, code]);
    };
    const foreign = marker('vehicles-1', 'north');
    expect(await failures('upsertMarkers', foreign, marker('vehicles-3', 'south'), marker('new', 'south'))).toEqual(
      [0, 1, 2].map((index) => [index, 'NOT_FOUND']),
    );
    expect(await failures('createMarkers', marker('new', 'south'))).toEqual([[0, 'NOT_FOUND']]);
    expect(
      await codes(
        'updateMarker(input: { id: "marker::vehicles::vehicles-3", properties: { fleet: "north", a: 1 } }) { key }',
      ),
    ).toEqual([]);
    const { data: kept } = await server.ask('{ marker(id: "marker::vehicles::vehicles-3") { properties } }', {}, admin);
    expect(kept.marker.properties).toEqual({ fleet: 'north', a: 1, margin: 3 });
    expect(await codes('deleteCollection(key: "vehicles") { key }')).toEqual(['FORBIDDEN']);
    expect(await codes('deleteCollection(key: "private") { key }')).toEqual(['NOT_FOUND']);
  });
});

test('a collection is not deleted with the markers of others', async () => {
  for (const role of ['tenant', 'chief']) {
    const headers = bearer(await createKey(db, { roles: [role] }));
    const { errors } = await server.ask('mutation { deleteCollection(key: "vehicles") { key } }', {}, headers);
    expect([role, errors.map(({ extensions }) => extensions['code'])]).toEqual([role, ['FORBIDDEN']]);
  }
  expect((await server.ask('{ collection(key: "vehicles") { count } }', {}, admin)).data.collection.count).toBe(60);
});

test('a collection that may not be read is one that does not exist', async () => {
  for (const headers of [{}, north]) {
    const [hidden, unused] = await Promise.all(
      ['private', 'unused'].map((key) => server.ask(COUNTS, { key }, headers)),
    );
    const text = (answer: unknown) => JSON.stringify(answer).replaceAll(/private|unused/g, 'X');
    expect(text(hidden)).toBe(text(unused));
    expect((await server.ask('{ collections { nodes { key } } }', {}, headers)).data.collections.nodes.length).toBe(1);
  }
});

test('credentials that do not verify are refused with 401, whatever is asked', async () => {
  const expired = await createKey(db, { roles: ['admin'], expiresAt: new Date(0).toISOString() });
  const tokens = [
    await token({ roles: ['admin'] }, { expires: new Date(Date.now() - 120_000).getTime() / 1_000 }),
    await token({ roles: ['admin'] }, { issuer: 'https://other.example.org/' }),
    await token({ roles: ['admin'] }, { audience: 'others' }),
  ];
  for (const secret of [expired, 'cpk_wrong', `cpk_${'x'.repeat(43)}`, 'a.b.c', ...tokens]) {
    const { status, errors, data } = await server.ask('{ __typename }', {}, bearer(secret));
    expect([secret, status, data, errors.map(({ extensions }) => extensions['code'])]).toEqual([
      secret,
      401,
      undefined,
      ['UNAUTHENTICATED'],
    ]);
  }
  const body = JSON.stringify([{ query: '{ __typename }' }, { query: '{ __typename }' }]);
  const sent = { 'content-type': 'application/json', ...bearer(expired) };
  const batch = await fetch(`${server.url}/graphql`, { method: 'POST', headers: sent, body });
  expect([batch.status, batch.headers.get('www-authenticate')]).toEqual([401, 'Bearer realm="cellport"']);
  const { data } = await server.ask(
    '{ viewer { name roles may { collections actions filtered } } }',
    {},
    bearer(await token({ roles: ['driver'], fleet: 'north', name: 'Ann' })),
  );
  expect(data.viewer).toEqual({
    name: 'Ann',
    roles: ['driver'],
    may: [{ collections: ['vehicles'], actions: ['read', 'write', 'record'], filtered: true }],
  });
});
