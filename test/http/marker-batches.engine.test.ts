import { beforeAll, describe, expect, test } from 'vitest';

import { newCall } from '../../src/store/database.js';
import { queryAll } from '../../src/store/table/query-responses.js';
import { injectFaults } from '../support/faults.js';
import { testPages } from '../support/page-services.js';
import { newDatabase, testCollection, testDatabase } from '../support/test-database.js';
import { startServer, testServer } from './live-server.js';

const db = await testDatabase();
const server = await testServer(db, { ...testPages({ trusted: true }) });

beforeAll(async () => {
  for (const key of ['parks', 'shops', 'numbered']) {
    const idStrategy = key === 'numbered' ? 'SEQUENCE' : 'GIVEN';
    await testCollection(db, { key, name: key, idStrategy });
  }
});

const CREATE = `mutation ($collection: String!, $markers: [MarkerInput!]!) {
  createMarkers(collection: $collection, markers: $markers) { markers { key } failures { index code message } }
}`;
const UPSERT = `mutation ($collection: String!, $markers: [MarkerInput!]!) {
  upsertMarkers(collection: $collection, markers: $markers) { created failures { index code message } }
}`;
const DELETE = 'mutation ($ids: [ID!]!) { deleteMarkers(ids: $ids) { deleted failures { index code message } } }';

/** What can be wrong with a position, and what its message says. */
const IMPOSSIBLE: readonly (readonly [position: unknown, message: string])[] = [
  [undefined, 'position must be a position with `lng` and `lat`; got undefined'],
  [null, 'position must be a position with `lng` and `lat`; got null'],
  [{ lng: 1, lat: 91 }, 'position.lat must be a latitude from -90 to 90 degrees'],
  [{ lng: 50, lat: 120 }, '(are lng and lat swapped?); got 120'],
  [{ lng: 1, lat: '2' }, 'position.lat must be a latitude from -90 to 90 degrees; got "2"'],
  [{ lng: true, lat: 2 }, 'position.lng must be a finite number of degrees'],
  [{ lng: Number.NaN, lat: 2 }, 'got {"lng":null,"lat":2}'],
  [{ lng: 1 }, 'position.lat must be a latitude from -90 to 90 degrees; got {"lng":1}'],
  [{ lon: 1, lat: 2 }, 'got {"lon":1,"lat":2}'],
  [[1, 2], 'got [1,2]'],
  ['1, 2', 'got "1, 2"'],
  ['', 'got ""'],
  [0, 'got [0]'],
];

describe('a position that is missing or impossible', () => {
  test.each([
    ['createMarkers', CREATE, 'shops'],
    ['upsertMarkers', UPSERT, 'parks'],
    ['createMarkers', CREATE, 'numbered'],
  ])('is one failure of its marker in %s', async (field, query, collection) => {
    const name = (key: string) => (collection === 'numbered' ? {} : { key });
    const markers = [
      { ...name('first'), position: { lng: 1, lat: 1 } },
      ...IMPOSSIBLE.map(([position], index) => ({ ...name(`bad-${index}`), position })),
      { ...name('last'), position: { lng: 190, lat: 1 } },
    ];
    const { data } = await server.ask(query, { collection, markers });
    const { failures, created, markers: written } = data[field];
    expect(created ?? written.length).toBe(2);
    expect(failures).toEqual(
      IMPOSSIBLE.map(([, message], at) => ({
        index: at + 1,
        code: 'BAD_USER_INPUT',
        message: expect.stringContaining(message),
      })),
    );
  });

  test('is one failure in a literal, too, and in a variable within one', async () => {
    const { data } = await server.ask(`mutation ($m: MarkerInput!) { createMarkers(collection: "shops", markers: [
      { key: "l1" }, { key: "l2", position: null }, { key: "l3", position: { lng: 1, lat: -91 } },
      { key: "l4", position: { lng: 1e999, lat: 1 } }, { key: "l5", position: { lng: [1], lat: 1 } }, $m,
      { key: "l7", position: { lng: 540, lat: 1 } }
    ]) { markers { key position { lng } } failures { index code } } }`, { m: { key: 'l6', position: { lat: 1 } } }); // prettier-ignore
    expect(data.createMarkers).toEqual({
      markers: [{ key: 'l7', position: { lng: 180 } }],
      failures: [0, 1, 2, 3, 4, 5].map((index) => ({ index, code: 'BAD_USER_INPUT' })),
    });
  });
});

test.each(['constructor', 'm'])('markers in a variable $%s that is not given are its default', async (name) => {
  const { data } = await server.ask(`mutation ($${name}: [MarkerInput!]! = [{ key: "${name}", position: { lng: 1, lat: 1 } }]) {
    createMarkers(collection: "shops", markers: $${name}) { markers { key } }
  }`); // prettier-ignore
  expect(data.createMarkers.markers).toEqual([{ key: name }]);
});

