import { expect, test, vi } from 'vitest';

import { sourceConsumer } from '../../../src/server/sources/report.js';
import { removeSource } from '../../../src/stream/mapped/remove.js';
import { collect, websocketClient } from '../../live/support.js';
import { deleteItem, putItem } from '../../sources/foreign-table.js';
import { allItems } from '../../stream/support.js';
import { recordCalls } from '../../support/record-calls.js';
import { inTurn } from '../../support/rounds.js';
import { temporaryFolder } from '../../support/temporary-folder.js';
import { testDatabase } from '../../support/test-database.js';
import { serve } from './server.js';
import { MAPPING, mappingFile, shop, shopTables } from './shops.js';

const db = await testDatabase('readable', { stream: true });
const { cli, make, follow } = shopTables(db);
const turn = inTurn(2);
const folder = temporaryFolder();
const soon = { timeout: 20_000, interval: 100 };
const slowly = { timeout: 40_000, interval: 1_000 };
const keysOf = async ({ ask }: Awaited<ReturnType<typeof serve>>, collection: string) => {
  const query = `{ viewport(bounds: { west: -180, south: -90, east: 180, north: 90 }, zoom: 2) {
    markers(collection: "${collection}") { nodes { key } } } }`;
  const { data, errors } = await ask(query);
  expect(errors).toBeUndefined();
  return (data.viewport.markers.nodes as { key: string }[]).map(({ key }) => key).sort();
};

test.runIf(turn())(
  'everything that is asked of a collection works on a source but what it has not, which says why',
  async () => {
    const table = await make('api', [
      shop('a', 7, 51),
      shop('b', 7.001, 51),
      shop('c', -180, 10),
      shop('d', 'x' as never, 1),
    ]);
    const created = await follow('api', { ...MAPPING, table });
    expect(created.code).toBe(0);
    expect(created.output).toContain(
      'rejected items, which match the mapping but are not markers: 1; see `cellport source status api`',
    );
    const server = await serve(db);
    const { data, errors } = await server.ask(`{
    collection(key: "api") {
      count countsExact bounds { west east } asOf
      source { table mapping state reason behindMs rejected }
      marker(key: "a") { id name category place properties version updatedAt readings(last: 1) { at } }
      zones { nodes { key } }
      zonesAt(point: { lng: 7, lat: 51 }) { key }
      nearest(center: { lng: 7, lat: 51 }, count: 2) { node { key } }
      within(center: { lng: 7, lat: 51 }, radius: 200) { nodes { key } }
      places { name count }
      markers(filter: { properties: [{ name: "stars", gte: 3 }] }) { nodes { key } }
    }
    cell(collection: "api", geohash: "u1") { count }
    node(id: "marker::api::b") { ... on Marker { key properties } }
    viewport(bounds: { west: 0, south: 40, east: 10, north: 60 }, zoom: 5) {
      count(collection: "api")
      clusters(collection: "api") { count }
      auto(collection: "api") { markers { key } }
    }
  }`);
    expect(errors).toBeUndefined();
    expect(data.collection).toMatchObject({
      count: 3,
      countsExact: true,
      asOf: expect.any(String) as string,
      source: { table, mapping: { table }, state: 'FOLLOWING', reason: null, rejected: 1 },
      marker: { id: 'marker::api::a', name: 'Shop a', category: 'bakery', place: ['Köln'], version: 1, readings: [] },
      zones: { nodes: [] },
      zonesAt: [],
      nearest: [{ node: { key: 'a' } }, { node: { key: 'b' } }],
      within: { nodes: [{ key: 'a' }, { key: 'b' }] },
      places: [{ name: 'Köln', count: 3 }],
    });
    expect(data.collection.marker.properties).toEqual({ stars: 3, opening: { mo: '9-18' } });
    expect(data.collection.markers.nodes).toHaveLength(3);
    expect(data.node).toEqual({ key: 'b', properties: { stars: 3, opening: { mo: '9-18' } } });
    expect(data.viewport.count).toBe(2);
    expect(data.cell.count).toBe(2);

    for (const [query, field] of [
      ['mutation { createMarker(input: { collection: "api", position: { lng: 1, lat: 1 } }) { key } }', 'createMarker'],
      ['mutation { deleteMarker(id: "marker::api::a") { key } }', 'deleteMarker'],
      ['mutation { recordReadings(marker: "marker::api::a", readings: []) }', 'recordReadings'],
      ['{ collection(key: "api") { markersIn(place: ["Köln"]) { nodes { key } } } }', 'markersIn'],
    ] as const) {
      const refused = await server.ask(query);
      expect([field, refused.errors?.[0]?.message]).toEqual([
        field,
        expect.stringContaining(`${field}: collection api follows a table, which Cellport only reads`),
      ]);
    }
  },
);

