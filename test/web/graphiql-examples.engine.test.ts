import { fileURLToPath } from 'node:url';
import { getOperationAST, parse, validate, visit } from 'graphql';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';

import { buildSchema } from '../../src/graphql/schema.js';
import { CITIES_COLLECTION, openCities } from '../../src/ingest/markers/cities.js';
import { openCountries } from '../../src/ingest/zones/countries.js';
import { menu, tabs, type Example } from '../../web/graphiql/examples.js';
import { startServer } from '../http/live-server.js';
import { collect, until, websocketClient } from '../live/support.js';
import { postQuery } from '../support/post-query.js';
import { temporaryFolder } from '../support/temporary-folder.js';
import { testDatabase } from '../support/test-database.js';
import { startMapServer, type MapServer } from './map-server.js';

const MOST_READ_UNITS = 20;
const examples = [...tabs, ...menu];
const schema = buildSchema();

describe('the example queries of GraphiQL', () => {
  it('are valid', () => {
    for (const { name, query } of examples) expect([name, ...validate(schema, parse(query))]).toEqual([name]);
  });

  it('are eight tabs, and a menu', () => {
    expect(tabs).toHaveLength(8);
    expect(menu.length).toBeGreaterThan(15);
    expect(new Set(examples.map(({ name }) => name)).size).toBe(examples.length);
  });

  it('use every field of the main types', () => {
    const asked = new Set<string>();
    for (const { query } of examples) visit(parse(query), { Field: ({ name }) => void asked.add(name.value) });
    for (const type of ['Query', 'Mutation', 'Viewport', 'Subscription', 'Collection', 'Marker', 'Cell', 'Cluster']) {
      const fields = Object.keys((schema.getType(type) as unknown as { getFields(): object }).getFields());
      expect([type, ...fields.filter((field) => !asked.has(field))]).toEqual([type]);
    }
  });

  it('begin with a comment that explains them', () => {
    for (const { name, query } of examples) expect([name, query.startsWith('# ')]).toEqual([name, true]);
  });
});

/** Mutations that make a subscription deliver something. */
const CHANGES: Readonly<Record<string, string>> = {
  WatchLive: `mutation { updateMarker(input: { id: "marker::demo-parks::demo-cytadela", name: "Park Cytadela" }) { id } }`,
  Since: `mutation { recordReadings(marker: "marker::demo-parks::demo-cytadela", readings: [{ values: { visitors: 1 } }]) }`,
};

/** London, around Poznań, Luxembourg and New Zealand, the areas of the examples. */
const LOOKED_AT = [
  [-0.6, 51.2, 0.4, 51.8],
  [16.2, 52.1, 17.6, 52.8],
  [5.5, 49.3, 6.8, 50.3],
  [165, -50, 180, -30],
] as const;
interface City {
  readonly position: { readonly lng: number; readonly lat: number };
  readonly properties: Readonly<Record<string, unknown>>;
}

const LEAST_POPULATION = 1_000_000;

/** The demo's cities there, and large ones elsewhere. */
async function readCities(): Promise<City[]> {
  const cities: City[] = [];
  for await (const page of openCities().rows.scan()) {
    for (const row of page) {
      const content = row.content as City;
      const { lng, lat } = content.position;
      const isLookedAt = LOOKED_AT.some(([w, s, e, n]) => w <= lng && lng <= e && s <= lat && lat <= n);
      if (isLookedAt || Number(content.properties['population']) >= LEAST_POPULATION) cities.push(content);
    }
  }
  return cities;
}

interface Answer {
  readonly data: Readonly<Record<string, unknown>>;
  readonly errors?: unknown;
  readonly extensions: { readonly cost: { readonly readUnits: number }; readonly reads?: readonly unknown[] };
}

