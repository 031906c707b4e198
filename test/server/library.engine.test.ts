import { fileURLToPath } from 'node:url';
import { ApolloServer } from '@apollo/server';
import { DynamoDBClient } from '@aws-sdk/client-dynamodb';
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from 'vitest';

import { silentLog, type LogFields } from '../../src/log.js';
import { createCellport, typeDefs, type Cellport, type CellportOptions } from '../../src/server/public.js';
import { until } from '../live/support.js';
import { collectGarbage } from '../support/heap.js';
import { randomFrom } from '../support/random.js';
import { engine } from '../support/test-database.js';

type Serve = (cellport: Cellport) => Promise<{ readonly url: string; readonly close: () => Promise<void> }>;
interface Goods {
  readonly typeDefs: string;
  readonly resolversOver: (read: (keys: readonly string[]) => Promise<unknown[]>) => CellportOptions['resolvers'];
}
const example = async (name: string) =>
  (await import(fileURLToPath(new URL(`../../examples/embed/${name}.mjs`, import.meta.url)))) as unknown;
const { typeDefs: ownTypes, resolversOver } = (await example('goods')) as Goods;
const serveIn = async (name: string) => ((await example(name)) as { readonly serve: Serve }).serve(cellport);

const random = randomFrom(20_261_129);
const shops = Array.from({ length: 60 }, (_, at) => ({
  key: `s${at}`,
  // On both sides of the antimeridian.
  position: {
    lng: (at % 2 === 0 ? 179 : -180) + Math.round(random() * 1e6) / 1e6,
    lat: Math.round(random() * 1e6) / 1e6,
  },
  category: at % 3 === 0 ? 'bakery' : 'books',
}));
const bounds = { west: 179.25, south: 0.25, east: -179.25, north: 0.75 };
const inside = shops
  .filter(({ position: { lng, lat } }) => (lng >= bounds.west || lng <= bounds.east) && lat >= 0.25 && lat <= 0.75)
  .map(({ key }) => key)
  .sort();

/** Batches of keys that the shop's own loader was asked for. */
const batches: (readonly string[])[] = [];
const resolvers = resolversOver(async (keys) => {
  batches.push(keys);
  return keys.map((key) => ({ sells: `the goods of ${key}`, price: 1 }));
});

let cellport: Cellport;
beforeAll(async () => {
  const { endpoint, region, credentials } = engine();
  const client = new DynamoDBClient({ endpoint, region, credentials });
  const settings = { CELLPORT_SEARCH_MB: '0', CELLPORT_ENGINE: 'aws' };
  const noted: (readonly [LogFields, string])[] = [];
  const note = (...line: readonly [LogFields, string]) => void noted.push(line);
  const log = { ...silentLog, error: note, warn: note };
  cellport = await createCellport({
    table: 'shops-of-ours',
    client,
    settings,
    federation: true,
    log,
    typeDefs: ownTypes,
    resolvers,
  });
  client.destroy();
  await cellport.execute({ query: 'mutation { createCollection(input: { key: "shops", name: "Shops" }) { key } }' });
  if (noted.length > 0) throw new Error(`the log of a first start has ${JSON.stringify(noted)}`);
});
afterAll(() => cellport.close());

const QUERY = `query ($bounds: BoundsInput!) { viewport(bounds: $bounds, zoom: 8) {
  markers(collection: "shops", first: 100) { nodes { key position { lng } goods { sells } } } } }`;
const MISSING = '{ nearest(collection: "none", position: { lng: 0, lat: 0 }) { marker { key } } }';

interface Answer {
  readonly data: { readonly viewport: { readonly markers: { readonly nodes: readonly Node[] } } };
  readonly errors?: readonly { readonly message: string; readonly extensions: { readonly code?: string } }[];
}
interface Node {
  readonly key: string;
  readonly goods: { readonly sells: string };
}

