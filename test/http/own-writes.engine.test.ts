import { beforeAll, expect, test } from 'vitest';

import { addCells } from '../support/add-cells.js';
import { addAllPages } from '../support/add-pages.js';
import { testPages } from '../support/page-services.js';
import { testCollection, testDatabase } from '../support/test-database.js';
import { testServer } from './live-server.js';

const db = await testDatabase();
const server = await testServer(db, { ...testPages({ trusted: true }) });

beforeAll(async () => {
  // Pages are trusted, but nothing reads the stream, so they stay unchanged.
  await testCollection(db, { key: 'parks', name: 'Parks' });
});

const MAP = `{ viewport(bounds: { west: 10, south: 50, east: 11, north: 51 }, zoom: 9) {
  markers(collection: "parks") { nodes { key name position { lng } } }
} }`;

const map = async (): Promise<unknown> => (await server.ask(MAP)).data.viewport.markers.nodes;

test('a map shows this server’s own writes at once, before pages include them', async () => {
  const mutate = (mutation: string) => server.ask(`mutation { ${mutation} }`);
  expect(await map()).toEqual([]);
  await mutate(
    'createMarker(input: { collection: "parks", key: "a", name: "A", position: { lng: 10.5, lat: 50.5 } }) { key }',
  );
  expect(await map()).toEqual([{ key: 'a', name: 'A', position: { lng: 10.5 } }]);
  await mutate(`createMarkers(collection: "parks", markers: [
    { key: "b", position: { lng: 10.2, lat: 50.5 } }, { key: "a", position: { lng: 10.3, lat: 50.5 } }
  ]) { failures { code } }`);
  await mutate(`upsertMarkers(collection: "parks", markers: [
    { key: "a", name: "Aa", position: { lng: 10.5, lat: 50.5 } }, { key: "c", position: { lng: 10.4, lat: 50.5 } }
  ]) { created }`);
  await mutate('deleteMarker(id: "marker::parks::c") { key }');
  await mutate('updateMarker(input: { id: "marker::parks::b", position: { lng: 10.9, lat: 50.5 } }) { key }');
  expect(await map()).toEqual([
    { key: 'a', name: 'Aa', position: { lng: 10.5 } },
    { key: 'b', name: null, position: { lng: 10.9 } },
  ]);
  await mutate('updateMarker(input: { id: "marker::parks::a", position: { lng: 20, lat: 50.5 } }) { key }');
  await mutate('deleteMarker(id: "marker::parks::b") { key }');
  expect(await map()).toEqual([]);
});

test('a marker that was deleted and created again under its key is shown as it is now', async () => {
  const shops = await testCollection(db, { key: 'shops', name: 'Shops' });
  const mapOfShops = async (): Promise<unknown> =>
    (await server.ask(MAP.replace('parks', 'shops'))).data.viewport.markers.nodes;
  const mutate = (mutation: string) => server.ask(`mutation { ${mutation} }`);
  const create = (name: string, lng: number) =>
    mutate(`createMarker(input: {
      collection: "shops", key: "a", name: "${name}", position: { lng: ${lng}, lat: 50.5 }
    }) { key }`);
  await create('Old', 10.2);
  await mutate('updateMarker(input: { id: "marker::shops::a", name: "Renamed" }) { key }');
  await addAllPages(db, shops);
  await addCells(db, 'shops', 1, new Map([['', new Map([['u', { count: 1, sumLng: 0, sumLat: 0 }]])]]));
  expect(await mapOfShops()).toEqual([{ key: 'a', name: 'Renamed', position: { lng: 10.2 } }]);
  await mutate('deleteMarker(id: "marker::shops::a") { key }');
  expect(await mapOfShops()).toEqual([]);
  await create('New', 10.8);
  expect(await mapOfShops()).toEqual([{ key: 'a', name: 'New', position: { lng: 10.8 } }]);
});
