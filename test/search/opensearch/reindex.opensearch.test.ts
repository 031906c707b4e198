import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';

import { silentLog } from '../../../src/log.js';
import type { Collection } from '../../../src/model/collection.js';
import { readCheckpoint } from '../../../src/search/follow.js';
import { openClient } from '../../../src/search/opensearch/client.js';
import type { Drift } from '../../../src/search/opensearch/drift.js';
import { IN_USE, NEXT, stateItem } from '../../../src/search/opensearch/state.js';
import { idOf } from '../../../src/search/stored.js';
import { checkIndex } from '../../../src/server/index-check.js';
import { FleetSearch, type ServerSearch } from '../../../src/server/search.js';
import { newCall } from '../../../src/store/database.js';
import { newMarkerItem } from '../../../src/store/marker/marker-item.js';
import { putInBulk } from '../../../src/store/request/batches.js';
import { send } from '../../../src/store/request/send.js';
import { createStreamsClient } from '../../../src/stream/source/dynamodb.js';
import { until } from '../../live/support.js';
import { NOW } from '../../map/fixture.js';
import { HAS_OPENSEARCH } from '../../services/opensearch-server.js';
import { inTurn } from '../../support/rounds.js';
import { runCli, runCliHere, type RunningCli } from '../../support/run-cli.js';
import { engine, engineSettings, testCollection, testDatabase } from '../../support/test-database.js';
import { clusterUrl } from './cluster.js';
import { startProxy, type ClusterProxy } from './proxy.js';

/** Read in four pages. */
const MARKERS = 1_800;

