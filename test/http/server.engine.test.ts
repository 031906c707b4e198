import { once } from 'node:events';
import { mkdirSync, mkdtempSync, writeFileSync } from 'node:fs';
import { connect } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { describe, expect, test } from 'vitest';

import { interceptCalls } from '../support/faults.js';
import { newDatabase } from '../support/test-database.js';
import { startServer, testServer } from './live-server.js';

const server = await testServer(newDatabase(), { limits: { maxBodyBytes: 40_000, maxNodes: 5_000 } });

const JSON_TYPE = 'application/json; charset=utf-8';
const firstError = async (response: Response) => {
  const { errors } = (await response.json()) as { errors: { message: string; extensions: { code: string } }[] };
  return errors[0];
};

describe('the routes', () => {
  test('/ and /graphiql redirect to GraphiQL', async () => {
    for (const path of ['/', '/graphiql']) {
      const response = await fetch(server.url + path);
      expect([response.status, response.url, response.redirected]).toEqual([200, `${server.url}/graphiql/`, true]);
    }
  });

  test('GraphiQL may run scripts of this host only, and connect to no other', async () => {
    const response = await fetch(`${server.url}/graphiql/`);
    const policy = response.headers.get('content-security-policy') ?? '';
    expect(policy).toContain("default-src 'none'");
    expect(policy).toMatch(/script-src 'self'(;|$)/);
    expect(policy).toMatch(/connect-src 'self'(;|$)/);
    expect(policy).not.toMatch(/unsafe-eval|https?:|\*/);
    expect(response.headers.get('x-content-type-options')).toBe('nosniff');
  });

  test('let browsers keep files of the map whose name has a hash, and revalidate all others', async () => {
    const mapDir = mkdtempSync(join(tmpdir(), 'map-'));
    mkdirSync(join(mapDir, 'assets'));
    for (const file of ['index.html', 'base.json', 'assets/index-a1b2.js']) writeFileSync(join(mapDir, file), '1');
    const other = await startServer(newDatabase(), { mapDir });
    const cacheControl = async (path: string) => (await fetch(other.url + path)).headers.get('cache-control');
    expect(await Promise.all(['/', '/map/base.json', '/map/assets/index-a1b2.js'].map(cacheControl))).toEqual([
      'no-cache',
      'no-cache',
      'public, max-age=31536000, immutable',
    ]);
    await other.close();
  });

  test('/healthz reports that the process runs, and makes no calls', async () => {
    const response = await fetch(`${server.url}/healthz`);
    expect([response.status, await response.json()]).toEqual([200, { healthy: true }]);
  });

  test('an unknown path is 404, and no path escapes the folder of GraphiQL', async () => {
    expect((await fetch(`${server.url}/nowhere`)).status).toBe(404);
    for (const path of ['/graphiql/../package.json', '/graphiql/%2e%2e/package.json', '/graphiql/..%2fpackage.json']) {
      const socket = connect(Number(new URL(server.url).port), '127.0.0.1');
      socket.write(`GET ${path} HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n`);
      const chunks: Buffer[] = [];
      for await (const chunk of socket) chunks.push(chunk as Buffer);
      expect(Buffer.concat(chunks).toString()).toMatch(/^HTTP\/1.1 40[034]/);
    }
  });

  test('opening /graphql in a browser redirects to GraphiQL', async () => {
    const response = await fetch(`${server.url}/graphql`, { headers: { accept: 'text/html' }, redirect: 'manual' });
    expect([response.status, response.headers.get('location')]).toEqual([302, 'graphiql/']);
  });

  test('other methods of /graphql are 405 with the allowed methods', async () => {
    for (const method of ['PUT', 'PATCH', 'DELETE', 'OPTIONS']) {
      const response = await fetch(`${server.url}/graphql`, { method });
      expect([response.status, response.headers.get('allow')]).toEqual([405, 'GET, POST']);
    }
  });
});

