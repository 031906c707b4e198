import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';

import { interpreting } from '../../../src/graphql/execution/executor.js';
import { silentLog } from '../../../src/log.js';
import type { ObjectStore } from '../../../src/objects/object-store.js';
import { createIndex } from '../../../src/search/opensearch/indexes.js';
import { IN_USE, NEXT, stateItem } from '../../../src/search/opensearch/state.js';
import type { Refusal } from '../../../src/search/opensearch/write.js';
import { checkIndex, replayRefusals } from '../../../src/server/index-check.js';
import { reindex, withCluster } from '../../../src/server/reindex.js';
import { FleetSearch, type ServerSearch } from '../../../src/server/search.js';
import { createDatabase } from '../../../src/store/create-database.js';
import { ensureTables } from '../../../src/store/table/tables.js';
import { createStreamsClient } from '../../../src/stream/source/dynamodb.js';
import { startServer, type LiveServer } from '../../http/live-server.js';
import { until } from '../../live/support.js';
import { HAS_OPENSEARCH } from '../../services/opensearch-server.js';
import { inTurn, runsAll } from '../../support/rounds.js';
import { rectangle } from '../../support/shapes.js';
import { engine, newDatabase, testCollection } from '../../support/test-database.js';
import { clusterUrl } from './cluster.js';
import { startProxy, type ClusterProxy } from './proxy.js';

const turn = inTurn(2);
// Comparing both executors would run a query twice while the index changes.
const executor = interpreting;

/** A store whose objects can be hidden. */
function hidingStore() {
  const bodies = new Map<string, Uint8Array>();
  const state = { hidden: false };
  const store: ObjectStore = {
    place: 'memory',
    put: (name, body) => Promise.resolve(void bodies.set(name, body)),
    get: (name) => Promise.resolve(state.hidden ? undefined : bodies.get(name)),
    remove: (name) => Promise.resolve(void bodies.delete(name)),
    list: async function* () {},
  };
  return { store, state };
}

