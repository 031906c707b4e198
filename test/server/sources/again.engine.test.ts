import { expect, onTestFinished, test, vi } from 'vitest';

import { silentLog } from '../../../src/log.js';
import type { CollectionSource } from '../../../src/model/collection.js';
import { fillSource } from '../../../src/server/sources/fill.js';
import { sourceConsumer } from '../../../src/server/sources/report.js';
import { loadStreamState } from '../../../src/store/cell/stream-state.js';
import { newCall } from '../../../src/store/database.js';
import { describeSource } from '../../../src/store/source/describe-source.js';
import { removeSource } from '../../../src/stream/mapped/remove.js';
import { createStreamsClient } from '../../../src/stream/source/dynamodb.js';
import { deleteItem, putItem } from '../../sources/foreign-table.js';
import { fakeCloudFront } from '../../support/fake-cloudfront.js';
import { interceptCalls } from '../../support/faults.js';
import { quickly } from '../../support/quickly.js';
import { inTurn, runsAll } from '../../support/rounds.js';
import { engine, testCollection, testDatabase } from '../../support/test-database.js';
import { serve } from './server.js';
import { MAPPING, shop, shopTables } from './shops.js';

const db = await testDatabase('readable', { stream: true });
const { cli, make, follow } = shopTables(db);
const turn = inTurn(2);

const soon = { timeout: 40_000, interval: 200 };

const SHOWN = `{
  viewport(bounds: { west: -180, south: -90, east: 180, north: 90 }, zoom: 2) {
    markers(collection: "shops", first: 2000) { nodes { key } }
    clusters(collection: "shops") { count }
  }
  collection(key: "shops") { count }
}`;
const shown = async ({ ask }: Awaited<ReturnType<typeof serve>>) => {
  const { data, errors } = await ask(SHOWN);
  if (errors) return errors[0]?.message;
  const { markers, clusters } = data.viewport as {
    markers: { nodes: { key: string }[] };
    clusters: { count: number }[];
  };
  return {
    keys: markers.nodes.map(({ key }) => key).sort(),
    clustered: clusters.reduce((sum, { count }) => sum + count, 0),
    count: data.collection.count as number,
  };
};

const backend = {
  database: db,
  streams: createStreamsClient(engine()),
  where: '',
  storageFault: () => Promise.resolve(undefined),
  close: () => Promise.resolve(),
};

/** A collection that follows a table, not filled. */
async function newSource(key: string, table: string, options: Partial<CollectionSource> = {}) {
  const { key: tableKey } = await describeSource(db, table);
  const source = { table, mapping: JSON.stringify({ ...MAPPING, table }), tableKey, ...options };
  const now = new Date().toISOString();
  return { ...(await testCollection(db, { key, name: key, source }, now)), source };
}

test.runIf(turn())(
  'nothing of a deleted source shows in another one with its key, on servers that have both in their caches',
  async () => {
    const first = Array.from({ length: 60 }, (_, at) => shop(at, (at * 77) % 180, (at * 31) % 80));
    const second = [shop('a', 10, 50), shop('b', -100, 40), shop('c', 100, -30)];
    const tables = [await make('first', first), await make('second', second)];
    await follow('shops', { ...MAPPING, table: tables[0] });
    const servers = [await serve(db), await serve(db)];
    const all = (keys: readonly unknown[]) => ({
      keys: keys.map(String).sort(),
      clustered: keys.length,
      count: keys.length,
    });
    for (let at = 60; at < 62; at += 1) {
      await putItem(db, tables[0] ?? '', shop(at, at, at));
      const wanted = all(Array.from({ length: at + 1 }, (_, key) => key));
      for (const server of servers) await vi.waitFor(async () => expect(await shown(server)).toEqual(wanted), soon);
    }
    // As after a deletion, except for its minute.
    await deleteItem(db, db.tables.entities, { ...db.keys.collection('shops') });
    await removeSource(db, 'shops', sourceConsumer('shops'), new AbortController().signal);
    await follow('shops', { ...MAPPING, table: tables[1] });
    for (const server of servers) {
      await vi.waitFor(async () => expect(await shown(server)).toEqual(all(['a', 'b', 'c'])), soon);
    }
    expect((await cli('source', 'verify', 'shops')).output).toMatch(/ 0 of [\d,]+ blocks of counts and 0 of/);
  },
);