describe('a body that is not a request', () => {
  test.each([
    ['not JSON', 'query { a }', 400, 'cannot read the request'],
    ['truncated JSON', '{"query":', 400, 'cannot read the request'],
    ['NaN, which JSON does not have', '{"query":"{__typename}","variables":{"a":NaN}}', 400, 'cannot read the request'],
    ['empty', '', 400, 'body must be a JSON object'],
    ['an empty list', '[]', 400, 'body must be a JSON object, or a list of 1 to 10; got []'],
    ['a string', '"query"', 400, 'POST body missing'],
    ['null', 'null', 400, 'POST body missing'],
    ['without a query', '{"variables":{}}', 400, 'non-empty `query`'],
    ['with a query that is not a string', '{"query":1}', 400, 'GraphQL queries must be strings'],
  ])('%s is BAD_USER_INPUT with the reason, and the cost if requested', async (_name, body, status, message) => {
    const response = await server.post(body, { 'x-cellport-cost': '1' });
    expect([response.status, response.headers.get('content-type')]).toEqual([status, JSON_TYPE]);
    const answer = (await response.json()) as { errors: unknown[]; extensions: { cost: unknown } };
    expect(answer.errors).toMatchObject([
      { message: expect.stringContaining(message), extensions: { code: 'BAD_USER_INPUT' } },
    ]);
    expect(answer.extensions.cost).toEqual({
      queries: 0,
      getItems: 0,
      writes: 0,
      readUnits: 0,
      writeUnits: 0,
      itemsScanned: 0,
      itemsReturned: 0,
      cacheHits: 0,
      markersFrom: null,
      behindMs: null,
    });
  });

  test('over the size limit is 413 and LIMIT_EXCEEDED, and the next request is answered', async () => {
    const response = await server.post(JSON.stringify({ query: `{__typename} #${'x'.repeat(40_000)}` }));
    expect(response.status).toBe(413);
    expect(await firstError(response)).toMatchObject({ extensions: { code: 'LIMIT_EXCEEDED', limit: 40_000 } });
    expect((await server.ask('{__typename}')).data).toEqual({ __typename: 'Query' });
  });

  test('of a content type that any web page can send is rejected, to prevent cross-site request forgery', async () => {
    for (const type of ['text/plain', 'application/x-www-form-urlencoded', 'multipart/form-data']) {
      const response = await server.post('{"query":"{__typename}"}', { 'content-type': type });
      expect(response.status).toBe(415);
      expect(await firstError(response)).toMatchObject({
        extensions: { code: 'BAD_USER_INPUT', field: 'content-type' },
      });
    }
  });
});

describe('a query by GET', () => {
  const url = (query: string) => `${server.url}/graphql?query=${encodeURIComponent(query)}`;

  test('is rejected without a header that a page of another site cannot send', async () => {
    const response = await fetch(url('{__typename}'));
    expect([response.status, (await firstError(response))?.extensions.code]).toEqual([400, 'BAD_USER_INPUT']);
  });

  test('with such a header is answered, within the same limits', async () => {
    const headers = { 'apollo-require-preflight': '1' };
    expect(await (await fetch(url('{__typename}'), { headers })).json()).toEqual({ data: { __typename: 'Query' } });
    const deep = await firstError(await fetch(url(`${'{a'.repeat(13)}${'}'.repeat(13)}`), { headers }));
    expect(deep?.extensions.code).toBe('LIMIT_EXCEEDED');
  });

  test('never changes anything', async () => {
    const response = await fetch(url('mutation {createCollection(input: {key: "a", name: "a"}) {key}}'), {
      headers: { 'apollo-require-preflight': '1' },
    });
    expect([response.status, response.headers.get('allow')]).toEqual([405, 'POST']);
  });
});

