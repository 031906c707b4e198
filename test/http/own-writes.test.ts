import { afterAll, beforeAll, expect, test } from 'vitest';

import { MarkerCache } from '../../src/loaders/marker-cache.js';
import { createCollection } from '../../src/store/collection/collections.js';
import { newCall } from '../../src/store/request/meter.js';
import { recordCalls } from '../support/record-calls.js';
import { testDatabase } from '../support/test-database.js';
import { type LiveServer, startServer } from './live-server.js';

const db = await testDatabase();
const calls = recordCalls(db);
let settled = 0;
let server: LiveServer;

beforeAll(async () => {
  const now = () => performance.now() + settled;
  const markerCache = new MarkerCache({ keys: db.keys, maxBytes: 1e6, trusted: () => true, now });
  settled = 20_000;
  // Without counts a map is read in the same ranges whatever it contains, and no stream is read here.
  const status = () => ({ owner: true, behindMs: 60_000, countsExact: true });
  server = await startServer(db, { markerCache, status });
  await createCollection(db, { key: 'parks', name: 'Parks' }, new Date().toISOString(), newCall());
});
afterAll(() => server.close());

const MAP = `{ viewport(bounds: { west: 10, south: 50, east: 11, north: 51 }, zoom: 9) {
  markers(collection: "parks") { nodes { key name position { lng } } }
} }`;

/** What the map shows, and how many Query calls of the geo index it took. */
async function map() {
  calls.reset();
  const { data } = await server.ask(MAP);
  const reads = calls.commands.filter(({ name, input }) => name === 'Query' && input['IndexName'] === 'geoA');
  return { nodes: data.viewport.markers.nodes as unknown[], reads: reads.length };
}

test('a cached map shows this server’s own writes at once, without reading them again', async () => {
  const mutate = (mutation: string) => server.ask(`mutation { ${mutation} }`);
  const known = (nodes: unknown[]) => ({ nodes, reads: 0 });
  expect((await map()).reads).toBeGreaterThan(0);
  expect(await map()).toEqual(known([]));
  await mutate(
    'createMarker(input: { collection: "parks", key: "a", name: "A", position: { lng: 10.5, lat: 50.5 } }) { key }',
  );
  expect(await map()).toEqual(known([{ key: 'a', name: 'A', position: { lng: 10.5 } }]));
  await mutate(`createMarkers(collection: "parks", markers: [
    { key: "b", position: { lng: 10.2, lat: 50.5 } }, { key: "a", position: { lng: 10.3, lat: 50.5 } }
  ]) { failures { code } }`);
  await mutate(`upsertMarkers(collection: "parks", markers: [
    { key: "a", name: "Aa", position: { lng: 10.5, lat: 50.5 } }, { key: "c", position: { lng: 10.4, lat: 50.5 } }
  ]) { created }`);
  await mutate('deleteMarker(id: "marker::parks::c") { key }');
  await mutate('updateMarker(input: { id: "marker::parks::b", position: { lng: 10.9, lat: 50.5 } }) { key }');
  expect(await map()).toEqual(
    known([
      { key: 'a', name: 'Aa', position: { lng: 10.5 } },
      { key: 'b', name: null, position: { lng: 10.9 } },
    ]),
  );
  await mutate('updateMarker(input: { id: "marker::parks::a", position: { lng: 20, lat: 50.5 } }) { key }');
  await mutate('deleteMarker(id: "marker::parks::b") { key }');
  expect(await map()).toEqual(known([]));
});