/** Asks a server for the shops inside, which come with the field of others, loaded in one batch. */
async function expectShops(ask: (body: object) => Promise<unknown>): Promise<void> {
  batches.length = 0;
  const { data, errors } = (await ask({ query: QUERY, variables: { bounds } })) as Answer;
  expect(errors).toBeUndefined();
  const { nodes } = data.viewport.markers;
  expect(nodes.map(({ key }) => key).sort()).toEqual(inside);
  expect(nodes.map(({ goods }) => goods.sells)).toEqual(nodes.map(({ key }) => `the goods of ${key}`));
  expect(batches.map((keys) => [...keys].sort())).toEqual([inside]);
}

/** Errors keep their codes, whoever formats them. */
async function expectCode(ask: (body: object) => Promise<unknown>): Promise<void> {
  const { errors } = (await ask({ query: 'mutation { deleteCollection(key: "none") { key } }' })) as Answer;
  expect(errors?.map(({ extensions: { code } }) => code)).toEqual(['NOT_FOUND']);
}

const post = (url: string) => async (body: object) => {
  const headers = { 'content-type': 'application/json' };
  return (await fetch(url, { method: 'POST', headers, body: JSON.stringify(body) })).json() as Promise<unknown>;
};

describe('without GraphQL', () => {
  test('markers are created and replaced, and a view has exactly those inside', async () => {
    expect(await cellport.markers.upsert('shops', shops)).toEqual({
      created: shops.length,
      updated: 0,
      unchanged: 0,
      failures: [],
    });
    const again = [...shops.slice(0, 2), { key: 's9', position: { lng: 0, lat: 95 } }];
    const { created, unchanged, failures } = await cellport.markers.upsert('shops', again);
    expect([created, unchanged]).toEqual([0, 2]);
    expect(failures).toMatchObject([
      { index: 2, code: 'BAD_USER_INPUT', message: expect.stringContaining('lat') as unknown },
    ]);
    const { features } = await cellport.viewport({ collection: 'shops', bounds, zoom: 8 });
    expect(features.map(({ properties }) => String(properties['key'])).sort()).toEqual(inside);
    // Counts follow the stream.
    await until(async () => {
      const few = await cellport.viewport({ collection: 'shops', bounds, zoom: 8, limit: 2 });
      const counts = few.features.map(({ properties }) => Number(properties['count'] ?? 1));
      return counts.length < inside.length && counts.reduce((sum, count) => sum + count, 0) >= inside.length;
    });
  });

  test('a marker is read, updated and deleted with the latest write', async () => {
    await cellport.markers.upsert('shops', [{ key: 'one', position: { lng: 5, lat: 6 }, properties: { open: true } }]);
    const id = 'marker::shops::one';
    expect(await cellport.markers.get(id)).toMatchObject({ key: 'one', properties: { open: true }, version: 1 });
    const moved = { id, position: { lng: 7, lat: 8 }, expectedVersion: 1 };
    expect(await cellport.markers.update(moved)).toMatchObject({ position: { lng: 7, lat: 8 }, version: 2 });
    await expect(cellport.markers.update(moved)).rejects.toMatchObject({ code: 'CONFLICT', details: { version: 2 } });
    expect(await cellport.markers.delete([id, 'marker::shops::two'])).toMatchObject({ deleted: 1 });
    expect(await cellport.markers.get(id)).toBeNull();
  });

  test('errors name what is wrong', async () => {
    await expect(cellport.markers.upsert('none', shops.slice(0, 1))).rejects.toMatchObject({
      name: 'CellportError',
      code: 'NOT_FOUND',
      message: expect.stringContaining('none') as unknown,
    });
    await expect(cellport.viewport({ collection: 'shops', bounds, zoom: NaN })).rejects.toMatchObject({
      code: 'BAD_USER_INPUT',
    });
    const settings = { CELLPORT_CACHE_MB: 'much' };
    await expect(createCellport({ settings })).rejects.toMatchObject({
      code: 'BAD_USER_INPUT',
      message: expect.stringMatching(/CELLPORT_CACHE_MB.*"much"/) as unknown,
    });
    const options = (given: object) => createCellport(given as CellportOptions).catch((error: Error) => error.message);
    expect(await options({ tabel: 'x', consumer: 'off', cursorSecret: '' })).toBe(
      'tabel is unknown; the nearest name is table\nconsumer must be true or false; got "off"\n' +
        'cursorSecret must be text of a character or more; got ""',
    );
    // What is no client may be the configuration of one, with its secrets.
    const config = { region: 'eu-central-1', credentials: { secretAccessKey: 'secret' } };
    expect(await options({ client: config, authorize: true, log: {}, resolvers: 'x' })).toBe(
      'client must be a DynamoDBClient; got another object\nauthorize must be a function; got true\n' +
        'log must be an object with the functions error, warn, info and debug; got another object\n' +
        'resolvers must be an object with types, or a list of such objects; got "x"',
    );
    expect(
      await options({ settings: { CELLPORT_CACHE_MB: 64, CELLPORT_SERCH_MB: '0', PATH: process.env['PATH'] } }),
    ).toBe(
      'settings.CELLPORT_CACHE_MB must be text; got 64\n' +
        'settings.CELLPORT_SERCH_MB is not a setting: docs/configuration.md lists all settings',
    );
    expect(await options('places' as unknown as object)).toBe('options must be an object; got "places"');
    const wrong = { typeDefs: 'extend type Marker { shop: Shop }' };
    const { endpoint, region, credentials } = engine();
    const client = new DynamoDBClient({ endpoint, region, credentials });
    await expect(createCellport({ table: 'wrong', client, log: silentLog, ...wrong })).rejects.toThrow(/Shop/);
    const readOnly = await createCellport({
      table: 'shops-of-ours',
      client,
      consumer: false,
      settings: { CELLPORT_SEARCH_MB: '0', CELLPORT_READ_ONLY: 'on', CELLPORT_DOCUMENTS: 'trusted' },
      log: silentLog,
    });
    onTestFinished(() => readOnly.close());
    // Its own documents need not be listed.
    expect((await readOnly.viewport({ collection: 'shops', bounds, zoom: 8 })).type).toBe('FeatureCollection');
    await expect(readOnly.markers.upsert('shops', shops)).rejects.toThrow('read-only');
    const sent = { 'content-type': 'application/json' };
    const body = JSON.stringify({ query: '{ viewer { name } }' });
    const asked = await readOnly.fetch(
      new Request('http://localhost/graphql', { method: 'POST', headers: sent, body }),
    );
    expect(await asked.text()).toContain('only trusted documents');
    const apollo = new ApolloServer({ schema: readOnly.schema });
    const query = 'mutation { deleteCollection(key: "shops") { key } }';
    const answer = await apollo.executeOperation({ query }, { contextValue: await readOnly.context() });
    expect(answer.body).toMatchObject({ singleResult: { errors: [{ extensions: { code: 'FORBIDDEN' } }] } });
  });
});