test('a longitude may be any finite degrees wherever the API takes a position', async () => {
  const create = `mutation ($p: PointInput!) { createMarker(input: { collection: "parks", key: "w", position: $p }) { position { lng } } }`;
  const update = `mutation ($p: PointInput!) { updateMarker(input: { id: "marker::parks::w", position: $p }) { position { lng } } }`;
  expect((await server.ask(create, { p: { lng: 200, lat: 5 } })).data.createMarker.position.lng).toBe(-160);
  for (const [lng, stored] of [
    [180, 180],
    [-180, -180],
    [-181, 179],
    [890, 170],
  ] as const) {
    // prettier-ignore
    expect((await server.ask(update, { p: { lng, lat: 5 } })).data.updateMarker.position.lng).toBe(stored);
  }
  // Reads the geo index, which has what was written at once.
  const reading = await startServer(db);
  const near = `query ($p: PointInput!) { collection(key: "parks") {
    nearest(center: $p, count: 1) { distance node { key } } within(center: $p, radius: 1) { nodes { key } } zonesAt(point: $p) { key }
  } }`;
  const zone = `mutation ($g: GeoJSON!) { createZone(input: { collection: "parks", key: "z", geometry: $g }) { key } }`;
  const ring = [[169, 4], [171, 4], [171, 6], [169, 6], [169, 4]]; // prettier-ignore
  await server.ask(zone, { g: { type: 'Polygon', coordinates: [ring] } });
  for (const lng of [170, 530, -190]) {
    expect((await reading.ask(near, { p: { lng, lat: 5 } })).data.collection).toEqual({
      nearest: [{ distance: 0, node: { key: 'w' } }],
      within: { nodes: [{ key: 'w' }] },
      zonesAt: [{ key: 'z' }],
    });
  }
  await reading.close();
  for (const field of ['nearest(center: $p, count: 1) { distance }', 'zonesAt(point: $p) { key }']) {
    const query = `query ($p: PointInput!) { collection(key: "parks") { ${field} } }`;
    const { errors } = await server.ask(query, { p: { lng: 1, lat: 91 } });
    expect(errors).toMatchObject([
      { message: expect.stringMatching(/lat must be .*; got 91$/), extensions: { code: 'BAD_USER_INPUT' } },
    ]);
  }
});

describe('deleteMarkers', () => {
  const create = (collection: string, ...keys: readonly string[]) =>
    server.ask(UPSERT, { collection, markers: keys.map((key) => ({ key, position: { lng: 10.5, lat: 50.5 } })) });

  test('deletes markers of several collections; absent ones are no failure, and what is no marker is one', async () => {
    await create('parks', 'a', 'b');
    await create('shops', 'c');
    await server.ask('mutation { recordReadings(marker: "marker::parks::a", readings: [{ values: { t: 1 } }]) }');
    const ids = ['marker::parks::a', 'marker::shops::c', 'marker::parks::none', 'marker::none::a', 'zone::parks::z', 'a', 'marker::parks::a']; // prettier-ignore
    const { data, extensions } = await server.ask(DELETE, { ids }, { 'x-cellport-cost': '1' });
    expect(data.deleteMarkers).toEqual({
      deleted: 2,
      failures: [4, 5].map((index) => ({
        index,
        code: 'BAD_USER_INPUT',
        message: `ids[${index}] must be the ID of a marker; got "${ids[index]}"`,
      })),
    });
    // Two markers, the reading and the reminder to remove it, which is written and deleted.
    expect(extensions).toMatchObject({ cost: { writes: 5 } });
    expect(await queryAll(newCall(db), { index: 'entities', pk: 'marker::parks::a' })).toEqual([]);
    expect((await server.ask(DELETE, { ids })).data.deleteMarkers.deleted).toBe(0);
  });

  test('is seen at once by maps of this server', async () => {
    await create('parks', 'seen');
    const map = `{ viewport(bounds: { west: 10, south: 50, east: 11, north: 51 }, zoom: 9) {
      markers(collection: "parks") { nodes { key } } } }`;
    const keys = async () =>
      (await server.ask(map)).data.viewport.markers.nodes.map((node: { key: string }) => node.key);
    expect(await keys()).toContain('seen');
    await server.ask(DELETE, { ids: ['marker::parks::seen'] });
    expect(await keys()).not.toContain('seen');
  });

  test('takes at most 500 IDs, and is refused by a read-only server', async () => {
    const many = await server.ask(DELETE, { ids: Array.from({ length: 501 }, (_, n) => `marker::parks::${n}`) });
    expect(many.errors).toMatchObject([
      { message: 'ids must be at most 500 IDs per call; got "501 IDs"', extensions: { code: 'BAD_USER_INPUT' } },
    ]);
    const readOnly = await startServer(db, { readOnly: true });
    const { errors } = await readOnly.ask(DELETE, { ids: ['marker::parks::w'] });
    expect(errors).toMatchObject([{ extensions: { code: 'FORBIDDEN' } }]);
    await readOnly.close();
  });

  test('reports those that cannot be deleted for now', async () => {
    await create('parks', 't1', 't2');
    const other = newDatabase('readable', { tables: db.tables });
    injectFaults(other, 'DeleteItem', 'refused');
    const refusing = await startServer(other);
    const { data } = await refusing.ask(DELETE, { ids: ['marker::parks::t1', 'marker::parks::t2'] });
    expect(data.deleteMarkers).toMatchObject({
      deleted: 0,
      failures: [0, 1].map((index) => ({ index, code: 'UNAVAILABLE' })),
    });
    await refusing.close();
  });
});