describe.skipIf(!HAS_OPENSEARCH)('servers that share an index in OpenSearch', () => {
  const { store, state: objects } = hidingStore();
  const db = newDatabase('readable', { geometry: { objects: store, inlineBytes: 0 } });
  const streams = createStreamsClient(engine());
  const backend = { database: db, streams };
  const signal = new AbortController().signal;
  const searches: ServerSearch[] = [];
  let proxy: ClusterProxy;
  let server: LiveServer;

  const command = () => ({ url: proxy.url, backend, log: silentLog, signal });
  function open(): ServerSearch {
    const search = new FleetSearch(proxy.url, backend, silentLog);
    searches.push(search);
    search.start();
    return search;
  }
  const create = (key: string, name: string) =>
    server.ask(
      'mutation ($key: String!, $name: String!) { createMarker(input: { collection: "parks", position: { lng: 1, lat: 2 }, key: $key, name: $name }) { id } }',
      { key, name },
    );
  const found = async (text: string, own = server) => {
    const { data, errors } = await own.ask(
      'query ($text: String!) { search(text: $text) { totalCount } parks: collection(key: "parks") { key } }',
      { text },
    );
    expect(data.parks).toEqual({ key: 'parks' });
    if (data.search === null) return String(errors[0]?.extensions['code']);
    return Number(data.search.totalCount);
  };

  beforeAll(async () => {
    proxy = await startProxy(await clusterUrl());
    await ensureTables(db);
    server = await startServer(db, { search: open(), objects: store, executor });
    await server.ask('mutation { createCollection(input: { key: "parks", name: "Grounds" }) { key } }');
    await create('a', 'Alder');
    await until(async () => (await found('alder')) === 1, 400);
  });
  afterAll(async () => {
    for (const search of searches) await search.stop();
    await server?.close();
    await proxy?.close();
    streams.destroy();
    db.client.destroy();
  });

  test('one follows the stream, all answer, and another takes over', async ({ skip, task }) => {
    skip(!turn(task));
    const second = open();
    const other = await startServer(db, { search: second, executor });
    await until(() => second.status.state === 'following');
    expect(await found('alder', other)).toBe(1);
    await searches[0]?.stop();
    await create('b', 'Beech');
    await until(async () => (await found('beech', other)) === 1, 400);
    await other.close();
    await second.stop();
    await server.close();
    server = await startServer(db, { search: open(), objects: store, executor });
    await until(async () => (await found('beech')) === 1, 400);
  });

  test('while OpenSearch is down only search fails, and it catches up by itself', async () => {
    proxy.intercept = () => 'no answer';
    expect(await found('alder')).toBe('UNAVAILABLE');
    await create('c', 'Cedar');
    await expect(checkIndex(command())).rejects.toMatchObject({
      code: 'UNAVAILABLE',
      message: expect.stringMatching(/^OpenSearch does not respond at 127\.0\.0\.1:\d+$/),
    });
    proxy.intercept = () => undefined;
    await until(async () => (await found('cedar')) === 1, 600);
    expect(await found('alder')).toBe(1);
  });

  test('a zone whose geometry cannot be read is found, is a dead letter, and gets its shape when that is replayed', async () => {
    objects.hidden = true;
    const made = await server.ask(
      'mutation ($geometry: GeoJSON!) { createZone(input: { collection: "parks", key: "z", name: "Zone of oaks", geometry: $geometry }) { id } }',
      {
        geometry: rectangle(0, 0, 4, 4),
      },
    );
    expect(made.errors).toEqual([]);
    await until(async () => (await found('zone of oaks')) === 1, 400);
    const left: Refusal[] = [];
    const replay = () => replayRefusals(command(), (some) => void left.push(...some));
    expect(await replay()).toEqual({ tried: 1, left: 1 });
    expect(left.splice(0)).toMatchObject([{ key: { sk: 'z' } }]);
    objects.hidden = false;
    expect(await replay()).toEqual({ tried: 1, left: 0 });
    expect(await replay()).toEqual({ tried: 0, left: 0 });
    expect(left).toEqual([]);
    const at = { shape: { type: 'point', coordinates: [1, 1] }, relation: 'intersects' } as const;
    const ids = await withCluster(command(), async ({ client, names: { alias: index } }) => {
      await client.indices.refresh({ index });
      const { body } = await client.search({ index, body: { query: { geo_shape: { shape: at } } } } as never);
      return body.hits.hits.map(({ _id }) => _id);
    });
    expect(ids).toEqual(['zone::parks#z']);
  });

  test.runIf(runsAll)('a new index takes the place of the old one without losing a write', async () => {
    const before = await stateItem(db, IN_USE).load();
    let writing = true;
    let written = 0;
    const writer = (async () => {
      for (; writing; await sleep(10)) await create(`live${(written += 1)}`, `Live ${written}`);
    })();
    const { documents } = await reindex(command(), { acceptCount: true, onRead: () => undefined });
    writing = false;
    await writer;
    expect(documents).toBeGreaterThan(3);
    const after = await stateItem(db, IN_USE).load();
    expect(after?.index).not.toBe(before?.index);
    expect(await stateItem(db, NEXT).load()).toMatchObject({ index: '', owner: '' });
    await create('end', 'Finis');
    await until(async () => (await found('finis')) === 1, 600);
    expect(await found('live')).toBe(written);
    // Ranked, and not yet removed from the table.
    const made =
      await server.ask(`mutation { createCollection(input: { key: "peaks", name: "Peaks", rankBy: "height" }) { key }
      createMarker(input: { collection: "peaks", position: { lng: 1, lat: 2 }, key: "ortler", name: "Ortler", properties: { height: 3905 } }) { id } }`);
    expect(made.errors).toEqual([]);
    await until(async () => (await found('ortler')) === 1, 600);
    await server.ask('mutation { deleteCollection(key: "peaks") { key } }');
    const drift = await checkIndex(command());
    expect(drift).toMatchObject({ missing: [], extra: [] });
    expect(drift.documents).toBe(written + 6);
  });

  test('an index of another layout stays in use, and the log says which command rebuilds it', async () => {
    for (const search of searches.splice(0)) await search.stop();
    const state = await stateItem(db, IN_USE).load();
    if (state === undefined) throw new Error('no index is in use');
    const old = state.index.replace(/~\d+-/, '~0-');
    await withCluster(command(), async ({ client, names }) => {
      await createIndex(client, names, old);
      await client.reindex({ refresh: true, body: { source: { index: state.index }, dest: { index: old } } });
    });
    await stateItem(db, IN_USE).put({ ...state, index: old, version: state.version + 1 });
    const warnings: string[] = [];
    const log = { ...silentLog, warn: (_: unknown, message: string) => void warnings.push(message) };
    const advice = expect.stringContaining('run `cellport reindex`');

    const search = new FleetSearch(proxy.url, backend, log);
    searches.push(search);
    search.start();
    await until(() => warnings.length > 0);
    expect(warnings).toEqual([advice]);
    await until(() => search.status.state === 'following');
    expect((await stateItem(db, IN_USE).load())?.index).toBe(old);
    await reindex(command(), { acceptCount: false, onRead: () => undefined });
    expect((await stateItem(db, IN_USE).load())?.index).toMatch(/~[1-9]\d*-/);
  });

  test('tables of the same name in other accounts have indexes of their own', async () => {
    const credentials = { accessKeyId: 'OTHERACCOUNT', secretAccessKey: 'OTHERACCOUNT' };
    const other = createDatabase({ ...engine(), credentials, tables: db.tables, keyStyle: 'readable' });
    await ensureTables(other);
    await testCollection(other, { key: 'lakes', name: 'Lakes' });
    const otherStreams = createStreamsClient({ ...engine(), credentials });
    const found = async (search: ServerSearch, text: string) => {
      await until(() => search.status.state === 'following');
      const query = { words: [text], scopes: undefined, area: undefined, near: undefined };
      return search.open().count(query);
    };
    // Each start would delete the index of the other one if they shared names.
    for (let start = 0; start < 2; start += 1) {
      const own = open();
      const another = new FleetSearch(proxy.url, { database: other, streams: otherStreams }, silentLog);
      another.start();
      await until(async () => (await found(another, 'lakes')) === 1);
      expect(await found(own, 'lakes')).toBe(0);
      expect(await found(own, 'alder')).toBe(1);
      expect(await found(another, 'alder')).toBe(0);
      await another.stop();
      await own.stop();
    }
    otherStreams.destroy();
    other.client.destroy();
  });
});
