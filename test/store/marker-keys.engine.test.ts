import { expect, test } from 'vitest';

import { markerId } from '../../src/keys/ids.js';
import { CollectionCache } from '../../src/loaders/collection-cache.js';
import { CollectionLoader } from '../../src/loaders/collection-loader.js';
import { EntityLoader } from '../../src/loaders/entity-loader.js';
import type { Collection } from '../../src/model/collection.js';
import type { CollectionInput } from '../../src/store/collection/collection-item.js';
import { getCollections } from '../../src/store/collection/collections.js';
import { newCall, type Database } from '../../src/store/database.js';
import { updateMarker } from '../../src/store/marker/marker-update.js';
import { createMarker, createMarkers } from '../../src/store/marker/markers.js';
import { deleteMarker } from '../../src/store/removal/markers.js';
import { readItem } from '../../src/store/request/conditional-write.js';
import { send } from '../../src/store/request/send.js';
import { injectFaults } from '../support/faults.js';
import { recordCalls } from '../support/record-calls.js';
import { newDatabase, testCollection, testDatabase } from '../support/test-database.js';

const NOW = '2026-11-21T10:00:00.000Z';
const databases = { readable: await testDatabase('readable'), compact: await testDatabase('compact') };
const db = databases.readable;
const HERE = { position: { lng: 1, lat: 2 } };
const UUID = /^[0-9a-f]{8}-[0-9a-f]{4}-7[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/;

const newOf = (input: Partial<CollectionInput> & { readonly key: string }, database: Database = db) =>
  testCollection(database, { name: input.key, ...input }, NOW);
const one = (collection: Collection, database = db) => createMarker(newCall(database), collection, HERE, NOW);
const loaders = (database: Database) => {
  const call = newCall(database);
  const collections = new CollectionLoader(call, new CollectionCache({ now: () => performance.now() }));
  return new EntityLoader(call, collections, { load: () => Promise.resolve(null) });
};

test('a collection stores its ID strategy, which is GIVEN without globalIds by default', async () => {
  await newOf({ key: 'said', idStrategy: 'UUID', globalIds: true });
  await newOf({ key: 'unsaid' });
  expect(await getCollections(newCall(db), ['said', 'unsaid'])).toMatchObject([
    { idStrategy: 'UUID', globalIds: true },
    { idStrategy: 'GIVEN', globalIds: false },
  ]);
});

test('SEQUENCE counts 1, 2, 3; a batch reserves its numbers in one write, and invalid inputs use none', async () => {
  const rooms = await newOf({ key: 'rooms', idStrategy: 'SEQUENCE' });
  expect((await one(rooms)).marker.key).toBe('1');
  await expect(createMarker(newCall(db), rooms, { position: { lng: 0, lat: 91 } }, NOW)).rejects.toThrow(/lat/);
  const calls = recordCalls(db);
  const inputs = [HERE, { position: { lng: 0, lat: 91 } }, { ...HERE, key: 'mine' }, HERE];
  const { written, failures } = await createMarkers(newCall(db), rooms, inputs, NOW);
  expect(written.map(({ marker }) => marker.key)).toEqual(['2', '3']);
  expect(failures.map(({ index, code }) => [index, code])).toEqual([
    [1, 'BAD_USER_INPUT'],
    [2, 'BAD_USER_INPUT'],
  ]);
  expect(failures[1]?.message).toMatch(/^key must be omitted/);
  expect([calls.count('UpdateItem'), calls.count('PutItem')]).toEqual([1, 2]);
  expect((await one(rooms)).marker.key).toBe('4');
});

test('50 concurrent writers never get the same number, one at a time or in batches, with lost responses', async () => {
  const doors = await newOf({ key: 'doors', idStrategy: 'SEQUENCE' });
  const writers = Array.from({ length: 50 }, async (_, index) => {
    const database = newDatabase('readable', { tables: db.tables, maxSockets: 2 });
    if (index % 10 === 0) injectFaults(database, 'UpdateItem', ['answer lost']);
    try {
      if (index % 2 === 0) return [(await one(doors, database)).marker.key];
      const { written, failures } = await createMarkers(newCall(database), doors, Array(4).fill(HERE), NOW);
      expect(failures).toEqual([]);
      return written.map(({ marker }) => marker.key);
    } finally {
      database.client.destroy();
    }
  });
  const keys = (await Promise.all(writers)).flat();
  expect(keys).toHaveLength(25 + 25 * 4);
  expect(new Set(keys).size).toBe(keys.length);
  expect(keys.every((key) => /^[1-9]\d*$/.test(key))).toBe(true);
});

test('UUID generates UUIDs of version 7 without another write', async () => {
  const bikes = await newOf({ key: 'bikes', idStrategy: 'UUID' });
  const calls = recordCalls(db);
  const { written } = await createMarkers(newCall(db), bikes, [HERE, HERE], NOW);
  expect(calls.count()).toBe(2);
  expect(new Set(written.map(({ marker }) => marker.key)).size).toBe(2);
  for (const { marker } of written) expect(marker.key).toMatch(UUID);
});

test.each(['readable', 'compact'] as const)(
  'a marker is found by its global ID until it is deleted, with %s keys',
  async (style) => {
    const database = databases[style];
    const cars = await newOf({ key: 'cars', globalIds: true, code: 'Ca' }, database);
    const input = { ...HERE, key: 'a::b#c' };
    const { marker } = await createMarker(newCall(database), cars, input, NOW);
    expect(marker.globalId).toMatch(UUID);
    const found = await loaders(database).markerByGlobalId(marker.globalId!.toUpperCase());
    expect(found).toEqual(marker);
    const reference = { collection: cars, key: input.key };
    const moved = await updateMarker(newCall(database), reference, { name: 'N' }, { now: NOW });
    expect(moved.marker.globalId).toBe(marker.globalId);
    await deleteMarker(newCall(database), reference, { now: NOW });
    const again = await createMarker(newCall(database), cars, input, NOW);
    expect(again.marker.globalId).not.toBe(marker.globalId);
    expect(await loaders(database).markerByGlobalId(marker.globalId!)).toBeNull();
    expect(await loaders(database).markerByGlobalId('marker::cars::a')).toBeNull();
  },
);

test('markers of a collection without global IDs are not in the index of global IDs', async () => {
  const plain = await newOf({ key: 'plain' });
  await createMarker(newCall(db), plain, { ...HERE, key: 'p' }, NOW);
  const { Items = [] } = await send(newCall(db), 'scan', { TableName: db.tables.entities, IndexName: 'global' });
  expect(Items.filter(({ pk }) => String(pk).startsWith('marker::plain::'))).toEqual([]);
  expect(Items.filter(({ pk }) => String(pk).startsWith('marker::cars::'))).toHaveLength(1);
});

test('nodes of every type are read in one strongly consistent batch', async () => {
  const trees = await newOf({ key: 'trees' });
  await createMarker(newCall(db), trees, { ...HERE, key: 'oak' }, NOW);
  const calls = recordCalls(db);
  const entities = loaders(db);
  const names = [
    { type: 'marker', collection: 'trees', key: 'oak' },
    { type: 'collection', key: 'rooms' },
    { type: 'marker', collection: 'trees', key: 'none' },
    { type: 'marker', collection: 'nowhere', key: 'oak' },
    { type: 'collection', key: 'Not One' },
  ] as const;
  const found = await Promise.all(names.map((name) => entities.node(name)));
  expect(found.map((one) => one?.key ?? null)).toEqual(['oak', 'rooms', null, null, null]);
  expect(calls.commands).toMatchObject([
    { name: 'BatchGetItem', input: { RequestItems: { [db.tables.entities]: { ConsistentRead: true } } } },
  ]);
});

test('document IDs survive a round trip to their items', async () => {
  const key = db.keys.marker('trees', 'oak');
  const id = db.keys.documentId(key);
  expect(id).toBe(`${markerId('trees', 'oak')}#self`);
  expect(db.keys.parseDocumentId(id)).toEqual(key);
  const counter = db.keys.parseDocumentId('counter::rooms#marker');
  expect(await readItem(newCall(db), counter!)).toMatchObject({ n: 4 });
});
