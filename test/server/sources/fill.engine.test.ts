import { setTimeout as sleep } from 'node:timers/promises';
import { expect, test } from 'vitest';

import { silentLog } from '../../../src/log.js';
import { fillSource } from '../../../src/server/sources/fill.js';
import { sourceConsumer } from '../../../src/server/sources/report.js';
import { loadStreamState } from '../../../src/store/cell/stream-state.js';
import { createCollection } from '../../../src/store/collection/collections.js';
import { newCall } from '../../../src/store/database.js';
import { putInBulk } from '../../../src/store/request/batches.js';
import type { SourceCollection } from '../../../src/store/source/source-mapping.js';
import { createStreamsClient } from '../../../src/stream/source/dynamodb.js';
import { createTable, deleteItem, putItem } from '../../sources/foreign-table.js';
import { randomFrom } from '../../support/random.js';
import { engine, testDatabase } from '../../support/test-database.js';

const db = await testDatabase('readable', { stream: true });
const table = `${db.tables.entities}-app`;
const tableKey = [
  { name: 'pk', type: 'S' },
  { name: 'sk', type: 'S' },
] as const;
const MAPPING = { table, items: { pk: '{key}' }, position: { path: 'at', as: 'lng,lat' } };
const OLD = 1_200;
const signal = new AbortController().signal;
const random = randomFrom(35);
const place = (id: number) => ({ pk: String(id), sk: 'place', at: [random() * 360 - 180, random() * 180 - 90] });

test('a fill reads few records from before it, although the stream has many, and misses none since', async () => {
  await createTable(db, table, tableKey, 'NEW_AND_OLD_IMAGES');
  const all = Array.from({ length: OLD }, (_, id) => place(id));
  await putInBulk(newCall(db), table, all);
  // The first records tell of positions that these markers have left.
  const moved = all.slice(0, 300).map((_, id) => place(id));
  await putInBulk(newCall(db), table, moved);
  const streams = createStreamsClient(engine());
  const backend = { database: db, streams };
  const source = { table, mapping: JSON.stringify(MAPPING), tableKey };
  const input = { key: 'places', name: 'Places', mapProperties: [], source };
  const created = await createCollection(newCall(db), input, new Date().toISOString());
  const collection: SourceCollection = { ...created, source };
  const changes = { made: 0, goOn: true };
  const writing = (async () => {
    for (; changes.goOn; changes.made++) {
      const id = Math.floor(random() * OLD);
      if (random() < 0.8) await putItem(db, table, place(id));
      else await deleteItem(db, table, { pk: String(id), sk: 'place' });
      // At full speed, it would slow down what it waits for, and so have more to read.
      await sleep(10);
    }
  })();

  await fillSource(backend, collection, silentLog, signal);
  changes.goOn = false;
  await writing;

  const state = await loadStreamState(newCall(db), sourceConsumer(db.keys.scope(collection)));
  expect(state?.records).toBeLessThan(OLD + changes.made);
  const checked = await fillSource(backend, collection, silentLog, signal, { checkOnly: true });
  expect(checked).toMatchObject({ drifted: [], differing: [], undecided: 0 });
  streams.destroy();
});
