import { createHash } from 'node:crypto';
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { parse, print } from 'graphql';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';

import { silentLog } from '../../src/log.js';
import { followDocuments } from '../../src/server/trusted-documents.js';
import { pageDocuments } from '../../web/map/build/documents.js';
import { collect, until, websocketClient } from '../live/support.js';
import { recordCalls } from '../support/record-calls.js';
import { runCliHere } from '../support/run-cli.js';
import { temporaryFolder } from '../support/temporary-folder.js';
import { engineSettings, testCollection, testDatabase } from '../support/test-database.js';
import { startServer, type LiveServer } from './live-server.js';

const db = await testDatabase();
const folder = temporaryFolder();
const settings = { ...engineSettings(), CELLPORT_TABLE: db.tables.entities, CELLPORT_LOG: 'silent' };
const cli = (...args: string[]) => runCliHere(['documents', ...args], settings);
const recording = recordCalls(db);
const sha256 = (text: string) => createHash('sha256').update(text).digest('hex');
const hashed = (text: string) => ({ persistedQuery: { version: 1, sha256Hash: sha256(text) } });

const TRUSTED = 'query Parks{collection(key:"parks"){name}} # of the app';
const PARKS = { collection: { name: 'Parks' } };
const SCHEMA = 'query Schema { __schema { queryType { name } } }';
const OTHER = '{ collection(key: "parks") { key name } }';
const FORBIDDEN = expect.objectContaining({
  message: expect.stringContaining('`cellport documents add`'),
  extensions: { code: 'FORBIDDEN' },
});
let server: LiveServer;

async function fileOf(name: string, content: unknown): Promise<string> {
  const path = join(folder, name);
  await writeFile(path, typeof content === 'string' ? content : JSON.stringify(content));
  return path;
}

beforeAll(async () => {
  await testCollection(db, { key: 'parks', name: 'Parks' });
  await fileOf('documents.json', pageDocuments());
  const trustedDocuments = followDocuments(db, folder, silentLog);
  server = await startServer(db, { trustedDocuments, introspection: false });
  await cli('add', await fileOf('parks.graphql', TRUSTED));
});
afterAll(() => server.close());

const post = async (body: object) => {
  const response = await server.post(JSON.stringify(body));
  return [response.status, await response.json()];
};

