import fc from 'fast-check';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';

import { collect, followChanges, until, websocketClient } from '../live/support.js';
import { anyProperties, anyReading, canonical } from '../support/any-json.js';
import { someOf } from '../support/rounds.js';
import { testDatabase } from '../support/test-database.js';
import { startServer, type LiveServer } from './live-server.js';

// Clients get back exactly the JSON that they sent, through every input and output.

const db = await testDatabase('readable', { stream: true });
const heard = followChanges(db);
let server: LiveServer;
let collections = 0;

beforeAll(async () => {
  server = await startServer(db, { live: heard.hub, status: () => undefined });
});
afterAll(async () => {
  await server.close();
  await heard.stop();
});

/** The data of a response without errors. */
async function ask(query: string, variables: Record<string, unknown>) {
  const { data, errors } = await server.ask(query, variables);
  expect(errors ?? []).toEqual([]);
  return data;
}

/** A new collection; its maps draw some of the properties. */
async function newCollection(mapProperties: readonly string[] = []): Promise<string> {
  const key = `any-${(collections += 1)}`;
  // One partition, so that a page of the whole world has everything.
  const input = { key, name: key, mapProperties, prefixLength: 0 };
  await ask('mutation ($input: CreateCollectionInput!) {createCollection(input: $input) {key}}', { input });
  return key;
}

interface Read {
  readonly key: string;
  readonly properties: unknown;
}
const byKey = (markers: readonly Read[]) =>
  canonical(Object.fromEntries(markers.map(({ key, properties }) => [key, properties])));

const WORLD = '{west: -180, south: -90, east: 180, north: 90}';
const CREATE = `mutation ($collection: String!, $markers: [MarkerInput!]!) {
  createMarkers(collection: $collection, markers: $markers) {failures {index code message} markers {key properties}}
}`;
const MARKERS = `query ($collection: String!, $filter: MarkerFilter) {
  viewport(bounds: ${WORLD}, zoom: 3) {markers(collection: $collection, first: 100, filter: $filter) {nodes {key properties}}}
}`;
const FEATURES = `query ($collection: String!) {viewport(bounds: ${WORLD}, zoom: 3) {features(collection: $collection)}}`;

const batches = fc.array(anyProperties, { minLength: 1, maxLength: 6 });

