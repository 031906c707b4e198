import { afterAll, beforeAll, describe, expect, test } from 'vitest';

import { silentLog } from '../../../src/log.js';
import type { ObjectStore } from '../../../src/objects/object-store.js';
import { IN_USE, NEXT, stateItem } from '../../../src/search/opensearch/state.js';
import { openFleetSearch } from '../../../src/server/fleet-search.js';
import { checkIndex, replayRefusals } from '../../../src/server/index-check.js';
import { reindex } from '../../../src/server/reindex.js';
import type { ServerSearch } from '../../../src/server/search.js';
import { ensureTables } from '../../../src/store/table/tables.js';
import { createStreamsClient } from '../../../src/stream/dynamodb.js';
import { type LiveServer, startServer } from '../../http/live-server.js';
import { until } from '../../live/support.js';
import { HAS_OPENSEARCH } from '../../services/opensearch-server.js';
import { engine, newDatabase } from '../../support/test-database.js';
import { clusterUrl } from './cluster.js';
import { type ClusterProxy, startProxy } from './proxy.js';

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
  const config = { tables: db.tables };
  const searches: ServerSearch[] = [];
  let proxy: ClusterProxy;
  let server: LiveServer;

  const command = () => ({ url: proxy.url, config, backend, log: silentLog, signal });
  function open(): ServerSearch {
    const search = openFleetSearch(proxy.url, config, backend, silentLog);
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
    server = await startServer(db, { search: open(), objects: store });
    await server.ask('mutation { createCollection(input: { key: "parks", name: "Grounds" }) { key } }');
  });
  afterAll(async () => {
    for (const search of searches) await search.stop();
    await server?.close();
    await proxy?.close();
    streams.destroy();
    db.client.destroy();
  });

  test('one follows the stream, all answer, and another takes over', async () => {
    await create('a', 'Alder');
    await until(async () => (await found('alder')) === 1, 400);
    const second = open();
    const other = await startServer(db, { search: second });
    await until(() => second.status.state === 'following');
    expect(await found('alder', other)).toBe(1);
    await searches[0]?.stop();
    await create('b', 'Beech');
    await until(async () => (await found('beech', other)) === 1, 400);
    await other.close();
    await second.stop();
    await server.close();
    server = await startServer(db, { search: open(), objects: store });
    await until(async () => (await found('beech')) === 1, 400);
  });

  test('while OpenSearch is down only search fails, and it catches up by itself', async () => {
    proxy.intercept = () => 'no answer';
    expect(await found('alder')).toBe('UNAVAILABLE');
    await create('c', 'Cedar');
    proxy.intercept = () => undefined;
    await until(async () => (await found('cedar')) === 1, 600);
    expect(await found('alder')).toBe(1);
  });

  test('a zone whose geometry cannot be read is found, is a dead letter, and gets its shape when that is replayed', async () => {
    objects.hidden = true;
    const made = await server.ask(
      'mutation ($geometry: GeoJSON!) { createZone(input: { collection: "parks", key: "z", name: "Zone of oaks", geometry: $geometry }) { id } }',
      {
        geometry: {
          type: 'Polygon',
          coordinates: [
            [
              [0, 0],
              [4, 0],
              [4, 4],
              [0, 4],
              [0, 0],
            ],
          ],
        },
      },
    );
    expect(made.errors).toEqual([]);
    await until(async () => (await found('zone of oaks')) === 1, 400);
    expect(await replayRefusals(command())).toMatchObject({ tried: 1, left: [{ key: { sk: 'z' } }] });
    objects.hidden = false;
    expect(await replayRefusals(command())).toEqual({ tried: 1, left: [] });
    expect(await replayRefusals(command())).toEqual({ tried: 0, left: [] });
    const { openClient } = await import('../../../src/search/opensearch/client.js');
    const { indexNames } = await import('../../../src/search/opensearch/indexes.js');
    const client = await openClient(proxy.url);
    const index = indexNames(db.tables.entities).alias;
    await client.indices.refresh({ index });
    const at = { shape: { type: 'point', coordinates: [1, 1] }, relation: 'intersects' } as const;
    const { body } = await client.search({ index, body: { query: { geo_shape: { shape: at } } } } as never);
    expect(body.hits.hits.map(({ _id }) => _id)).toEqual(['zone::parks#z']);
  });

  test('a new index takes the place of the old one without losing a write', async () => {
    const before = await stateItem(db, IN_USE).load();
    let writing = true;
    let written = 0;
    const writer = (async () => {
      while (writing) await create(`live${(written += 1)}`, `Live ${written}`);
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
    const drift = await checkIndex(command());
    expect(drift).toMatchObject({ missing: [], extra: [] });
    expect(drift.documents).toBe(written + 6);
  });
});