describe('a server that trusts only listed documents', () => {
  test.each([
    ['in full', { query: TRUSTED }],
    ['as clients print it', { query: print(parse(TRUSTED)) }],
    ['by its hash', { extensions: hashed(TRUSTED) }],
    ['by the hash of the printed text', { extensions: hashed(print(parse(TRUSTED))) }],
  ])('executes one that is sent %s, over every transport', async (_how, body) => {
    expect(await post(body)).toEqual([200, { data: PARKS }]);
    const search = new URLSearchParams(
      Object.entries(body).map(([name, value]): [string, string] => [
        name,
        typeof value === 'string' ? value : JSON.stringify(value),
      ]),
    ).toString();
    const got = await fetch(`${server.url}/graphql?${search}`, { headers: { 'apollo-require-preflight': '1' } });
    expect(await got.json()).toEqual({ data: PARKS });
    expect(await (await fetch(`${server.url}/graphql/stream?${search}`)).text()).toContain(JSON.stringify(PARKS));
    const client = websocketClient(server.url);
    const answer = await new Promise((next) => client.subscribe({ query: '', ...body }, { next, error: next, complete: () => undefined })); // prettier-ignore
    expect(answer).toEqual({ data: PARKS });
    await client.dispose();
  });

  test.each([OTHER, SCHEMA, 'mutation { deleteCollection(key: "parks") { key } }', '{ what }', `${TRUSTED} `])(
    'refuses %s, over every transport, and says what to do',
    async (query) => {
      for (const body of [{ query }, { extensions: hashed(query) }, { query, extensions: hashed(query) }]) {
        expect(await post(body)).toEqual([403, { errors: [FORBIDDEN] }]);
      }
      const stream = await fetch(`${server.url}/graphql/stream?query=${encodeURIComponent(query)}`);
      expect(await stream.text()).toContain('FORBIDDEN');
      const client = websocketClient(server.url);
      const asked = collect(client, query);
      await until(() => asked.ended !== undefined);
      expect(asked.errors).toEqual([FORBIDDEN]);
      await client.dispose();
      expect((await post({ query: TRUSTED }))[1]).toEqual({ data: PARKS });
    },
  );

  test('refuses a batch of which a part is not listed, for that part', async () => {
    const response = await server.post(JSON.stringify([{ query: TRUSTED }, { query: OTHER }]));
    expect(await response.json()).toEqual([{ data: PARKS }, { errors: [FORBIDDEN] }]);
  });

  test('tells the tiles that change, by a document of its own', async () => {
    // Only this server does not follow changes.
    const { errors } = (await (await fetch(`${server.url}/tiles/parks/changes`)).json()) as { errors: object[] };
    expect(errors).toEqual([expect.objectContaining({ extensions: expect.objectContaining({ code: 'UNAVAILABLE' }) })]);
  });

  test('executes every operation of the map page', async () => {
    const answers = await Promise.all(Object.values(pageDocuments()).map(async (query) => (await post({ query }))[1]));
    expect(answers.length).toBeGreaterThan(50);
    expect(JSON.stringify(answers)).not.toMatch(/FORBIDDEN|GRAPHQL_VALIDATION_FAILED/);
  });

  test('reads the version of its list once a second at most', async () => {
    recording.reset();
    const began = Date.now();
    for (let count = 0; count < 50; count += 1) await post({ query: OTHER });
    expect(recording.count()).toBeLessThanOrEqual(1 + Math.ceil((Date.now() - began) / 1_000));
  });

  test('executes what is added, introspection included, and no longer what is removed', async () => {
    const files = [
      await fileOf('apollo.json', { format: 'apollo-persisted-query-manifest', version: 1, operations: [{ id: sha256(SCHEMA), name: 'Schema', type: 'query', body: SCHEMA }] }), // prettier-ignore
      await fileOf('persisted-documents.json', { [sha256(OTHER)]: OTHER }),
    ];
    expect(await cli('add', ...files)).toMatchObject({ code: 0, output: expect.stringContaining('2 documents added') });
    await until(async () => (await post({ query: OTHER }))[0] === 200);
    expect(await post({ extensions: hashed(SCHEMA) })).toEqual([200, { data: { __schema: { queryType: { name: 'Query' } } } }]); // prettier-ignore
    const { output } = await cli('list');
    for (const line of [`${sha256(TRUSTED)}  Parks`, `${sha256(SCHEMA)}  Schema`, '3 trusted documents']) {
      expect(output).toContain(line);
    }
    expect(await cli('remove', 'Schema', sha256(OTHER))).toMatchObject({ code: 0 });
    await until(async () => (await post({ query: OTHER }))[0] === 403);
    expect(await post({ extensions: hashed(SCHEMA) })).toEqual([403, { errors: [FORBIDDEN] }]);
    expect(await post({ query: TRUSTED })).toEqual([200, { data: PARKS }]);
  });
});

test.each([
  ['wrong.graphql', '{\n  collections { nodes { nmae } }\n}', 'wrong.graphql:2: Cannot query field "nmae"'],
  ['syntax.graphql', '{\n\n  collections {', 'syntax.graphql:3: Syntax Error'],
  [
    'sha1.json',
    { abc: OTHER },
    `sha1.json, document abc: clients must name it by the SHA-256 of its text, ${sha256(OTHER)}`,
  ],
  [
    'invalid.json',
    { [sha256('{\n x}')]: '{\n x}' },
    `invalid.json, document ${sha256('{\n x}')}:2: Cannot query field "x"`,
  ],
  ['list.json', [1], 'list.json must be a .graphql file or a manifest'],
  ['text.json', 'query', 'text.json must be a .graphql file or a manifest'],
])('nothing is added from %s, and the error names file and line', async (name, content, message) => {
  const good = await fileOf('good.graphql', '{ __typename }');
  const { code, output } = await cli('add', good, await fileOf(name, content));
  expect([code, output]).toEqual([2, expect.stringContaining(message)]);
  expect((await cli('list', '--json')).output).not.toContain('__typename');
});

test('commands that name no document are refused', async () => {
  expect(await cli('remove', 'Nothing')).toMatchObject({ code: 2, output: expect.stringContaining('Nothing') });
  expect(await cli('remove')).toMatchObject({ code: 2, output: expect.stringContaining('--all') });
  expect(await cli('add', join(folder, 'none.graphql'))).toMatchObject({ code: 2, output: expect.stringContaining('none.graphql') }); // prettier-ignore
});
