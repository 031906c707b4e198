import { spawn, type ChildProcess } from 'node:child_process';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, describe, expect, inject, test } from 'vitest';

import { silentLog } from '../../../src/log.js';
import { IN_USE, stateItem } from '../../../src/search/opensearch/state.js';
import { idOf } from '../../../src/search/stored.js';
import { checkIndex } from '../../../src/server/index-check.js';
import { withCluster } from '../../../src/server/reindex.js';
import { newCall } from '../../../src/store/database.js';
import { newMarkerItem } from '../../../src/store/marker/marker-item.js';
import { send } from '../../../src/store/request/send.js';
import { createStreamsClient } from '../../../src/stream/source/dynamodb.js';
import { NOW } from '../../map/fixture.js';
import { HAS_OPENSEARCH, OpenSearchServer } from '../../services/opensearch-server.js';
import { killed } from '../../stream/kill/mortal.js';
import { createChance } from '../../stream/simulation/world.js';
import { inTurn, rounds } from '../../support/rounds.js';
import { engine, testCollection, testDatabase } from '../../support/test-database.js';
import { clusterUrl } from './cluster.js';
import type { WorkerOptions } from './worker.js';

const turn = inTurn(2);
const KILLS = rounds('killsOfSearch');
/** OpenSearch takes up to a quarter of a minute to start. */
const timeout = 300_000 + KILLS * 60_000;
/** So that the server that follows, which is dead for much of the time, can keep up. */
const APART_MS = 20;
const seed = Number(process.env['CELLPORT_SEED'] ?? Math.floor(Math.random() * 1e9));

describe.skipIf(!HAS_OPENSEARCH)('kill -9', { timeout }, async () => {
  const db = await testDatabase('readable', { stream: true });
  let cluster: OpenSearchServer | undefined;
  let follower: ChildProcess | undefined;
  afterAll(async () => {
    await killed(follower);
    await cluster?.close();
  });

  test(`of OpenSearch and of the server that follows: the index ends with exactly the documents of the table (seed ${seed})`, async ({
    skip,
    task,
  }) => {
    skip(!turn(task));
    const chance = createChance(seed);
    // A single kill is that of the follower: then the cluster of all tests will do.
    if (KILLS > 1) cluster = await OpenSearchServer.create();
    const url = cluster === undefined ? await clusterUrl() : await cluster.start();
    const options: WorkerOptions = { engine: engine(), tables: db.tables, url };
    const program = join(inject('compiled'), 'test/search/opensearch/worker.js');
    const start = () => {
      follower = spawn(process.execPath, [program, JSON.stringify(options)], {
        stdio: ['ignore', 'ignore', 'inherit'],
      });
    };
    const collection = await testCollection(db, { key: 'parks', name: 'Parks' }, NOW);
    const put = async (key: string) => {
      const position = { lng: chance.next() * 360 - 180, lat: chance.next() * 180 - 90 };
      const item = newMarkerItem(db, collection, { key, position, name: `Park ${chance.integer(1, 1e6)}` }, NOW);
      await send(newCall(db), 'put', { TableName: db.tables.entities, Item: item });
    };
    let writing = true;
    let writes = 0;
    const write = async () => {
      while (writing) {
        writes += 1;
        const key = `m${chance.integer(1, 200)}`;
        const { pk, sk } = db.keys.marker('parks', key);
        if (chance.happens(0.3)) {
          await send(newCall(db), 'delete', { TableName: db.tables.entities, Key: { pk, sk } });
        } else await put(key);
        await sleep(APART_MS);
      }
    };
    const position = async () => (await stateItem(db, IN_USE).load())?.checkpoint ?? '';
    /** Until it is at work: killing a process that has not begun would prove nothing. */
    const untilMoved = async () => {
      const before = await position();
      while ((await position()) === before) await sleep(20);
    };
    start();
    const writers = [write(), write()];
    for (let kills = 0; kills < KILLS; kills += 1) {
      await untilMoved();
      await sleep(chance.next() * 300);
      // Every other time the follower, whose start takes a tenth of the time.
      if (kills % 2 === 0) {
        await killed(follower);
        start();
      } else {
        await cluster?.kill();
        await cluster?.start();
      }
    }
    await untilMoved();
    writing = false;
    await Promise.all(writers);
    // It catches up by itself: what was written last is the last record of the stream.
    await put('last');
    const streams = createStreamsClient(engine());
    const signal = new AbortController().signal;
    const command = { url, backend: { database: db, streams }, log: silentLog, signal };
    await withCluster(command, async ({ client, names }) => {
      const last = { index: names.alias, id: idOf(db.keys.marker('parks', 'last')) };
      while (!(await client.exists(last)).body) await sleep(100);
    });
    const drift = await checkIndex(command);
    streams.destroy();
    console.info(`seed ${seed}: ${KILLS} kills, ${writes} writes, ${drift.documents} documents`);
    expect(drift).toMatchObject({ missing: [], extra: [] });
    expect(drift.documents).toBeGreaterThan(50);
  });
});