describe('documents', () => {
  test('that are too big are LIMIT_EXCEEDED however often they are sent', async () => {
    for (let time = 0; time < 2; time++) {
      const { status, errors, extensions } = await server.ask(
        `{${'a '.repeat(2_000)}}`,
        {},
        { 'x-cellport-cost': '1' },
      );
      expect([status, errors[0]?.extensions]).toEqual([
        400,
        { code: 'LIMIT_EXCEEDED', field: 'number of fields in the query', value: 2_000, limit: 1_000 },
      ]);
      expect(extensions).toHaveProperty('cost.queries', 0);
    }
  });

  test('whose fragments contain themselves fail validation', async () => {
    const { status, errors } = await server.ask('{...A} fragment A on Query {...B} fragment B on Query {...A}');
    expect([status, errors[0]?.extensions['code']]).toEqual([400, 'GRAPHQL_VALIDATION_FAILED']);
  });

  test('with syntax errors or unknown fields have their own codes', async () => {
    expect((await server.ask('{')).errors[0]?.extensions['code']).toBe('GRAPHQL_PARSE_FAILED');
    expect((await server.ask('{nothing}')).errors[0]?.extensions['code']).toBe('GRAPHQL_VALIDATION_FAILED');
    expect((await server.ask('query A {__typename} query B {__typename}')).errors[0]?.extensions['code']).toBe(
      'BAD_USER_INPUT',
    );
  });

  test('may introspect the whole schema, as GraphiQL does', async () => {
    const { getIntrospectionQuery } = await import('graphql');
    const { errors, data } = await server.ask(
      getIntrospectionQuery({ specifiedByUrl: true, inputValueDeprecation: true }),
    );
    expect(errors).toEqual([]);
    expect(data.__schema.queryType.name).toBe('Query');
  });
});

describe('nested lists', () => {
  const viewport = 'viewport(bounds: {west: 0, south: 0, east: 1, north: 1}, zoom: 9)';
  const ask = async (query: string, variables = {}) => (await server.ask(query, variables)).errors[0]?.extensions;

  test('that could return too many objects are rejected before anything is read', async () => {
    expect(
      await ask(
        `{${viewport} {markers(collection: "a", first: 100) {nodes {collection {markers(first: 50) {nodes {id}}}}}}}`,
      ),
    ).toEqual({
      code: 'LIMIT_EXCEEDED',
      field: 'number of objects that the lists of the query can return',
      value: 100 + 100 * 50,
      limit: 5_000,
    });
  });

  test('count with their variables and defaults, in fragments and under aliases', async () => {
    const query = `query ($first: Int = 5000) {${viewport} {a: markers(collection: "a") {...P} b: markers(collection: "a", first: $first) {...P}}}
      fragment P on MarkerConnection {nodes {key}}`;
    expect(await ask(query)).toMatchObject({ value: 6_000 });
    expect(await ask(query, { first: 4_001 })).toMatchObject({ value: 5_001 });
    expect(
      await ask('query ($ids: [ID!]!) {nodes(ids: $ids) {id ... on Collection {markers {nodes {key}}}}}', {
        ids: Array(60).fill('a'),
      }),
    ).toMatchObject({ value: 60 + 60 * 100 });
  });

  test('at the limit are answered', async () => {
    const { data, errors } = await server.ask('query ($ids: [ID!]!) {nodes(ids: $ids) {id}}', {
      ids: Array(5_000).fill('a'),
    });
    expect([errors, data.nodes]).toEqual([[], Array(5_000).fill(null)]);
  });
});

test('a client that sends slowly or disconnects neither delays others nor is logged', async () => {
  const logged = server.logged.length;
  const socket = connect(Number(new URL(server.url).port), '127.0.0.1');
  socket.write(
    'POST /graphql HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\nContent-Length: 100\r\n\r\n{"query"',
  );
  expect((await server.ask('{__typename}')).data).toEqual({ __typename: 'Query' });
  socket.destroy();
  expect((await server.ask('{__typename}')).data).toEqual({ __typename: 'Query' });
  expect(server.logged.slice(logged)).toEqual([]);
});

