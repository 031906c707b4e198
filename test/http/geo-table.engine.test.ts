import { afterAll, describe, expect, test } from 'vitest';

import { distance } from '../../src/geo/distance.js';
import { serveGeoTable } from '../../src/geolibrary/answers.js';
import { readTableLayout } from '../../src/geolibrary/layout.js';
import { createCollection } from '../../src/store/collection/collections.js';
import { newCall } from '../../src/store/request/meter.js';
import { libraryItems, makeGeoTable, POSITIONS } from '../geolibrary/library.js';
import { testDatabase } from '../support/test-database.js';
import { startServer } from './live-server.js';

const db = await testDatabase();
const NOW = '2026-11-21T10:00:00.000Z';
for (const key of ['aaa', 'zzz']) await createCollection(db, { key, name: key }, NOW, newCall());
await makeGeoTable(db, 'Places', libraryItems({ length: 2, order: 'latitude first' }));
const layout = await readTableLayout(db, 'Places');
const server = await startServer(db, { geoTable: serveGeoTable(db, layout, 'places') });
afterAll(() => server.close());

const TOWN = 'bounds: { west: 16.5, south: 52.1, east: 17.4, north: 52.7 }, zoom: 9';
const inTown = POSITIONS.filter(({ lng, lat }) => lng >= 16.5 && lng <= 17.4 && lat >= 52.1 && lat <= 52.7).length;

describe('a table of the Geo Library, served read-only', () => {
  test('is listed as a collection, and has its markers in any viewport', async () => {
    const { data, errors, extensions } = await server.ask(
      `{ collections { nodes { key } }
         collection(key: "places") { id key name count countsExact createdAt }
         node(id: "collection::places") { id }
         viewport(${TOWN}) {
           count(collection: "places")
           markers(collection: "places", filter: { category: "park" }) {
             nodes { id key position { lng lat } name category properties place geohash globalId collection { key } geojson }
           }
           auto(collection: "places") { mode total markers { key } }
           features(collection: "places")
         } }`,
      {},
      { 'x-cellport-cost': '1' },
    );
    expect(errors).toEqual([]);
    expect(data.collections.nodes.map(({ key }: { key: string }) => key)).toEqual(['aaa', 'places', 'zzz']);
    expect(data.collection).toMatchObject({
      key: 'places',
      name: 'Places',
      count: POSITIONS.length,
      countsExact: false,
    });
    expect(data.node.id).toBe('collection::places');
    expect(data.viewport.count).toBe(inTown);
    expect(data.viewport.auto).toMatchObject({ mode: 'MARKERS', total: inTown });
    expect(data.viewport.features.features).toHaveLength(inTown);
    const first = data.viewport.markers.nodes.find(({ key }: { key: string }) => key === '0');
    expect(first).toMatchObject({
      id: 'marker::places::0',
      position: POSITIONS[0],
      name: 'point 0',
      category: 'park',
      properties: { rank: 0, tags: ['a', 'b'] },
      place: [],
      globalId: null,
      collection: { key: 'places' },
      geojson: { type: 'Feature', geometry: { type: 'Point' } },
    });
    // Four fields, each six Query calls at most; and one for the list of collections.
    const { queries } = (extensions?.['cost'] ?? { queries: Infinity }) as { readonly queries: number };
    expect(queries).toBeLessThanOrEqual(25);
  });

  test('answers radius queries, nearest first', async () => {
    const { data, errors } = await server.ask(
      `{ collection(key: "places") { within(center: { lng: 16.93, lat: 52.41 }, radius: 5000) {
           edges { distance node { key position { lng lat } } } nodes { key } pageInfo { hasNextPage } } } }`,
    );
    expect(errors).toEqual([]);
    const { edges, nodes, pageInfo } = data.collection.within;
    const center = { lng: 16.93, lat: 52.41 };
    const near = POSITIONS.map((position, index) => ({ key: String(index), distance: distance(center, position) }))
      .filter((one) => one.distance <= 5_000)
      .toSorted((a, b) => a.distance - b.distance);
    expect(near.length).toBeGreaterThan(1);
    expect(edges.map((edge: { node: { key: string } }) => edge.node.key)).toEqual(near.map(({ key }) => key));
    expect(nodes).toHaveLength(near.length);
    expect(pageInfo.hasNextPage).toBe(false);
  });

  test('rejects unsupported fields by name, without failing other fields', async () => {
    const { data, errors } = await server.ask(
      `{ viewport(${TOWN}) {
           cells(collection: "places") { count }
           clusters(collection: "places") { count }
           plan(collection: "places") { precision }
           count(collection: "places")
         }
         marker(id: "marker::places::0") { key }
         cell(collection: "places", geohash: "u3k") { count } }`,
    );
    expect(data.viewport.count).toBe(inTown);
    expect(new Set(errors.map(({ path }) => path?.join('.')))).toEqual(
      new Set(['cell', 'marker', 'viewport.cells', 'viewport.clusters', 'viewport.plan']),
    );
    for (const { message, extensions } of errors) {
      expect(message).toMatch(/is not supported for tables of the Geo Library such as places/);
      expect(extensions).toMatchObject({ code: 'BAD_USER_INPUT' });
    }
    const versions = await server.ask(
      `{ viewport(${TOWN}) { markers(collection: "places", first: 1) { nodes { version } } } }`,
    );
    expect(versions.errors[0]?.extensions).toMatchObject({ code: 'BAD_USER_INPUT' });
    const places = await server.ask('{ collection(key: "places") { places { name } } }');
    expect(places.errors[0]?.message).toMatch(/^places is not supported for tables of the Geo Library/);
  });

  test('rejects every write, and does not affect other collections', async () => {
    const position = 'position: { lng: 1, lat: 2 }';
    for (const mutation of [
      `createMarker(input: { collection: "places", key: "x", ${position} }) { key }`,
      `updateMarker(input: { id: "marker::places::0", name: "x" }) { key }`,
      `deleteMarker(id: "marker::places::0") { key }`,
      `recordReadings(marker: "marker::places::0", readings: [{ values: { a: 1 } }])`,
      `createCollection(input: { key: "places", name: "x" }) { key }`,
      `updateCollection(input: { key: "places", name: "x" }) { key }`,
      `deleteCollection(key: "places") { key }`,
      `createMarkers(collection: "places", markers: [{ key: "x", ${position} }]) { markers { key } }`,
      `upsertMarkers(collection: "places", markers: [{ key: "x", ${position} }]) { created }`,
      `createZone(input: { collection: "places", key: "x", geometry: { type: "Point", coordinates: [1, 2] } }) { key }`,
      `updateZone(input: { id: "zone::places::x", name: "x" }) { key }`,
      `deleteZone(id: "zone::places::x") { key }`,
    ]) {
      const { errors } = await server.ask(`mutation { ${mutation} }`);
      const field = /^\w+/.exec(mutation)?.[0];
      expect(errors).toMatchObject([
        {
          message: expect.stringContaining(`${field} is not supported for tables of the Geo Library`),
          extensions: { code: 'BAD_USER_INPUT', field, collection: 'places' },
        },
      ]);
    }
    const { errors } = await server.ask(
      `mutation { createMarker(input: { collection: "aaa", key: "places", ${position} }) { key } }`,
    );
    expect(errors).toEqual([]);
    const { data } = await server.ask('{ marker(id: "marker::aaa::places") { key collection { key } } }');
    expect(data.marker).toEqual({ key: 'places', collection: { key: 'aaa' } });
  });
});