test.runIf(turn())(
  'a fill that ends before it has read anything is begun again, and no map is shown as if it were complete',
  async () => {
    const table = await make('begun', [shop(1, 1, 1)]);
    const collection = await newSource('begun', table);
    let described = 0;
    interceptCalls(db, 'DescribeTable', (input, ask) => {
      described += 1;
      if (described > 1) throw new Error('killed');
      return ask(input);
    });
    const filled = fillSource(backend, collection, silentLog, new AbortController().signal);
    await expect(filled).rejects.toThrow('killed');
    described = -Infinity;
    expect((await cli('source', 'status', 'begun')).output).toMatch(/FILLING/);
    const { ask } = await serve(db, { CELLPORT_CONSUMER: 'off' });
    const map =
      '{ viewport(bounds: { west: 0, south: 0, east: 2, north: 2 }, zoom: 2) { markers(collection: "begun") { nodes { key } } } }';
    expect((await ask(map)).errors?.[0]?.message).toMatch(/is being filled/);
    expect((await follow('begun', { ...MAPPING, table })).output).toMatch(/1 markers/);
    await vi.waitFor(async () => expect((await ask(map)).data?.viewport?.markers.nodes).toEqual([{ key: '1' }]), soon);
  },
);

test.runIf(turn())(
  'a table that is read again and again is not read while a command reads it, and a slow reading stops at once',
  async () => {
    const table = await make('slow', [shop(1, 1, 1)]);
    const collection = await newSource('slow', table, { everyMs: 1, maxRcu: 0.0001 });
    const stopping = new AbortController();
    const filled = fillSource(backend, collection, silentLog, stopping.signal);
    filled.catch(() => undefined);
    const stateOf = () => loadStreamState(newCall(db), sourceConsumer('slow'));
    await vi.waitFor(async () => expect((await stateOf())?.gap).not.toBe(undefined), soon);
    const owner = (await stateOf())?.owner;
    await serve(db);
    // In which a server looks several times.
    await new Promise((resolve) => setTimeout(resolve, 8_000));
    expect((await stateOf())?.owner).toBe(owner);
    stopping.abort(new Error('stopped'));
    await expect(filled).rejects.toThrow('stopped');
  },
);

test.runIf(turn())('a command whose fill another process has taken over and then given up fills the rest', async () => {
  const table = await make('taken', [shop(1, 1, 1)]);
  const collection = await newSource('taken', table);
  const created = follow('taken', { ...MAPPING, table });
  const isOwned = async () => expect((await loadStreamState(newCall(db), sourceConsumer('taken')))?.owner).toBeTruthy();
  await vi.waitFor(isOwned, soon);
  const stopping = new AbortController();
  const slow = { ...collection, source: { ...collection.source, maxRcu: 0.0001 } };
  const filled = fillSource(backend, slow, silentLog, stopping.signal);
  // By then, the command has noticed.
  setTimeout(() => stopping.abort(new Error('stopped')), 6_000);
  await expect(filled).rejects.toThrow('stopped');
  expect(await created).toMatchObject({ code: 0, output: expect.stringMatching(/waiting[^]*1 markers/) as string });
});

test.runIf(runsAll)(
  'a source that is read again purges its collection from the CDN, which keeps no marker beyond its expiry',
  async () => {
    const cdn = await fakeCloudFront();
    vi.stubEnv('AWS_ACCESS_KEY_ID', 'a');
    vi.stubEnv('AWS_SECRET_ACCESS_KEY', 'b');
    onTestFinished(() => {
      cdn.close();
      vi.unstubAllEnvs();
    });
    const ends = Math.floor(Date.now() / 1_000) + 3_000;
    const table = await make('brief', [shop('long', 2, 50, { ends: ends + 9_000 }), shop('short', 1, 50, { ends })]);
    const mapping = JSON.stringify({ ...MAPPING, table, ttl: 'ends' });
    await newSource('brief', table, { everyMs: 1, mapping });
    const { url } = await serve(db, {
      CELLPORT_CACHE_SECONDS: '86400',
      CELLPORT_CDN: 'cloudfront:E6TESTS',
      AWS_ENDPOINT_URL_CLOUDFRONT: cdn.endpoint,
    });
    const purges = () => cdn.asked.filter(({ paths }) => paths.includes('#brief')).length;
    await vi.waitFor(async () => expect((await fetch(`${url}/tiles/brief/3/4/2`)).status).toBe(200), soon);
    // Once may be for the collection's own item.
    await vi.waitFor(() => expect(purges()).toBeGreaterThan(1), soon);
    const keptFor = async (path: string) => {
      const { headers } = await quickly(() => fetch(url + path));
      return Number(/s-maxage=(\d+)/.exec(headers.get('cache-control') ?? '')?.[1]);
    };
    for (const path of [
      '/tiles/brief/3/4/2',
      '/maps/brief?bbox=0,49,3,51&zoom=6',
      '/ogc/collections/brief/items',
      '/ogc/collections/brief/items/short',
    ]) {
      const most = ends - Date.now() / 1_000;
      const kept = await keptFor(path);
      expect([path, kept <= most, kept > most - 600]).toEqual([path, true, true]);
    }
    expect(await keptFor('/ogc/collections/brief')).toBe(86_400);
  },
);