test.runIf(turn())(
  'a new mapping replaces the old one once everything is built; a server goes on with it, and may follow the table now',
  async () => {
    const table = await make('change', [shop(1, 1, 1), shop(2, 2, 2, { kind: 'closed' }), shop(3, 3, 3)]);
    const unlike = await follow('change', { ...MAPPING, table, items: { PK: 'STORE#{key}' } }, '--every', '1d');
    expect(unlike.output).toContain('no item matches the mapping: see `cellport source check`');
    expect((await cli('source', 'change', 'change', await mappingFile({ ...MAPPING, table }))).code).toBe(0);
    const server = await serve(db);
    await vi.waitFor(async () => expect(await keysOf(server, 'change')).toEqual(['1', '2', '3']), soon);
    const next = { ...MAPPING, table, where: [{ path: 'kind', ne: 'closed' }], name: 'kind' };
    expect((await follow('change', next)).output).toMatch(
      /another mapping, or with other options: see `cellport source change`/,
    );
    const changed = cli('source', 'change', 'change', await mappingFile(next), '--no-every');
    let answers = 0;
    for (let done = false; !done; answers++) {
      done = await Promise.race([
        changed.then(() => true),
        new Promise<false>((resolve) => setTimeout(() => resolve(false), 50)),
      ]);
      expect(['1,2,3', '1,3']).toContain((await keysOf(server, 'change')).join());
    }
    expect((await changed).code).toBe(0);
    expect((await cli('source', 'change', 'change', await mappingFile(next))).output).toMatch(
      /has this mapping already/,
    );
    expect(answers).toBeGreaterThan(3);
    expect(await keysOf(server, 'change')).toEqual(['1', '3']);
    await putItem(db, table, shop(4, 4, 4));
    await putItem(db, table, shop(3, 3, 3, { kind: 'closed' }));
    await vi.waitFor(async () => expect(await keysOf(server, 'change')).toEqual(['1', '4']), soon);
    expect((await cli('source', 'verify', 'change')).code).toBe(0);
    expect((await server.ask('{ collection(key: "change") { count marker(key: "1") { name } } }')).data).toEqual({
      collection: { count: 2, marker: { name: 'bakery' } },
    });
  },
);

test.runIf(turn())('a table without a stream is read again and again, and its map says how old it is', async () => {
  const table = await make('every', [shop(1, 1, 1)], null);
  const refused = await follow('every', { ...MAPPING, table });
  expect(refused).toMatchObject({ code: 2, output: expect.stringContaining('Following it needs one') as string });
  expect(refused.output).toContain('with --every 1h');
  expect((await follow('every', { ...MAPPING, table }, '--every', '1m')).code).toBe(0);
  expect((await follow('every', { ...MAPPING, table }, '--every', '2m')).output).toMatch(/with other options/);
  await putItem(db, table, shop(2, 2, 2));
  const server = await serve(db, { CELLPORT_SEARCH_MB: '64', CELLPORT_DATA_DIR: folder });
  const calls = recordCalls(db);
  const pagesRead = async () => {
    calls.reset();
    expect(await keysOf(server, 'every')).toEqual(['1']);
    return calls.commands.filter(({ input }) => JSON.stringify(input).includes('"page::every')).length;
  };
  expect(await pagesRead()).toBeGreaterThan(0);
  // No server follows it, and each one may keep its pages.
  await vi.waitFor(async () => expect(await pagesRead()).toBe(0), soon);
  const found = async () => {
    const { data } = await server.ask('{ search(text: "Shop", collections: ["every"]) { totalCount } }');
    return (data?.search?.totalCount as number | undefined) ?? null;
  };
  await vi.waitFor(async () => expect(await found()).toBe(1), soon);
  const age = async () =>
    (await server.ask('{ collection(key: "every") { source { behindMs } } }')).data.collection.source
      .behindMs as number;
  expect(await age()).toBeGreaterThan(0);
  const now = db.clock.wall.bind(db.clock);
  const later = vi.spyOn(db.clock, 'wall').mockImplementation(() => now() + 61_000);
  await vi.waitFor(async () => expect(await keysOf(server, 'every')).toEqual(['1', '2']), soon);
  await vi.waitFor(async () => expect(await found()).toBe(2), soon);
  later.mockRestore();
  await server.close();
  const ofJob = db.keys.job('every', 'reread');
  const jobs = async () =>
    (await allItems(db, db.tables.entities)).filter(({ pk, sk }) => pk === ofJob.pk && sk === ofJob.sk);
  expect(await jobs()).toHaveLength(1);
  await removeSource(db, 'every', sourceConsumer('every'), new AbortController().signal);
  expect(await jobs()).toEqual([]);
});

