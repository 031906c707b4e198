import { createHash } from 'node:crypto';
import { ApolloClient, gql, HttpLink, InMemoryCache } from '@apollo/client';
import { PersistedQueryLink } from '@apollo/client/link/persisted-queries';
import { beforeAll, describe, expect, test } from 'vitest';

import { websocketClient } from '../live/support.js';
import { testCollection, testDatabase } from '../support/test-database.js';
import { startServer, testServer } from './live-server.js';

const db = await testDatabase();
const server = await testServer(db, { cacheSeconds: 60, allowedOrigins: ['https://maps.example.org'] });
beforeAll(async () => {
  await testCollection(db, { key: 'parks', name: 'Parks' });
});

const sha256 = (text: string) => createHash('sha256').update(text).digest('hex');
const QUERY = '{ collection(key: "parks") { name } }';
const PARKS = { collection: { name: 'Parks' } };
const hashed = (text: string) => ({ persistedQuery: { version: 1, sha256Hash: sha256(text) } });
const HEADERS = { 'apollo-require-preflight': '1' };

/** Sends a query by GET, by its hash unless its text is given. */
function get(parameters: { query?: string; extensions?: object }, headers: Record<string, string> = {}) {
  const search = new URLSearchParams();
  for (const [name, value] of Object.entries(parameters))
    search.set(name, typeof value === 'string' ? value : JSON.stringify(value));
  return fetch(`${server.url}/graphql?${search.toString()}`, { headers: { ...HEADERS, ...headers } });
}

/** Apollo Client with its link for persisted queries, and the requests that it has sent. */
function apolloClient(useGETForHashedQueries: boolean) {
  const sent: string[] = [];
  const link = new HttpLink({
    uri: `${server.url}/graphql`,
    fetch: (input, init) => {
      const text = JSON.stringify([input, init?.body]);
      sent.push(`${init?.method} ${/query=|query\\":/.test(text) ? 'text' : 'hash'}`);
      return fetch(input, init);
    },
  });
  const persisted = new PersistedQueryLink({ sha256, useGETForHashedQueries });
  return { sent, client: new ApolloClient({ link: persisted.concat(link), cache: new InMemoryCache() }) };
}

describe('persisted queries', () => {
  test.each([true, false])('are those of Apollo Client, by GET: %s', async (byGet) => {
    const query = gql`query ${byGet ? 'Got' : 'Posted'}($key: String!) { collection(key: $key) { name } }`;
    const ask = async ({ client }: ReturnType<typeof apolloClient>) =>
      (await client.query({ query, variables: { key: 'parks' }, fetchPolicy: 'no-cache' })).data;
    const [first, second] = [apolloClient(byGet), apolloClient(byGet)];
    for (const each of [first, second])
      expect(await ask(each)).toEqual({ collection: { __typename: 'Collection', name: 'Parks' } });
    const method = byGet ? 'GET' : 'POST';
    expect([first.sent, second.sent]).toEqual([[`${method} hash`, 'POST text'], [`${method} hash`]]);
  });

  test('are answered over WebSockets and event streams by their hash', async () => {
    const text = '{ collection(key: "parks") { key name } }';
    const extensions = hashed(text);
    const client = websocketClient(server.url);
    const answers: unknown[] = [];
    // Its protocol requires the text, if only an empty one.
    for (const query of ['', text, '']) {
      const ended = new Promise(
        (resolve) =>
        client.subscribe({ query, extensions }, { next: (answer) => answers.push(answer), error: resolve, complete: () => resolve(undefined) }), // prettier-ignore
      );
      answers.push(await ended);
    }
    const data = { collection: { key: 'parks', name: 'Parks' } };
    expect(answers).toEqual([
      [expect.objectContaining({ extensions: { code: 'PERSISTED_QUERY_NOT_FOUND' } })],
      { data },
      undefined,
      { data },
      undefined,
    ]);
    await client.dispose();
    const search = new URLSearchParams({ extensions: JSON.stringify(extensions) }).toString();
    const stream = await fetch(`${server.url}/graphql/stream?${search}`);
    expect(await stream.text()).toContain(JSON.stringify({ data }));
  });

  test('with an unknown hash are a question, and those with a wrong one are refused', async () => {
    const unknown = await get({ extensions: hashed('{ __typename }') });
    expect([unknown.status, await unknown.json()]).toEqual([
      200,
      { errors: [{ message: 'PersistedQueryNotFound', extensions: { code: 'PERSISTED_QUERY_NOT_FOUND' } }] },
    ]);
    for (const extensions of [hashed('other'), { persistedQuery: { version: 2, sha256Hash: sha256(QUERY) } }]) {
      const wrong = await get({ query: QUERY, extensions });
      expect([wrong.status, await wrong.json()]).toMatchObject([400, { errors: [{ extensions: { code: 'BAD_USER_INPUT' } }] }]); // prettier-ignore
    }
    const invalid = '{ what }';
    await get({ query: invalid, extensions: hashed(invalid) });
    expect(await (await get({ extensions: hashed(invalid) })).text()).toContain('GRAPHQL_VALIDATION_FAILED');
    // Larger than what is kept.
    const large = `{ __typename } # ${' '.repeat(300_000)}`;
    await server.post(JSON.stringify({ query: large, extensions: hashed(large) }));
    expect(await (await get({ extensions: hashed(large) })).text()).toContain('PersistedQueryNotFound');
  });

  test('execute no mutation by GET', async () => {
    const mutation = 'mutation { createCollection(input: { key: "got", name: "Got" }) { key } }';
    await get({ query: mutation, extensions: hashed(mutation) });
    expect((await get({ extensions: hashed(mutation) })).status).toBe(405);
    expect((await server.ask('{ collection(key: "got") { key } }')).data).toEqual({ collection: null });
  });
});

describe('an answer to a GET', () => {
  const cachedBy = async (response: Promise<Response>) => {
    const { headers } = await response;
    return [headers.get('cache-control'), headers.get('vary')?.toLowerCase()];
  };

  test('may be cached for as long as configured, by everything on which it depends', async () => {
    const [control, vary] = await cachedBy(get({ query: QUERY }, { origin: 'https://maps.example.org' }));
    expect(control).toBe('public, max-age=60');
    for (const name of ['origin', 'accept', 'authorization', 'x-api-key', 'x-cellport-cost']) {
      expect(vary?.split(', ')).toContain(name);
    }
    expect(await (await get({ query: QUERY })).json()).toEqual({ data: PARKS });
  });

  test.each([
    [{ authorization: 'Bearer x' }, QUERY],
    [{ 'x-api-key': 'x' }, QUERY],
    [{ 'x-cellport-cost': '1' }, QUERY],
    [
      {},
      '{ viewport(bounds: { west: 0, south: 0, east: 1, north: 1 }, zoom: 3) { cells(collection: "none") { geohash } } }',
    ],
    [{}, '{ what }'],
  ])('is not cached with the headers %j for %s', async (headers, query) => {
    expect((await cachedBy(get({ query }, headers)))[0]).toBe('no-store');
  });

  test('is not cached by default', async () => {
    const other = await startServer(db);
    const url = `${other.url}/graphql?query=${encodeURIComponent(QUERY)}`;
    expect((await cachedBy(fetch(url, { headers: HEADERS })))[0]).toBe('no-store');
    await other.close();
  });
});