describe('any JSON', () => {
  test('is unchanged in properties of markers: created, drawn, filtered by, updated, sent to subscribers', async () => {
    const client = websocketClient(server.url);
    await fc.assert(
      fc.asyncProperty(batches, async (all) => {
        const names = [...new Set(all.flatMap((properties) => Object.keys(properties)))];
        const collection = await newCollection(names.slice(0, 5));
        const changes = collect(
          client,
          `subscription {markerChanged(collection: "${collection}") {marker {key properties}}}`,
        );
        const markers = all.map((properties, n) => ({ key: `m${n}`, position: { lng: n, lat: n }, properties }));
        const wanted = byKey(markers);
        const { createMarkers: made } = await ask(CREATE, { collection, markers });
        expect(made.failures).toEqual([]);
        expect(byKey(made.markers)).toEqual(wanted);
        // Twice: from DynamoDB, then possibly from a cache.
        for (let round = 0; round < 2; round += 1) {
          const { viewport } = await ask(MARKERS, { collection });
          expect(byKey(viewport.markers.nodes)).toEqual(wanted);
        }
        for (const name of names.slice(0, 3)) {
          const holders = markers.filter(({ properties }) => Object.hasOwn(properties, name));
          const { properties: { [name]: value } = {} } = holders[0] ?? {};
          const exists = await ask(MARKERS, { collection, filter: { properties: [{ name, exists: true }] } });
          expect(byKey(exists.viewport.markers.nodes)).toEqual(byKey(holders));
          const equal = await ask(MARKERS, { collection, filter: { properties: [{ name, eq: value }] } });
          expect(equal.viewport.markers.nodes.map(({ key }: Read) => key)).toContain(holders[0]?.key);
        }
        const { viewport } = await ask(FEATURES, { collection });
        for (const { properties } of viewport.features.features) {
          const { key, name: _name, category: _category, ...drawn } = properties;
          const whole: object = markers.find((marker) => marker.key === key)?.properties ?? {};
          // Large properties are drawn in part.
          for (const [name, value] of Object.entries(drawn)) {
            expect(canonical(value)).toEqual(canonical(Object.entries(whole).find(([own]) => own === name)?.[1]));
          }
        }
        const input = { id: `marker::${collection}::m0`, properties: all.at(-1) };
        const { updateMarker } = await ask(
          'mutation ($input: UpdateMarkerInput!) {updateMarker(input: $input) {properties}}',
          { input },
        );
        expect(canonical(updateMarker.properties)).toEqual(canonical(all.at(-1)));
        const { marker } = await ask('query ($id: ID!) {marker(id: $id) {properties}}', { id: input.id });
        expect(canonical(marker.properties)).toEqual(canonical(all.at(-1)));
        await until(() => changes.errors.length > 0 || changes.data.length > 0);
        changes.stop();
        expect(changes.errors).toEqual([]);
        for (const { markerChanged } of changes.data) {
          const { key, properties } = markerChanged.marker;
          const known = [markers.find((each) => each.key === key)?.properties, all.at(-1)].map(canonical);
          expect(known).toContainEqual(canonical(properties));
        }
      }),
      { numRuns: someOf(10) },
    );
    await client.dispose();
  });

  test('is unchanged in properties of zones, created and updated', async () => {
    const collection = await newCollection();
    let n = 0;
    const ring = [[0, 0], [1, 0], [1, 1], [0, 0]]; // prettier-ignore
    await fc.assert(
      fc.asyncProperty(anyProperties, anyProperties, async (first, second) => {
        const key = `z${(n += 1)}`;
        const id = `zone::${collection}::${key}`;
        const input = { collection, key, geometry: { type: 'Polygon', coordinates: [ring] }, properties: first };
        const { createZone } = await ask(
          'mutation ($input: CreateZoneInput!) {createZone(input: $input) {id properties}}',
          {
            input,
          },
        );
        expect(canonical(createZone.properties)).toEqual(canonical(first));
        await ask('mutation ($input: UpdateZoneInput!) {updateZone(input: $input) {id}}', {
          input: { id: createZone.id, properties: second },
        });
        const { node } = await ask('query ($id: ID!) {node(id: $id) {... on Zone {properties}}}', { id });
        expect(canonical(node.properties)).toEqual(canonical(second));
      }),
      { numRuns: someOf(20) },
    );
  });

  test('is unchanged in names of readings', async () => {
    const collection = await newCollection();
    await ask(CREATE, { collection, markers: [{ key: 's', position: { lng: 0, lat: 0 } }] });
    const id = `marker::${collection}::s`;
    await fc.assert(
      fc.asyncProperty(anyReading, async (values) => {
        await ask(
          'mutation ($id: ID!, $readings: [ReadingInput!]!) {recordReadings(marker: $id, readings: $readings)}',
          {
            id,
            readings: [{ values }],
          },
        );
        const { marker } = await ask('query ($id: ID!) {marker(id: $id) {readings(last: 1) {values}}}', { id });
        expect(canonical(marker.readings[0].values)).toEqual(canonical(values));
      }),
      { numRuns: someOf(20) },
    );
  });
});

test('a name of more than 50,000 bytes is rejected by field, and does not affect the other markers of a batch', async () => {
  const collection = await newCollection();
  const markers = [
    { key: 'good', position: { lng: 0, lat: 0 }, properties: { ['é'.repeat(25_000)]: 1 } },
    { key: 'bad', position: { lng: 0, lat: 0 }, properties: { ['x'.repeat(50_001)]: 1 } },
  ];
  const { createMarkers: made } = await ask(CREATE, { collection, markers });
  expect(made.markers.map(({ key }: Read) => key)).toEqual(['good']);
  expect(made.failures).toMatchObject([
    { index: 1, code: 'BAD_USER_INPUT', message: expect.stringMatching(/^properties must be a name/) },
  ]);
});