describe('the examples of GraphiQL', async () => {
  const db = await testDatabase();

  it('leave collections as they are that have the key of theirs, but not their markers', async () => {
    const server = await startServer(db);
    const keys = new Set<string>();
    for (const { query } of examples) {
      const [made] = /createCollection\(\s*input: \{\s*key: "[^"]+"/.exec(query) ?? [];
      if (made !== undefined) keys.add(/"(.+)"/.exec(made)?.[1] ?? '');
    }
    expect([...keys].filter((key) => !key.startsWith('demo-'))).toEqual([]);
    for (const key of keys) {
      await server.ask(`mutation {
        createCollection(input: { key: "${key}", name: "Mine" }) { id }
        createMarker(input: { collection: "${key}", key: "mine", name: "Mine", position: { lng: 1, lat: 2 } }) { id }
        createZone(input: { collection: "${key}", key: "mine", geometry: { type: "LineString", coordinates: [[1, 2], [3, 4]] } }) { id }
      }`);
    }
    const content = async () => {
      const { data } = await server.ask(`{ collections { nodes {
        key name description version
        marker(key: "mine") { version }
        zones { nodes { key version } }
      } } }`);
      return data.collections.nodes;
    };
    const before = await content();
    expect(before.map(({ marker }: { marker: unknown }) => marker)).toEqual([...keys].map(() => ({ version: 1 })));
    const isMutation = ({ query }: Example) => getOperationAST(parse(query))?.operation === 'mutation';
    for (const { query } of examples.filter(isMutation)) await server.ask(query);
    expect(await content()).toEqual(before);
    await server.close();
  });
});

describe('the examples of GraphiQL, run in the order shown', async () => {
  const db = await testDatabase('readable', { stream: true, waitsForDisk: true });
  const searchFolder = temporaryFolder();
  let server: MapServer;

  beforeAll(async () => {
    server = await startMapServer(
      db,
      { staticDir: fileURLToPath(new URL('../../schema/', import.meta.url)) },
      { searchFolder },
    );
    const collections = [CITIES_COLLECTION, { key: 'countries', name: 'Countries of the world' }];
    for (const input of collections) {
      await server.ask(`mutation ($input: CreateCollectionInput!) { createCollection(input: $input) { id } }`, {
        input,
      });
    }
    const cities = await readCities();
    for (let at = 0; at < cities.length; at += 100) {
      await server.ask(
        `mutation ($markers: [MarkerInput!]!) { createMarkers(collection: "cities", markers: $markers) { markers { id } } }`,
        { markers: cities.slice(at, at + 100) },
      );
    }
    for (const { key, name, geometry } of openCountries().filter((each) => each.name === 'Luxembourg')) {
      await server.ask(`mutation ($input: CreateZoneInput!) { createZone(input: $input) { id } }`, {
        input: { collection: 'countries', key, name, geometry: geometry() },
      });
    }
    await server.counted();
    // The index follows independently.
    const search = '{ search(text: "London") { totalCount } }';
    await until(async () => (await server.ask(search).catch(() => undefined))?.search.totalCount > 0);
  });
  afterAll(async () => {
    await server.close();
  });

  async function run({ query, headers }: Example) {
    const all = { 'x-cellport-cost': '1', ...JSON.parse(headers ?? '{}') };
    return (await (await postQuery(server.url, query, { headers: all })).json()) as Answer;
  }

  /** Subscribes, and makes changes until one arrives. */
  async function watch({ name, query }: Example) {
    const client = websocketClient(server.url);
    const heard = collect(client, query);
    await until(async () => {
      await server.ask(CHANGES[name] ?? `# no change for the subscription ${name}`);
      return heard.data.length + heard.errors.length > 0;
    });
    heard.stop();
    await client.dispose();
    expect(heard.errors).toEqual([]);
  }

  it.each(examples)('$name', async (example) => {
    const { operation } = getOperationAST(parse(example.query))!;
    if (operation === 'subscription') return watch(example);
    await server.counted();
    const { data, errors, extensions } = await run(example);
    expect(errors).toBeUndefined();
    const missing = Object.keys(data).filter((field) => data[field] === null);
    // No city has a global ID.
    expect(missing.filter((field) => field !== 'markerByGlobalId')).toEqual([]);
    expect(JSON.stringify(data)).not.toMatch(
      /"(nodes|edges|nearest|zonesAt|cells|features|places|ofOneDay|readings)":\[\]/,
    );
    if (tabs.includes(example)) expect(extensions.cost.readUnits).toBeLessThanOrEqual(MOST_READ_UNITS);
    if (example.headers !== null) expect(extensions.reads).not.toEqual([]);
  });
});