describe('the schema, with types of others, in', () => {
  test.each(['apollo', 'yoga', 'fastify'])('%s, as in the example', async (name) => {
    const { url, close } = await serveIn(name);
    onTestFinished(close);
    await expectShops(post(url));
    await expectCode(post(url));
  });

  test('a federation, whose other subgraphs know markers by their IDs', async () => {
    const query = `query ($representations: [_Any!]!) { _entities(representations: $representations) {
      __typename ... on Marker { key goods { sells } } ... on Collection { name } } }`;
    const ask = async (representations: readonly unknown[]) =>
      cellport.execute({ query, variables: { representations } });
    const idOf = (key: string) => ({ __typename: 'Marker', id: `marker::shops::${key}` });
    batches.length = 0;
    const { data, errors } = await ask([
      idOf('s3'),
      { __typename: 'Collection', id: 'collection::shops' },
      idOf('none'),
      idOf('s5'),
    ]);
    expect(errors).toBeUndefined();
    expect(data).toEqual({
      _entities: [
        { __typename: 'Marker', key: 's3', goods: { sells: 'the goods of s3' } },
        { __typename: 'Collection', name: 'Shops' },
        null,
        { __typename: 'Marker', key: 's5', goods: { sells: 'the goods of s5' } },
      ],
    });
    expect(batches).toEqual([['s3', 's5']]);
    for (const wrong of [
      { __typename: 'Cell', id: 'u3' },
      { __typename: 'Marker' },
      { __typename: 'Marker', id: 7 },
      'x',
      {},
    ]) {
      const refused = await ask([wrong]);
      expect(refused.errors).toMatchObject([
        { message: expect.stringContaining('representations.') as unknown, extensions: { code: 'BAD_USER_INPUT' } },
      ]);
    }
    const many = await ask(Array.from({ length: 5_001 }, () => idOf('s3')));
    expect(many.errors?.length).toBe(1);
  });

  test('its text, for tools', () => {
    expect(typeDefs.join('\n')).toContain('type Viewport {');
    expect(typeDefs.join('\n')).not.toContain('goods: Goods');
  });
});

