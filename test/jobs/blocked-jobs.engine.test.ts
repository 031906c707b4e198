import { randomUUID } from 'node:crypto';
import { expect, test } from 'vitest';

import { systemClock } from '../../src/clock.js';
import { runJobs } from '../../src/jobs/run-jobs.js';
import { silentLog } from '../../src/log.js';
import { inBackground } from '../../src/server/background.js';
import { deleteCollection, getCollections } from '../../src/store/collection/collections.js';
import { beginSpread } from '../../src/store/collection/spread.js';
import { newCall } from '../../src/store/database.js';
import { createMarker, getMarkers } from '../../src/store/marker/markers.js';
import { recordReadings } from '../../src/store/reading/readings.js';
import { send } from '../../src/store/request/send.js';
import { interceptCalls } from '../support/faults.js';
import { newDatabase, testCollection, testDatabase } from '../support/test-database.js';

const NOW = '2026-11-21T10:00:00.000Z';
const db = await testDatabase('readable', { stream: true });

test('a long removal of readings of one deleted marker holds up no other job', async () => {
  const make = (key: string) => testCollection(db, { key, name: key, prefixLength: 1 }, NOW);
  const sensors = await make('sensors');
  await make('hot');
  await make('gone');
  await createMarker(newCall(db), sensors, { key: 'm', position: { lng: 1, lat: 1 } }, NOW);
  await recordReadings(newCall(db), { collection: sensors, key: 'm' }, [{ at: NOW, values: { t: 1 } }], new Date(NOW));
  const [marker] = await getMarkers(newCall(db), [{ collection: sensors, key: 'm' }]);
  // What a deletion with more readings than are removed at once leaves: the reminder, and readings without a marker.
  const own = db.keys.marker(db.keys.scope(sensors), 'm');
  const life = marker?.incarnation;
  const reminder = { ...db.keys.job(db.keys.scope(sensors), 'readings', 'm'), key: 'm', life, at: NOW };
  await send(newCall(db), 'put', { TableName: db.tables.entities, Item: reminder });
  await send(newCall(db), 'delete', { TableName: db.tables.entities, Key: { ...own } });

  const slow = newDatabase('readable', { tables: db.tables });
  let release: () => void = () => undefined;
  const long = new Promise<void>((resolve) => (release = resolve));
  let removing = false;
  interceptCalls(slow, 'Query', async (input, ask) => {
    if (JSON.stringify(input).includes(own.pk)) {
      // Stands for millions of readings.
      removing = true;
      await long;
    }
    return ask(input);
  });
  const worker = { database: slow, self: randomUUID(), ownerIsGone: () => false, clock: systemClock, leaseMs: 1_000 };
  const options = {
    worker,
    cellsCaughtUp: async () => true,
    removeSource: async () => undefined,
    settleMs: 0,
    log: silentLog,
    everyMs: 50,
  };
  const running = inBackground((signal) => runJobs(options, signal));
  await expect.poll(() => removing).toBe(true);
  await deleteCollection(newCall(db), 'gone', NOW);
  await beginSpread(newCall(db), 'hot', 'u');
  const isSpread = async () => {
    const [hot] = await getCollections(newCall(db), ['hot'], { consistent: true });
    return hot?.spread?.[0]?.phase === 'SPREAD';
  };
  await expect.poll(isSpread, { timeout: 30_000 }).toBe(true);
  const isEmptied = () =>
    testCollection(db, { key: 'gone', name: 'again' }, NOW).then(
      () => true,
      () => false,
    );
  await expect.poll(isEmptied, { timeout: 30_000 }).toBe(true);
  release();
  await running.stop();
});
