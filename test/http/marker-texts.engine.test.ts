import fc from 'fast-check';
import { afterAll, beforeAll, expect, test } from 'vitest';

import { makeCollection, realMarkers } from '../map/fixture.js';
import { testPages } from '../support/page-services.js';
import { inTurn, rounds } from '../support/rounds.js';
import { testDatabase } from '../support/test-database.js';
import { startServer, type LiveServer } from './live-server.js';

const turn = inTurn(2);
const db = await testDatabase();
let server: LiveServer;

beforeAll(async () => {
  server = await startServer(db, testPages({ trusted: true, cacheBytes: 8 * 1024 * 1024 }));
  const cities = realMarkers(2_000).slice(0, 60);
  const markersWith = (more: object) => cities.map((city, n) => ({ ...city, properties: { population: n, ...more } }));
  await makeCollection(db, { key: 'a', mapProperties: ['population'] }, markersWith({}));
  // Here, maps lack one.
  await makeCollection(db, { key: 'b', mapProperties: ['population'] }, markersWith({ text: 'x' }));
});
// Fails if compiled operations, in which lists of markers are texts, and those of graphql-js gave different answers.
afterAll(() => server.close());

const POINT = ['lng', 'lat', 'x: lng', '__typename', '...P'];
const COPIED =
  'id|key|name|category|geohash|__typename|label: name|id2: id|properties|geojson|g: geojson|...M|... { id }'.split(
    '|',
  );
const OTHERS = ['version', 'globalId', 'place', 'readings { __typename }', 'cell(precision: 3) { geohash }'];
const LIST = ['pageInfo { endCursor }', 'edges { node { key } cursor }', '...L'];
const FRAGMENTS = `fragment P on Point { lat lng }
  fragment M on Marker { key name position { lng ...P } }
  fragment L on MarkerConnection { nodes { name id } }`;

const some = (of: readonly string[]) => fc.subarray([...of], { minLength: 1 }).map((fields) => fields.join(' '));
/** Mostly fields that need no read of each marker. */
const markerFields = fc
  .tuple(some(COPIED), fc.option(some(OTHERS), { freq: 5 }), fc.option(some(POINT)))
  .map(([fields, others, point]) => `${fields} ${others ?? ''} ${point === null ? '' : `position { ${point} }`}`);
const nodes = fc
  .tuple(markerFields, fc.constantFrom('', 'n: '))
  .map(([fields, alias]) => `${alias}nodes { ${fields} }`);
const connection = fc
  .tuple(fc.array(nodes, { minLength: 1, maxLength: 2 }), fc.option(some(LIST), { freq: 3 }))
  .map(([lists, others]) => `{ ${lists.join(' ')} ${others ?? ''} }`);
const collection = fc.constantFrom('a', 'b');
const field = fc.oneof(
  fc.tuple(collection, connection).map(([key, of]) => `markers(collection: "${key}", first: 40) ${of}`),
  fc.tuple(collection, markerFields).map(([key, of]) => `auto(collection: "${key}") { mode markers { ${of} } total }`),
);
const query = fc
  .array(fc.tuple(fc.constantFrom('', 'm: ', 'k: '), field), { minLength: 1, maxLength: 3 })
  .map(
    (fields) => `{ viewport(bounds: { west: -30, south: 20, east: 60, north: 80 }, zoom: 3) {
    ${fields.map(([alias, of]) => alias + of).join(' ')} } }`,
  )
  .map((text) =>
    ['P', 'M', 'L'].reduce(
      (all, name) => (all.includes(`...${name}`) ? all : without(all, name)),
      `${text}\n${FRAGMENTS}`,
    ),
  );

/** A document without a fragment that nothing uses. */
const without = (text: string, name: string) => text.replace(new RegExp(`^ *fragment ${name} .*$`, 'm'), '');

test('a list of markers that is copied from pages has the fields that were selected', async ({ skip, task }) => {
  skip(!turn(task));
  await fc.assert(
    fc.asyncProperty(query, async (text) => {
      await server.ask(text);
    }),
    { numRuns: rounds('fuzzedQueries') },
  );
  expect(server.compared.differences).toEqual([]);
  expect(server.compared.same).toBeGreaterThan(10);
});

test('a map of 60 markers writes each of them once', async () => {
  const fields = 'key name position { lng lat } properties';
  const ask = async (west: number) => {
    const map = `{ viewport(bounds: { west: ${west}, south: -90, east: 180, north: 90 }, zoom: 0) {
      markers(collection: "a") { nodes { ${fields} } } } }`;
    return (await server.ask(map)).data.viewport.markers.nodes as readonly { readonly name: string }[];
  };
  const bytes = () => server.services.pageServices.pageCache.texts.bytes;
  const empty = bytes();
  const all = await ask(-180);
  const before = bytes();
  expect(all).toHaveLength(60);
  expect(before).toBeGreaterThan(empty + 60 * 50);
  const east = await ask(0);
  expect(all.length).toBeGreaterThan(east.length);
  expect(bytes()).toBe(before);
});