test.runIf(turn())('two sources follow one table; a deleted one leaves nothing but the table', async () => {
  const table = await make('both', [shop(1, 1, 1), shop(2, 2, 2, { PK: 'DEPOT#2' })]);
  const before = await allItems(db, table);
  const own = new Set((await allItems(db, db.tables.derived)).map(({ pk, sk }) => `${String(pk)}\n${String(sk)}`));
  await follow('shops', { ...MAPPING, table });
  const server = await serve(db);
  await vi.waitFor(async () => expect(await keysOf(server, 'shops')).toEqual(['1']), soon);
  await follow('depots', { ...MAPPING, table, items: { PK: 'DEPOT#{key}', SK: 'META' } });
  await vi.waitFor(async () => expect(await keysOf(server, 'depots')).toEqual(['2']), soon);
  expect(await keysOf(server, 'shops')).toEqual(['1']);
  await deleteItem(db, table, { PK: 'DEPOT#2', SK: 'META' });
  await vi.waitFor(async () => expect(await keysOf(server, 'depots')).toEqual([]), soon);
  await server.close();
  const calls = recordCalls(db);
  for (const key of ['shops', 'depots']) {
    const refused = await cli('source', 'delete', key);
    expect(refused.output).toContain(`but nothing of table ${table}`);
    expect((await cli('source', 'delete', key, '--yes')).code).toBe(0);
  }
  expect(calls.count()).toBe(0);
  expect(await allItems(db, table)).toEqual(before.filter(({ PK }) => PK !== 'DEPOT#2'));
  const left = (await allItems(db, db.tables.derived)).filter(({ pk, sk }) => !own.has(`${String(pk)}\n${String(sk)}`));
  expect(left.length).toBeGreaterThan(0);
});

test.runIf(turn())(
  'every server emits changes of its table live, as what maps draw, whichever follows it',
  async () => {
    const table = await make('live', [shop(1, 1, 1)]);
    await follow('live', { ...MAPPING, table });
    const servers = [await serve(db), await serve(db), await serve(db, { CELLPORT_CONSUMER: 'off' })];
    const clients = servers.map(({ url }) => websocketClient(url));
    const changed = `subscription { markerChanged(collection: "live") { kind id marker { name properties version } } }`;
    const heard = clients.map((client) => collect(client, changed));
    await vi.waitFor(async () => {
      for (const [index, client] of clients.entries())
        if (heard[index]?.ended !== undefined) heard[index] = collect(client, changed);
      await putItem(db, table, shop('first', Math.random(), 1));
      for (const { data } of heard) expect(data.length).toBeGreaterThan(0);
      // A reader has to find the stream at rest once.
    }, slowly);
    await putItem(db, table, shop(1, 1, 1, { stars: 5 }));
    await putItem(db, table, shop(1, 2, 1, { stars: 5 }));
    await deleteItem(db, table, { PK: 'SHOP#1', SK: 'META' });
    const ofShop = ({ data }: (typeof heard)[number]) =>
      data.map(({ markerChanged }) => markerChanged).filter(({ id }) => id === 'marker::live::1');
    await vi.waitFor(() => expect(heard.map((each) => ofShop(each).length)).toEqual([3, 3, 3]), soon);
    for (const each of heard)
      expect(ofShop(each)).toMatchObject([{ kind: 'UPDATED' }, { kind: 'MOVED' }, { kind: 'DELETED', marker: null }]);
    for (const client of clients) await client.dispose();
  },
);
