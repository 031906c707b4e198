import { ScanCommand } from '@aws-sdk/lib-dynamodb';
import { expect, test } from 'vitest';

import { readConfig } from '../../src/config.js';
import { CellportError } from '../../src/errors.js';
import type { Backend } from '../../src/server/backend.js';
import { openDemo, type DemoOptions } from '../../src/server/demo.js';
import { listCollections } from '../../src/store/collection/collections.js';
import { newCall } from '../../src/store/database.js';
import { createStreamsClient } from '../../src/stream/source/dynamodb.js';
import { temporaryFolder } from '../support/temporary-folder.js';
import { engine, makeTables, newDatabase, testCollection, testDatabase } from '../support/test-database.js';

const CITIES = 1_600;
const folder = temporaryFolder();
const backend: Backend = {
  database: await testDatabase(),
  streams: createStreamsClient(engine()),
  where: '',
  storageFault: () => Promise.resolve(undefined),
  close: () => Promise.resolve(),
};

const stopBeforeCountries = (): never => {
  throw new CellportError('UNAVAILABLE', 'the cities are there');
};

/** Loads the cities; returns how many were there each time that the load waited for the cells. */
async function load(
  onProgress: DemoOptions['onProgress'],
): Promise<{ waited: readonly number[]; checked: number; reason: string | null }> {
  const demo = await openDemo(readConfig({}, { CELLPORT_DATA_DIR: folder }), backend, 'table', CITIES);
  const waited: number[] = [];
  const cells = {
    status: () => expect.fail('not asked'),
    caughtUp: async () => void waited.push(demo.readiness().cities),
    stop: () => Promise.resolve(),
  };
  const { signal } = new AbortController();
  const loading = demo.load(cells, { signal, onChecked: () => undefined, onProgress, onCities: stopBeforeCountries });
  await loading.catch(() => undefined);
  const { checked, reason } = demo.readiness();
  return { waited, checked, reason };
}

test('a load that is resumed tells at once what had been written, and does not wait for the cells before it goes on', async () => {
  const stopped = await load(({ counts }) => {
    if (counts.created > 0) throw new CellportError('UNAVAILABLE', 'stopped after the first window');
  });
  expect(stopped).toMatchObject({ checked: CITIES, reason: 'stopped after the first window' });
  const seen: number[] = [];
  const { waited, reason } = await load(({ counts }) => void seen.push(counts.created + counts.unchanged));
  expect({ reason, waited }).toEqual({ reason: 'the cities are there', waited: [CITIES] });
  expect(seen[0]).toBeGreaterThan(0);
});

test.each(['cities', 'countries'])("a collection %s that is not the demo's stays as it is", async (key) => {
  const database = newDatabase();
  await makeTables(database);
  const now = '2026-11-01T00:00:00.000Z';
  const own = await testCollection(database, { key, name: 'Mine' }, now);
  const demo = await openDemo(readConfig({}, { CELLPORT_DATA_DIR: folder }), { ...backend, database }, 'own', CITIES);
  const cells = {
    status: () => expect.fail('not asked'),
    caughtUp: () => Promise.resolve(),
    stop: () => Promise.resolve(),
  };
  const { signal } = new AbortController();
  const nothing = () => undefined;
  const loading = demo.load(cells, { signal, onChecked: nothing, onProgress: nothing, onCities: nothing });
  await expect(loading).rejects.toThrow(`the collection "${key}" is not the demo's; give the demo another`);
  expect(demo.readiness()).toMatchObject({ state: 'failed', cities: 0 });
  // Not only the own one: no half of the demo is created either.
  expect((await listCollections(newCall(database), { first: 9 })).collections).toEqual([own]);
  const { Count } = await database.client.send(new ScanCommand({ TableName: database.tables.entities }));
  expect(Count).toBe(1);
});
