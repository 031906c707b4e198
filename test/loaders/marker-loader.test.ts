import pLimit from 'p-limit';
import { beforeAll, expect, test } from 'vitest';

import { MarkerLoader } from '../../src/loaders/marker-loader.js';
import type { Collection } from '../../src/model/collection.js';
import { DEFAULT_LIMITS } from '../../src/model/limits.js';
import { newCall, type Database } from '../../src/store/database.js';
import { createMarkers } from '../../src/store/marker/markers.js';
import { recordReadings } from '../../src/store/reading/readings.js';
import { interceptCalls } from '../support/faults.js';
import { memoryDatabase, newMemoryDatabase } from '../support/memory-store.js';
import { recordCalls } from '../support/record-calls.js';
import { testCollection } from '../support/test-database.js';

const NOW = new Date('2026-11-21T10:00:00.000Z');
const database = memoryDatabase();
const at = (ms: number) => new Date(NOW.getTime() + ms).toISOString();
let sensors: Collection;

beforeAll(async () => {
  sensors = await testCollection(database, { key: 'sensors', name: 'Sensors' }, NOW.toISOString());
  const markers = ['a', 'b', 'c'].map((key) => ({ key, position: { lng: 1, lat: 2 } }));
  await createMarkers(newCall(database), sensors, markers, NOW.toISOString());
  const readings = Array.from({ length: 20 }, (_, ms) => ({ at: at(ms), values: { n: ms } }));
  for (const { key } of markers) await recordReadings(newCall(database), { collection: sensors, key }, readings, NOW);
});

function request(db: Database = newMemoryDatabase('readable', { tables: database.tables }), limits = {}) {
  const calls = recordCalls(db);
  const most = { ...DEFAULT_LIMITS, readingQueries: 100, itemsPerField: 100, ...limits };
  const loader = new MarkerLoader(newCall(db), pLimit(4), most, () => NOW);
  return { loader, calls, sent: () => calls.commands.map(({ name }) => name) };
}

const name = (key: string) => ({ collection: sensors, key });
const instants = async (readings: Promise<readonly { at: string }[]>) => (await readings).map((one) => one.at);

test('a marker and all its latest readings requested in one tick are one Query', async () => {
  const { loader, calls, sent } = request();
  const [marker, five, since, two] = await Promise.all([
    loader.load(name('a')),
    instants(loader.readings(name('a'), { last: 5 })),
    instants(loader.readings(name('a'), { last: 9, from: at(17) })),
    instants(loader.readings(name('a'), { last: 2 })),
  ]);
  expect(marker).toMatchObject({ key: 'a' });
  expect(five).toEqual([19, 18, 17, 16, 15].map(at));
  expect(since).toEqual([19, 18, 17].map(at));
  expect(two).toEqual([19, 18].map(at));
  expect(calls.commands).toMatchObject([{ name: 'Query', input: { Limit: 10 } }]);
  // The same request is not read again.
  await Promise.all([loader.load(name('a')), loader.readings(name('a'), { last: 5 })]);
  expect(sent()).toEqual(['Query']);
});

test('markers without readings are one more batch', async () => {
  const { loader, sent } = request();
  const [b, none, c, readings] = await Promise.all([
    loader.load(name('b')),
    loader.load(name('none')),
    loader.load(name('c')),
    instants(loader.readings(name('a'), { last: 1 })),
  ]);
  expect([b?.key, none, c?.key, readings]).toEqual(['b', null, 'c', [at(19)]]);
  expect(sent().sort()).toEqual(['BatchGetItem', 'Query']);
});

test('a marker that was read is not read again for readings up to an instant', async () => {
  const { loader, sent } = request();
  await loader.load(name('a'));
  expect(await instants(loader.readings(name('a'), { last: 2, to: at(3) }))).toEqual([at(3), at(2)]);
  expect(sent()).toEqual(['BatchGetItem', 'Query']);
});

test('a failure for one marker does not affect others', async () => {
  const db = newMemoryDatabase('readable', { tables: database.tables });
  interceptCalls(db, 'Query', (input, ask) => {
    const { ':pk': pk } = input['ExpressionAttributeValues'] as Record<string, unknown>;
    return pk === 'marker::sensors::b' ? Promise.reject(new Error('only b')) : ask(input);
  });
  const { loader } = request(db);
  const asked = ['a', 'b', 'c'].map((key) => instants(loader.readings(name(key), { last: 1 })));
  const [a, b, c] = await Promise.allSettled(asked);
  expect([a?.status, b?.status, c?.status]).toEqual(['fulfilled', 'rejected', 'fulfilled']);
  expect(b).toMatchObject({ reason: { message: 'only b' } });
});

test('too many markers are rejected before any of them is read; those already read remain', async () => {
  const { loader, sent } = request(undefined, { readingQueries: 2 });
  expect(await instants(loader.readings(name('a'), { last: 1 }))).toEqual([at(19)]);
  const more = ['b', 'c'].map((key) => loader.readings(name(key), { last: 1 }));
  for (const one of more) await expect(one).rejects.toMatchObject({ code: 'LIMIT_EXCEEDED' });
  expect(await instants(loader.readings(name('a'), { last: 1 }))).toEqual([at(19)]);
  expect(sent()).toEqual(['Query']);
});

test('readings up to different instants are one Query each, latest readings one per marker', async () => {
  const { loader } = request(undefined, { readingQueries: 2 });
  const [a, b] = await Promise.all([1, 2].map((last) => instants(loader.readings(name('a'), { last }))));
  expect([a, b]).toEqual([[at(19)], [at(19), at(18)]]);
  expect(await instants(loader.readings(name('a'), { last: 1, to: at(5) }))).toEqual([at(5)]);
  await expect(loader.readings(name('a'), { last: 1, to: at(6) })).rejects.toMatchObject({ code: 'LIMIT_EXCEEDED' });
});

test('a key that no marker can have gives null and does not fail the batch', async () => {
  const { loader } = request();
  const long = name('x'.repeat(3_000));
  const [none, readings, a] = await Promise.all([
    loader.load(long),
    loader.readings(long, { last: 1 }),
    loader.load(name('a')),
  ]);
  expect([none, readings, a?.key]).toEqual([null, [], 'a']);
});
