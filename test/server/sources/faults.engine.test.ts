import { DeleteTableCommand, UpdateTableCommand } from '@aws-sdk/client-dynamodb';
import { expect, test, vi } from 'vitest';

import { silentLog } from '../../../src/log.js';
import { createTable, putItem } from '../../sources/foreign-table.js';
import { interceptCalls } from '../../support/faults.js';
import { recordCalls } from '../../support/record-calls.js';
import { inTurn } from '../../support/rounds.js';
import { testDatabase } from '../../support/test-database.js';
import { serve } from './server.js';
import { MAPPING, mappingFile, shop, shopTables } from './shops.js';

const db = await testDatabase('readable', { stream: true });
const { cli, make, follow } = shopTables(db);
const turn = inTurn(2);
const soon = { timeout: 40_000, interval: 200 };

const WORLD = '{ west: -180, south: -90, east: 180, north: 90 }';
const keysOf = async ({ ask }: Awaited<ReturnType<typeof serve>>, collection: string) => {
  const { data, errors } = await ask(
    `{ viewport(bounds: ${WORLD}, zoom: 2) { markers(collection: "${collection}", first: 2000) { nodes { key } } } }`,
  );
  return errors?.[0]?.message ?? (data.viewport.markers.nodes as { key: string }[]).map(({ key }) => key).sort();
};
const stateOf = async ({ ask }: Awaited<ReturnType<typeof serve>>, collection: string) =>
  (await ask(`{ collection(key: "${collection}") { countsExact source { state reason } } }`)).data.collection as {
    countsExact: boolean;
    source: { state: string; reason: string | null };
  };

test.runIf(turn())(
  'a table that is deleted, or whose stream is switched off, is a failure of its source alone, which says so',
  async () => {
    const tables = {
      gone: await make('gone', [shop(1, 1, 1)]),
      off: await make('off', [shop(1, 1, 1)]),
      kept: await make('kept', [shop(1, 1, 1)]),
    };
    for (const [name, table] of Object.entries(tables)) await follow(name, { ...MAPPING, table });
    await follow('reread', { ...MAPPING, table: tables.kept }, '--every', '1h');
    const lines: string[] = [];
    const note = (_fields: unknown, message: string) => void lines.push(message);
    const server = await serve(db, {}, { ...silentLog, error: note, warn: note });
    await vi.waitFor(async () => expect(await stateOf(server, 'kept')).toMatchObject({ countsExact: true }), soon);
    await db.client.send(new DeleteTableCommand({ TableName: tables.gone }));
    await db.client.send(
      new UpdateTableCommand({ TableName: tables.off, StreamSpecification: { StreamEnabled: false } }),
    );
    await vi.waitFor(async () => {
      expect(await stateOf(server, 'gone')).toMatchObject({
        countsExact: false,
        source: { state: 'FAILED', reason: `there is no table ${tables.gone}` },
      });
      expect((await stateOf(server, 'off')).source).toMatchObject({
        state: 'FAILED',
        reason: expect.stringContaining('must have a stream') as string,
      });
    }, soon);
    const status = await cli('source', 'status');
    expect(status.output).toMatch(
      /gone \(table .*\): FAILED, 1 markers[^]*there is no table[^]*kept \(table .*\): FOLLOWING/,
    );
    const ready = (await (await fetch(`${server.url}/readyz`)).json()) as { ready: boolean; sources: unknown[] };
    expect(ready).toMatchObject({ ready: true });
    expect(JSON.stringify(ready.sources)).toContain('there is no table');
    expect(ready.sources).toContainEqual({
      collection: 'reread',
      table: tables.kept,
      owner: false,
      behindMs: null,
      countsExact: true,
      failure: null,
    });
    expect(status.output).toMatch(/reread \(table .*, read every 1 h 0 min\): FOLLOWING/);
    for (const name of ['gone', 'off'])
      expect(lines.join('\n')).toMatch(new RegExp(`^source ${name}: the stream of `, 'm'));
    expect(lines.filter((line) => !line.startsWith('source '))).toEqual([]);
    // What is known is still shown, and the others go on.
    expect(await keysOf(server, 'gone')).toEqual(['1']);
    await putItem(db, tables.kept, shop(2, 2, 2));
    await vi.waitFor(async () => expect(await keysOf(server, 'kept')).toEqual(['1', '2']), soon);
    // Switched on again, it has another stream: it is read as a whole.
    await putItem(db, tables.off, shop(3, 3, 3));
    await db.client.send(
      new UpdateTableCommand({
        TableName: tables.off,
        StreamSpecification: { StreamEnabled: true, StreamViewType: 'NEW_AND_OLD_IMAGES' },
      }),
    );
    await vi.waitFor(async () => expect(await keysOf(server, 'off')).toEqual(['1', '3']), soon);
    await vi.waitFor(
      async () => expect((await stateOf(server, 'off')).source).toEqual({ state: 'FOLLOWING', reason: null }),
      soon,
    );
  },
);