describe.skipIf(!HAS_OPENSEARCH)('cellport reindex', async () => {
  const turn = inTurn(3);
  const db = await testDatabase('readable', { stream: true });
  const streams = createStreamsClient(engine());
  const backend = { database: db, streams };
  let proxy: ClusterProxy;
  let server: ServerSearch;
  let collection: Collection;
  let running: RunningCli | undefined;
  const warnings: string[] = [];
  const log = { ...silentLog, warn: (_fields: object, message: string) => void warnings.push(message) };

  const settings = () => ({
    ...engineSettings(),
    CELLPORT_TABLE: db.tables.entities,
    CELLPORT_OPENSEARCH_URL: proxy.url,
  });
  const marker = (key: string) =>
    newMarkerItem(db, collection, { key, name: `Park ${key}`, position: { lng: 1, lat: 2 } }, NOW);
  const put = (key: string) => send(newCall(db), 'put', { TableName: db.tables.entities, Item: marker(key) });
  const remove = (key: string) => {
    const { pk, sk } = db.keys.marker('parks', key);
    return send(newCall(db), 'delete', { TableName: db.tables.entities, Key: { pk, sk } });
  };
  const indexOf = async (name: string) => (await stateItem(db, name).load())?.index ?? '';
  const drift = () =>
    checkIndex({
      url: proxy.url,
      backend,
      log: silentLog,
      signal: new AbortController().signal,
    });
  /** The server follows a little later. */
  async function untilEqual(): Promise<Drift> {
    for (;;) {
      const found = await drift();
      if (found.missing.length + found.extra.length === 0) return found;
    }
  }

  beforeAll(async () => {
    proxy = await startProxy(await clusterUrl());
    collection = await testCollection(db, { key: 'parks', name: 'Parks' }, NOW);
    const markers = Array.from({ length: MARKERS }, (_, n) => marker(`m${n}`));
    await putInBulk(newCall(db), db.tables.entities, markers);
    server = new FleetSearch(proxy.url, backend, log);
    server.start();
    await until(() => server.status.state === 'following');
  });
  afterAll(async () => {
    running?.child.kill('SIGKILL');
    await server?.stop();
    await proxy?.close();
    streams.destroy();
  });

  /** Runs the command until it sends a certain request, then kills it with SIGKILL. */
  async function killAt(isLast: (path: string, body: string) => boolean): Promise<void> {
    let held = false;
    proxy.intercept = (path, body) => {
      held ||= isLast(decodeURIComponent(path), body);
      return held && isLast(decodeURIComponent(path), body) ? 'held' : undefined;
    };
    const killed = runCli(['reindex', '--accept-count'], settings());
    running = killed;
    await until(() => held || killed.child.exitCode !== null);
    expect(killed.output()).not.toContain('indexed in');
    killed.child.kill('SIGKILL');
    expect(await killed.ended).toBeNull();
    proxy.intercept = () => undefined;
  }

  test.runIf(turn())('goes on where kill -9 ended it, and loses no write', async () => {
    const before = await indexOf(IN_USE);
    const creations = (path: string, body: string) =>
      path.includes('_bulk') && !path.includes(before)
        ? Array.from(body.matchAll(/"create":\{"_id":"([^"]+)"/g), ([, id = '']) => id)
        : [];
    const first: string[] = [];
    await killAt((path, body) => {
      const created = creations(path, body);
      if (first.length > 800 && created.length > 0) return true;
      first.push(...created);
      return false;
    });
    const half = await stateItem(db, NEXT).load();
    const read = readCheckpoint(half?.checkpoint ?? '').read;
    expect(read).toBeGreaterThan(800);
    expect(read).toBeLessThan(MARKERS);

    for (let n = 0; n < 60; n += 1) {
      await put(`while-dead-${n}`);
      await remove(`m${n * 25}`);
    }
    const second: string[] = [];
    proxy.intercept = (path, body) => void second.push(...creations(decodeURIComponent(path), body));
    const again = runCli(['reindex', '--accept-count'], settings());
    running = again;
    let writes = 0;
    for (; again.child.exitCode === null; await sleep(20)) await put(`live-${(writes += 1)}`);
    expect([await again.ended, again.output()]).toEqual([0, expect.stringContaining('documents indexed in')]);
    proxy.intercept = () => undefined;

    expect(await indexOf(IN_USE)).toBe(half?.index);
    expect(await indexOf(NEXT)).toBe('');
    const done = new Set(first);
    expect(second.filter((id) => done.has(id))).toEqual([]);
    expect((await untilEqual()).documents).toBe(MARKERS + 1 + writes);
    expect(warnings).toEqual([]);
  });

  test.runIf(turn())('an index whose use kill -9 interrupted is put into use by the server', async () => {
    const before = await indexOf(IN_USE);
    const client = await openClient(proxy.url);
    await killAt((path) => path.endsWith('/_aliases'));
    const after = await indexOf(IN_USE);
    expect(after).not.toBe(before);
    await until(async () => !(await client.indices.exists({ index: before })).body);
    await put('after');
    await untilEqual();
    expect(await indexOf(IN_USE)).toBe(after);
    await client.close();
  });

  test.runIf(turn())('refuses an index with another number of documents, unless that is accepted', async () => {
    const before = await indexOf(IN_USE);
    const client = await openClient(proxy.url);
    const key = db.keys.marker('parks', 'ghost');
    const id = idOf(key);
    const ghost = { id, pk: key.pk, sk: key.sk, gone: [] };
    await client.index({ index: before, id, body: ghost, refresh: true });
    expect((await drift()).extra).toEqual([{ pk: key.pk, sk: key.sk }]);

    const refused = await runCliHere(['reindex'], settings());
    expect(refused).toMatchObject({
      code: 1,
      output: expect.stringMatching(/the new index has (\d+) documents, the one in use (?!\1)\d+:/),
    });
    expect(await indexOf(IN_USE)).toBe(before);

    const accepted = await runCliHere(['reindex', '--accept-count'], settings());
    expect(accepted).toMatchObject({ code: 0, output: expect.stringContaining('documents indexed in') });
    expect(await indexOf(IN_USE)).not.toBe(before);
    await untilEqual();
    await client.close();
  });
});
