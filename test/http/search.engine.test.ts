import { readdirSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';

import { silentLog } from '../../src/log.js';
import { documentOf } from '../../src/search/document.js';
import { openEmbeddedEngine } from '../../src/search/embedded/embedded-engine.js';
import type { IndexStatus, SearchEngine } from '../../src/search/engine.js';
import { OwnSearch } from '../../src/server/search.js';
import { createStreamsClient } from '../../src/stream/source/dynamodb.js';
import { until } from '../live/support.js';
import { allItems } from '../stream/support.js';
import { temporaryFolder } from '../support/temporary-folder.js';
import { engine as localEngine, testDatabase } from '../support/test-database.js';
import { startServer, type LiveServer } from './live-server.js';

const folder = temporaryFolder();
const db = await testDatabase('readable', { stream: true });
let index: SearchEngine;
let status: IndexStatus = { state: 'following', read: 0, reason: null };
let server: LiveServer;

const SEARCH = `query ($text: String!, $collections: [String!], $bounds: BoundsInput, $near: PointInput, $first: Int, $after: String) {
  search(text: $text, collections: $collections, bounds: $bounds, near: $near, first: $first, after: $after) {
    totalCount
    pageInfo { hasNextPage hasPreviousPage startCursor endCursor }
    edges { cursor score node { __typename ... on Marker { id name position { lng } } ... on Zone { id name } ... on Collection { id title: name } } }
  }
}`;

interface Edge {
  readonly cursor: string;
  readonly score: number;
  readonly node: { readonly __typename: string; readonly id: string; readonly name?: string; readonly title?: string };
}

const ask = (text: string, more: Readonly<Record<string, unknown>> = {}) => server.ask(SEARCH, { text, ...more });
const namesOf = (answer: Awaited<ReturnType<typeof ask>>) =>
  ((answer.data?.search?.edges ?? []) as readonly Edge[]).map(({ node }) => node.name ?? node.title ?? '');
async function names(text: string, more: Readonly<Record<string, unknown>> = {}): Promise<string[]> {
  const answer = await ask(text, more);
  expect(answer.errors).toEqual([]);
  return namesOf(answer);
}

/** Indexes the current table; the index then lags until the next call. */
async function fillIndex(): Promise<void> {
  await index.clear();
  const items = await allItems(db, db.tables.entities);
  const rankBy = new Map([['cities', 'population']]);
  const documents = items.flatMap((item) => documentOf(db.keys, item, rankBy) ?? []);
  await index.write(
    documents.map((document) => ({ type: 'put', document })),
    'filled',
  );
}

beforeAll(async () => {
  index = await openEmbeddedEngine({ folder, table: 'http', maxBytes: 2 ** 26 }, () => Date.now());
  const search = {
    open: () => index,
    hasRead: () => true,
    get status() {
      return status;
    },
  };
  server = await startServer(db, { search });
  const made = await server.ask(
    `mutation ($markers: [MarkerInput!]!, $more: [MarkerInput!]!) {
    cities: createCollection(input: { key: "cities", name: "Cities", rankBy: "population" }) { rankBy }
    parks: createCollection(input: { key: "parks", name: "Parks of São Paulo" }) { rankBy }
    a: createMarkers(collection: "cities", markers: $markers) { failures { message } }
    b: createMarkers(collection: "parks", markers: $more) { failures { message } }
    createZone(input: { collection: "parks", key: "z", name: "Parque Paulo", geometry: { type: "Polygon", coordinates: [[[10, 0], [12, 0], [12, 2], [10, 2], [10, 0]]] } }) { id }
  }`,
    {
      markers: [
        { key: 'sp', name: 'São Paulo', position: { lng: -46.6, lat: -23.5 }, properties: { population: 12_000_000 } },
        {
          key: 'sp2',
          name: 'São Paulo de Olivença',
          position: { lng: -68.9, lat: -3.4 },
          properties: { population: 14_000 },
        },
        {
          key: 'fiji',
          name: 'Suva',
          category: 'capital',
          position: { lng: 178.4, lat: -18.1 },
          properties: { population: 77_000, note: 'near Paulo' },
        },
        {
          key: 'apia',
          name: 'Apia',
          category: 'capital',
          position: { lng: -171.7, lat: -13.8 },
          properties: { population: 40_000 },
        },
      ],
      more: [{ key: 'p', name: 'Ibirapuera', position: { lng: -46.6, lat: -23.6 }, place: ['Brasil', 'São Paulo'] }],
    },
  );
  if (made.data?.cities?.rankBy !== 'population') throw new Error(JSON.stringify(made.errors));
  await fillIndex();
});
afterAll(async () => {
  await server.close();
  await index.close();
});

test('markers, zones and collections are found by name, place and properties, best first', async () => {
  const answer = await ask('sao paulo');
  expect(namesOf(answer)).toEqual(['São Paulo', 'São Paulo de Olivença', 'Parks of São Paulo', 'Ibirapuera']);
  expect(answer.data.search.totalCount).toBe(4);
  const kinds = (answer.data.search.edges as readonly Edge[]).map(({ node }) => node.__typename);
  expect(kinds).toEqual(['Marker', 'Marker', 'Collection', 'Marker']);
  expect(await names('paul', { collections: ['parks'] })).toEqual(
    expect.arrayContaining(['Parque Paulo', 'Parks of São Paulo']),
  );
  expect(await names('Sao Paolo')).toContain('São Paulo');
  expect(await names('capital')).toEqual(['Suva', 'Apia']);
});

test('bounds cross the antimeridian, and text may be empty then; near orders by distance', async () => {
  const pacific = { west: 170, east: -170, south: -30, north: 0 };
  expect(await names('', { bounds: pacific })).toEqual(['Suva', 'Apia']);
  expect(await names('paulo', { bounds: pacific })).toEqual(['Suva']);
  for (const lng of [-175, 185]) expect(await names('capital', { near: { lng, lat: -14 } })).toEqual(['Apia', 'Suva']);
  expect(await names('', { bounds: { west: 11.5, east: 11.6, south: 1, north: 1.1 } })).toEqual(['Parque Paulo']);
});

test('pages follow one another without a gap, and a cursor of another search is refused', async () => {
  const found: string[] = [];
  let after: string | null = null;
  for (let page = 0; page < 6; page += 1) {
    const {
      data,
    }: { data: { search: { edges: readonly Edge[]; pageInfo: { hasNextPage: boolean; endCursor: string } } } } =
      await ask('paulo', { first: 1, after });
    found.push(...data.search.edges.map(({ node }) => node.name ?? node.title ?? ''));
    if (!data.search.pageInfo.hasNextPage) break;
    after = data.search.pageInfo.endCursor;
  }
  expect(found).toEqual(await names('paulo'));
  expect(found.length).toBe(6);
  const { errors } = await ask('sao', { after });
  expect(errors[0]).toMatchObject({ extensions: { code: 'BAD_USER_INPUT', field: 'after' } });
});

test('nodes deleted or moved away since are omitted, and the page is refilled', async () => {
  await server.ask(`mutation { deleteMarker(id: "marker::cities::sp") { id }
    updateMarker(input: { id: "marker::cities::fiji", name: "New Suva", position: { lng: 100, lat: 0 } }) { id } }`);
  const answer = await ask('paulo', { first: 2 });
  expect(namesOf(answer).length).toBe(2);
  expect(namesOf(answer)).not.toContain('São Paulo');
  expect(answer.data.search.pageInfo.hasNextPage).toBe(true);
  // Under its old name, with the new one.
  expect(await names('suva')).toEqual(['New Suva']);
  expect(await names('', { bounds: { west: 170, east: -170, south: -30, north: 0 } })).toEqual(['Apia']);
  await fillIndex();
  expect(await names('', { bounds: { west: 99, east: 101, south: -1, north: 1 } })).toEqual(['New Suva']);
});

test('the nodes of a page are read in one batch', async () => {
  const { extensions } = await server.ask(
    '{ search(text: "a", collections: ["cities", "parks"]) { edges { node { __typename } } } }',
    {},
    { 'x-cellport-cost': '1' },
  );
  expect(extensions?.['cost']).toMatchObject({ queries: 0 });
  expect((extensions?.['cost'] as { getItems: number } | undefined)?.getItems).toBeLessThanOrEqual(8);
});

describe('unusual input gets an answer or a clear error', () => {
  test.each([
    ['a'.repeat(10_000), {}, /^text must be at most 256 characters; got "a{79}…/],
    ['', {}, /^text must be at least one letter or digit/],
    ['"', {}, /^text must be at least one letter or digit/],
    ['\u0000\u202e', {}, /^text must be/],
    ['a', { first: 0 }, /^first must be/],
    ['a', { after: 'x' }, /^after must be/],
    ['a', { collections: [] }, /^collections must be/],
    ['a', { bounds: { west: 0, east: 1, south: 2, north: 1 } }, /^bounds\.south must be/],
  ])('%# fails', async (text, more, message) => {
    const { errors } = await ask(text, more);
    expect(errors[0]?.extensions).toMatchObject({ code: 'BAD_USER_INPUT' });
    expect(errors[0]?.message).toMatch(message);
  });

  test('a collection that does not exist is not found', async () => {
    expect((await ask('a', { collections: ['none'] })).errors[0]?.extensions).toMatchObject({ code: 'NOT_FOUND' });
  });

  test.each([
    'a',
    'são',
    '"paulo" OR *',
    'name:paulo',
    'NEAR(a b)',
    'a\u0000b',
    'שלום',
    '\u202epaulo',
    '💥 paulo',
    '-paulo',
    'a'.repeat(256),
  ])('%j is answered', async (text) => {
    expect((await ask(text)).errors).toEqual([]);
  });
});

test('end to end: written markers are found, and /readyz reports the progress of the index', async () => {
  const streams = createStreamsClient(localEngine());
  const options = { searchBytes: 2 ** 26, dataDir: join(folder, 'whole') };
  const search = new OwnSearch(options, { database: db, streams }, silentLog);
  const own = await startServer(db, { search });
  const query = '{ search(text: "Nadi") { totalCount } }';
  const before = await own.ask(query);
  expect(before.errors[0]).toMatchObject({
    message: expect.stringMatching(/index is being built/),
    extensions: { code: 'UNAVAILABLE' },
  });
  search?.start();
  await until(() => search?.status.state === 'following');
  await own.ask(
    'mutation { createMarker(input: { collection: "cities", position: { lng: 177, lat: -17 }, key: "nadi", name: "Nadi" }) { id } }',
  );
  await until(async () => (await own.ask(query)).data.search.totalCount === 1);
  const ready = (await (await fetch(`${own.url}/readyz`)).json()) as { search: IndexStatus };
  expect(ready.search).toMatchObject({ state: 'following', reason: null });
  await search?.stop();
  await own.close();
  streams.destroy();
});

test('a damaged index fails with UNAVAILABLE, reveals nothing, and is built again', async () => {
  const streams = createStreamsClient(localEngine());
  const dataDir = join(folder, 'broken');
  const search = new OwnSearch({ searchBytes: 2 ** 26, dataDir }, { database: db, streams }, silentLog);
  const own = await startServer(db, { search });
  const found = () => own.ask('{ search(text: "Nadi") { totalCount edges { node { __typename } } } }');
  search.start();
  await until(() => search.status.state === 'following');
  for (const name of readdirSync(dataDir).filter((each) => /search(-wal)?$/.test(each))) {
    const path = join(dataDir, name);
    // SQLite finds what it reads, not the header, which it has in memory.
    writeFileSync(path, Buffer.alloc(statSync(path).size - 100, 'damaged'), { flag: 'r+' });
  }
  const answers: string[] = [];
  await until(async () => {
    const { data, errors } = await found();
    answers.push(...errors.map(({ message, extensions }) => `${String(extensions['code'])} ${message}`));
    const { search: ready } = (await (await fetch(`${own.url}/readyz`)).json()) as { search: IndexStatus };
    answers.push(ready.reason ?? '');
    return answers.some((each) => each.includes('a fault')) && data.search !== null;
  });
  const faults = [...new Set(answers)].filter((each) => each !== '');
  expect(faults.filter((each) => /INTERNAL|SQLITE|malformed|database/.test(each) || each.includes(dataDir))).toEqual(
    [],
  );
  expect(faults.some((each) => each.startsWith('UNAVAILABLE'))).toBe(true);
  await search.stop();
  await own.close();
  streams.destroy();
});

test('a server with search turned off says so', async () => {
  const own = await startServer(db);
  const { data, errors } = await own.ask('{ search(text: "a") { totalCount } collection(key: "cities") { key } }');
  expect(data).toEqual({ search: null, collection: { key: 'cities' } });
  expect(errors[0]).toMatchObject({
    message: expect.stringMatching(/search is turned off/),
    extensions: { code: 'UNAVAILABLE' },
  });
  await own.close();
});