test.each([
  [
    'too long',
    `GET /tiles/parks/0/0/0?filter=${'x'.repeat(20_000)} HTTP/1.1\r\nHost: localhost\r\n\r\n`,
    431,
    'size of the URL and headers is more than 16384 bytes, the limit is 16384: send shorter ones',
    'LIMIT_EXCEEDED',
  ],
  ['not HTTP', 'é\r\n\r\n', 400, 'cannot read the request: Parse Error: Invalid method encountered', 'BAD_USER_INPUT'],
])(
  'a request that is %s is answered with one error, and the server goes on',
  async (_, sent, status, message, code) => {
    const socket = connect(Number(new URL(server.url).port), '127.0.0.1');
    socket.write(sent);
    const [head = '', body = ''] = (await text(socket)).split('\r\n\r\n');
    expect(head).toMatch(new RegExp(`^HTTP/1.1 ${status} .*\r\ncontent-length: ${Buffer.byteLength(body)}$`, 's'));
    const { errors } = JSON.parse(body) as { errors: { message: string; extensions: { code: string } }[] };
    expect(errors.map((error) => [error.message, error.extensions.code])).toEqual([[message, code]]);
    expect((await server.ask('{__typename}')).data).toEqual({ __typename: 'Query' });
  },
);

test('a client whose headers or body are slow is disconnected within the time for a request', async () => {
  const strict = await startServer(newDatabase(), { requestTimeoutMs: 1_000 });
  const head = 'POST /graphql HTTP/1.1\r\nHost: localhost\r\n';
  const slow = ['', head, `${head}Content-Type: application/json\r\nContent-Length: 100\r\n\r\n{"query"`].map(
    async (sent) => {
      const socket = connect(Number(new URL(strict.url).port), '127.0.0.1');
      socket.on('error', () => undefined);
      socket.write(sent);
      // Data keeps arriving, except on the connection that sends nothing.
      const dripping = setInterval(() => sent !== '' && socket.write('a'), 100);
      let told = '';
      socket.setEncoding('utf8').on('data', (text: string) => (told += text));
      await once(socket, 'close');
      clearInterval(dripping);
      return told;
    },
  );
  for (const told of await Promise.all(slow)) {
    expect(told).toMatch('HTTP/1.1 408');
    expect(told).toContain('{"errors":[{"message":"the request did not arrive in time; send it again"');
  }
  await strict.close();
}, 15_000);

describe('closing', () => {
  test('fails /readyz first, and answers everything else until the drain period ends', async () => {
    const draining = await startServer(newDatabase(), { drainMs: 3_000 });
    let isClosed = false;
    const closed = draining.close().then(() => (isClosed = true));
    const ready = await fetch(`${draining.url}/readyz`);
    expect([ready.status, await ready.json()]).toMatchObject([
      503,
      { ready: false, reasons: ['the server is shutting down'] },
    ]);
    expect((await fetch(`${draining.url}/healthz`)).status).toBe(200);
    expect((await draining.ask('{__typename}')).data).toEqual({ __typename: 'Query' });
    expect(isClosed).toBe(false);
    await closed;
    await expect(fetch(`${draining.url}/healthz`)).rejects.toThrow('fetch failed');
  });

  test('closes connections on which nothing was sent, finishes requests in progress, and accepts no more', async () => {
    const db = newDatabase();
    let goOn = () => {};
    const held = new Promise<void>((resolve) => {
      goOn = resolve;
    });
    const asked = new Promise<void>((resolve) => {
      interceptCalls(db, 'Query', async () => {
        resolve();
        await held;
        return { Items: [], Count: 0 };
      });
    });
    const closing = await startServer(db);
    const silent = connect(Number(new URL(closing.url).port), '127.0.0.1');
    await once(silent, 'connect');
    const answer = closing.ask('{collections {nodes {key}}}');
    await asked;
    const silentEnds = once(silent.resume(), 'close');
    const closed = closing.close();
    await silentEnds;
    goOn();
    expect((await answer).data).toEqual({ collections: { nodes: [] } });
    await closed;
    await expect(fetch(`${closing.url}/healthz`)).rejects.toThrow('fetch failed');
  });
});
