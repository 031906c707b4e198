import { afterAll, beforeAll, describe, expect, test } from 'vitest';

import { compiling, interpreting } from '../../src/graphql/execution/executor.js';
import { LiveHub } from '../../src/live/hub.js';
import { silentLog } from '../../src/log.js';
import { testDatabase } from '../support/test-database.js';
import { startServer, type LiveServer } from './live-server.js';

const EXECUTORS = { interpreting, compiling: (schema: never) => compiling(schema, { runsBefore: 0 }) };
const SCHEMA = '{__schema {queryType {name}}}';

describe.each(['interpreting', 'compiling'] as const)('a server without introspection, %s', async (name) => {
  const db = await testDatabase();
  let server: LiveServer;
  const live = new LiveHub({ keys: db.keys, log: silentLog, clock: db.clock });
  beforeAll(async () => {
    server = await startServer(db, { introspection: false, executor: EXECUTORS[name] as typeof interpreting, live });
  });
  afterAll(() => server.close());

  test.each([
    SCHEMA,
    '{__type(name: "Marker") {name}}',
    'query Q {collections {nodes {key}} s: __schema {types {name}}}',
  ])('rejects %s', async (query) => {
    const { status, data, errors } = await server.ask(query);
    expect([status, data]).toEqual([400, undefined]);
    expect(errors.slice(0, 1)).toMatchObject([
      { message: expect.stringMatching('introspection'), extensions: { code: 'GRAPHQL_VALIDATION_FAILED' } },
    ]);
    const address = `${server.url}/graphql?query=${encodeURIComponent(query)}`;
    const got = await fetch(address, { headers: { 'apollo-require-preflight': '1' } });
    expect([got.status, ((await got.json()) as { data?: unknown }).data]).toEqual([400, undefined]);
  });

  test('rejects it in subscriptions, too', async () => {
    const query = 'subscription {markerChanged(collection: "parks") {id}} query Q {__schema {queryType {name}}}';
    const text = await (await fetch(`${server.url}/graphql/stream?query=${encodeURIComponent(query)}`)).text();
    expect(text).toMatch('introspection');
    expect(text).not.toMatch('queryType\\":');
  });

  test('answers everything else, __typename included, and suggests no names', async () => {
    expect((await server.ask('{__typename collections {nodes {key}}}')).data).toEqual({
      __typename: 'Query',
      collections: { nodes: [] },
    });
    const [error] = (await server.ask('{colections {nodes {key}}}')).errors;
    expect(error?.message).toMatch('Cannot query field "colections"');
    expect(error?.message).not.toMatch('Did you mean');
    const query = 'subscription {markerChangd(collection: "parks") {id}}';
    const text = await (await fetch(`${server.url}/graphql/stream?query=${encodeURIComponent(query)}`)).text();
    expect(text).toMatch('Cannot query field');
    expect(text).not.toMatch('Did you mean');
  });
});

test('by default a server allows introspection and suggests names', async () => {
  const db = await testDatabase();
  const server = await startServer(db);
  expect((await server.ask(SCHEMA)).data).toEqual({ __schema: { queryType: { name: 'Query' } } });
  expect((await server.ask('{colections {nodes {key}}}')).errors[0]?.message).toMatch('Did you mean "collections"');
  await server.close();
});