describe('the fetch handler', () => {
  const ask = async (body: object) => {
    const headers = { 'content-type': 'application/json' };
    const request = new Request('https://maps.example/graphql', {
      method: 'POST',
      headers,
      body: JSON.stringify(body),
    });
    return (await cellport.fetch(request)).json() as Promise<unknown>;
  };

  test('answers with all limits, and the fields of others', async () => {
    await expectShops(ask);
    await expectCode(ask);
    const { errors } = (await ask({ query: MISSING })) as Answer;
    expect(errors?.length).toBe(1);
    const large = await cellport.fetch(
      new Request('https://maps.example/graphql', {
        method: 'POST',
        headers: { 'content-type': 'application/json' },
        body: JSON.stringify({ query: 'x'.repeat(30_000_000) }),
      }),
    );
    expect(large.status).toBe(413);
    const health = await cellport.fetch(new Request('https://maps.example/healthz'));
    expect([health.status, health.headers.get('x-content-type-options')]).toEqual([200, 'nosniff']);
    expect((await cellport.fetch(new Request('https://maps.example/nowhere'))).status).toBe(404);
    const tiles = await cellport.fetch(new Request('https://maps.example/tiles/shops.json'));
    const {
      tiles: [template],
    } = (await tiles.json()) as { tiles: string[] };
    expect(template).toMatch(/^https:\/\/maps\.example\/tiles\/shops\//);
  });

  test('streams what changes until the client has gone', async () => {
    const gone = new AbortController();
    const query = 'subscription { markerChanged(collection: "shops") { kind marker { key } } }';
    const response = await cellport.fetch(
      new Request('https://maps.example/graphql/stream', {
        method: 'POST',
        headers: { 'content-type': 'application/json', accept: 'text/event-stream' },
        body: JSON.stringify({ query }),
        signal: gone.signal,
      }),
    );
    expect([response.status, response.headers.get('content-type')]).toEqual([200, 'text/event-stream; charset=utf-8']);
    const reader = response.body?.pipeThrough(new TextDecoderStream()).getReader();
    const position = { lng: 0, lat: 0 };
    let text = '';
    for (let n = 0; n < 200 && !text.includes('"key":"new'); n += 1) {
      await cellport.markers.upsert('shops', [{ key: `new${n}`, position }]);
      const next = await Promise.race([reader?.read(), new Promise<undefined>((resolve) => setTimeout(resolve, 500))]);
      text += next?.value ?? '';
    }
    expect(text).toContain('event: next');
    // Node collects requests that nobody holds, and their signals then follow no other one.
    collectGarbage();
    gone.abort();
    // What was already read may come first.
    await until(async () => (await reader?.read().catch(() => ({ done: true })))?.done === true);
  });

  test('streams through Fastify, below a path, as in the example', async () => {
    const { url, close } = await serveIn('fastify');
    onTestFinished(close);
    const query = 'subscription { markerChanged(collection: "shops") { kind marker { key } } }';
    const response = await fetch(`${url}/stream`, {
      method: 'POST',
      headers: { 'content-type': 'application/json', accept: 'text/event-stream' },
      body: JSON.stringify({ query }),
    });
    expect(response.headers.get('content-type')).toBe('text/event-stream; charset=utf-8');
    const reader = response.body?.pipeThrough(new TextDecoderStream()).getReader();
    await cellport.markers.upsert('shops', [{ key: 'through', position: { lng: 0, lat: 0 } }]);
    for (let text = ''; !text.includes('"key":"through"');) text += (await reader?.read())?.value ?? '';
    await reader?.cancel();
  });
});