test.runIf(turn())(
  'a table that is created again with another primary key is a failure, until its source is changed',
  async () => {
    const table = await make('again', [shop(1, 1, 1)]);
    const mapping = { ...MAPPING, table };
    await follow('again', mapping);
    const server = await serve(db);
    await vi.waitFor(async () => expect(await stateOf(server, 'again')).toMatchObject({ countsExact: true }), soon);
    await db.client.send(new DeleteTableCommand({ TableName: table }));
    await createTable(db, table, [{ name: 'id', type: 'S' }], 'NEW_AND_OLD_IMAGES');
    await putItem(db, table, { ...shop(2, 2, 2), id: 'a' });
    const reason = expect.stringMatching(/another primary key now: `cellport source change again/) as string;
    await vi.waitFor(
      async () => expect((await stateOf(server, 'again')).source).toEqual({ state: 'FAILED', reason }),
      soon,
    );
    expect((await cli('source', 'change', 'again', await mappingFile(mapping))).code).toBe(0);
    await vi.waitFor(
      async () => expect((await stateOf(server, 'again')).source).toEqual({ state: 'FOLLOWING', reason: null }),
      soon,
    );
    const { data } = await server.ask('{ collection(key: "again") { marker(key: "2") { name } } }');
    expect(data.collection.marker).toEqual({ name: 'Shop 2' });
  },
);

test.runIf(turn())(
  'permissions that are withdrawn stop its source until they are back; only calls that its policy allows are made',
  async () => {
    const table = await make('denied', [shop(1, 1, 1)]);
    await follow('denied', { ...MAPPING, table });
    const calls = recordCalls(db);
    let denied = true;
    interceptCalls(db, 'DescribeTable', (input, ask) => {
      if (input['TableName'] !== table || !denied) return ask(input);
      throw Object.assign(new Error('User: me is not authorized'), { name: 'AccessDeniedException' });
    });
    const server = await serve(db);
    await vi.waitFor(async () => expect((await stateOf(server, 'denied')).source.state).toBe('FAILED'), soon);
    expect((await stateOf(server, 'denied')).source.reason).toContain('cellport iam');
    expect(await keysOf(server, 'denied')).toEqual(['1']);
    await putItem(db, table, shop(2, 2, 2));
    denied = false;
    await vi.waitFor(async () => expect(await keysOf(server, 'denied')).toEqual(['1', '2']), soon);
    await vi.waitFor(async () => expect((await stateOf(server, 'denied')).source.state).toBe('FOLLOWING'), soon);
    await server.ask('{ collection(key: "denied") { marker(key: "1") { properties } } }');

    const policy = JSON.parse((await cli('iam', '--role', 'source', '--table', table)).output) as {
      Statement: readonly { Action: readonly string[] }[];
    };
    const allowed = policy.Statement.flatMap(({ Action }) => Action.map((name) => name.replace('dynamodb:', '')));
    const made = calls.commands.filter(
      ({ name, input }) =>
        (input['TableName'] === table || table in ((input['RequestItems'] as object | undefined) ?? {})) &&
        name !== 'PutItem',
    );
    expect(allowed).toEqual(expect.arrayContaining([...new Set(made.map(({ name }) => name))]));
  },
);

test.runIf(turn())(
  'a mapping that matches nothing, items of 400 KB, any keys, and few markers among many items',
  async () => {
    const keys = ['a/b', '#', '%', '::', 'ü€𝄞', ' ', '"', '\\', 'x'.repeat(200), '{key}', '\u0001'];
    const items = [
      ...keys.map((key, at) => shop(key, at, at)),
      shop('large', 1, 2, { opening: 'x'.repeat(390_000) }),
      shop('wide', 1, 2, { stars: 'x'.repeat(20_000) }),
      ...Array.from({ length: 300 }, (_, at) => ({ PK: `LOG#${at}`, SK: 'META' })),
    ];
    const table = await make('odd', items);
    await follow('odd', { ...MAPPING, table });
    await follow('none', { ...MAPPING, table, items: { PK: 'CAR#{key}', SK: 'META' } });
    const server = await serve(db);
    expect(await keysOf(server, 'odd')).toEqual([...keys, 'large', 'wide'].sort());
    expect(await keysOf(server, 'none')).toEqual([]);
    for (const key of [...keys, 'large', 'wide']) {
      const { data } = await server.ask(
        'query ($key: String!) { collection(key: "odd") { marker(key: $key) { key name } } }',
        { key },
      );
      expect(data.collection.marker).toEqual({ key, name: `Shop ${key}` });
    }
    expect((await follow('odd', { ...MAPPING, table: `${table}-none` })).output).toMatch(/there is no table/);
    expect((await cli('source', 'create', 'odd', await mappingFile({ ...MAPPING, table, name: 'kind' }))).code).toBe(1);
    const keysOnly = await make('keys-only', [shop(1, 1, 1)], 'KEYS_ONLY');
    expect((await follow('keys-only', { ...MAPPING, table: keysOnly })).output).toMatch(
      /view type KEYS_ONLY.*StreamEnabled=false; aws dynamodb wait table-exists .*; aws dynamodb update-table/,
    );
  },
);
