import { expect, test } from 'vitest';

import { newCall, type Database } from '../../src/store/database.js';
import type { MarkerUpdate } from '../../src/store/marker/marker-item.js';
import { updateMarker } from '../../src/store/marker/marker-update.js';
import { createMarker, createMarkers, getMarkers } from '../../src/store/marker/markers.js';
import { upsertMarkers } from '../../src/store/marker/upsert.js';
import { deleteMarker } from '../../src/store/removal/markers.js';
import { newCollection, NOW } from '../map/fixture.js';
import { newDatabase, testDatabase } from '../support/test-database.js';

const database = await testDatabase();
const parks = newCollection('parks');
const POZNAN = { lng: 16.9299, lat: 52.4069 };
const UNKNOWN = { code: 'UNAVAILABLE', message: expect.stringContaining('read it') as string };

const marker = (key: string, name: string) => ({ key, position: POZNAN, name });
const create = (key: string, name: string, db = database) => createMarker(newCall(db), parks, marker(key, name), NOW);
const update = (key: string, change: MarkerUpdate, db = database, expectedVersion?: number) =>
  updateMarker(newCall(db), { collection: parks, key }, change, { now: NOW, expectedVersion });
const remove = (key: string, db = database) => deleteMarker(newCall(db), { collection: parks, key }, { now: NOW });
const stored = async (key: string) => (await getMarkers(newCall(database), [{ collection: parks, key }]))[0];

const RESET: object = { code: 'ECONNRESET' };

/** A client whose first attempt of an operation is applied, and loses its answer; others write before the next one. */
function losing(operation: string, others: () => Promise<unknown>, applied = true, failure = RESET): Database {
  const own = newDatabase('readable', { tables: database.tables });
  let attempts = 0;
  own.client.middlewareStack.add(
    (next, { commandName }) =>
      async (args) => {
        if (commandName !== `${operation}Command` || (attempts += 1) > 1) return next(args);
        if (applied) await next(args);
        await others();
        throw Object.assign(new Error('socket'), failure);
      },
    { step: 'deserialize', priority: 'high', name: 'losing' },
  );
  return own;
}

test('an update whose answer was lost does not undo one that another client has made since', async () => {
  for (const expected of [undefined, 1]) {
    const key = `updated-${expected}`;
    await create(key, 'first');
    const own = losing('UpdateItem', () => update(key, { name: 'another' }));
    await expect(update(key, { name: 'mine' }, own, expected)).rejects.toMatchObject(UNKNOWN);
    expect(await stored(key)).toMatchObject({ name: 'another', version: 3 });
  }
});

test('an update that was not made is made after that of another client', async () => {
  await create('in turn', 'first');
  const own = losing('UpdateItem', () => update('in turn', { name: 'another' }), false);
  await update('in turn', { name: 'mine' }, own);
  expect(await stored('in turn')).toMatchObject({ name: 'mine', version: 3 });
});

test('an update whose answer was lost does not come back in a marker that was created again', async () => {
  await create('reborn', 'first');
  const own = losing('UpdateItem', () => remove('reborn').then(() => create('reborn', 'another')));
  await expect(update('reborn', { name: 'mine' }, own)).rejects.toMatchObject(UNKNOWN);
  expect(await stored('reborn')).toMatchObject({ name: 'another', version: 1 });
});

test('a creation whose answer was lost succeeds although the marker has been changed since', async () => {
  const own = losing('PutItem', () => update('changed', { name: 'another' }));
  expect((await create('changed', 'mine', own)).marker).toMatchObject({ name: 'mine', version: 1 });
  expect(await stored('changed')).toMatchObject({ name: 'another', version: 2 });
});

test('a creation whose answer was lost is not a conflict with a marker that replaced it', async () => {
  const own = losing('PutItem', () => remove('replaced').then(() => create('replaced', 'another')));
  await expect(create('replaced', 'mine', own)).rejects.toMatchObject(UNKNOWN);
});

test('a creation whose answer was lost does not bring back a marker that another client has deleted since', async () => {
  const own = losing('PutItem', () => remove('gone'));
  await expect(create('gone', 'mine', own)).rejects.toMatchObject(UNKNOWN);
  expect(await stored('gone')).toBeNull();
  const one = [marker('gone', 'mine')];
  const others = losing('PutItem', () => remove('gone'));
  await expect(upsertMarkers(newCall(others), parks, one, NOW)).rejects.toMatchObject(UNKNOWN);
  expect(await stored('gone')).toBeNull();
});

test('of several creations, one whose answer was lost says nothing about the others', async () => {
  const own = losing('PutItem', () => Promise.resolve(), false);
  const inputs = ['lost', 'made', 'made, too'].map((key) => marker(key, 'mine'));
  const { written, failures } = await createMarkers(newCall(own), parks, inputs, NOW);
  expect(written.map(({ marker: { key } }) => key)).toEqual(['made', 'made, too']);
  expect(failures).toMatchObject([{ index: 0, ...UNKNOWN }]);
  expect(await stored('lost')).toBeNull();
});

test('a creation that was not sent, or refused, is sent again', async () => {
  const refused = { name: 'ProvisionedThroughputExceededException', $fault: 'client' };
  for (const failure of [{ code: 'ECONNREFUSED' }, refused]) {
    const key = `sent again after ${Object.values(failure)[0]}`;
    await create(
      key,
      'mine',
      losing('PutItem', () => Promise.resolve(), false, failure),
    );
    expect(await stored(key)).toMatchObject({ name: 'mine', version: 1 });
  }
});

test('a deletion whose answer was lost succeeds although the marker was created again, and leaves that', async () => {
  await create('deleted', 'first');
  const own = losing('DeleteItem', () => create('deleted', 'another'));
  expect((await remove('deleted', own)).marker).toMatchObject({ name: 'first' });
  expect(await stored('deleted')).toMatchObject({ name: 'another' });
});

test('an upsert whose answer was lost does not undo an update that another client has made since', async () => {
  const own = losing('PutItem', () => update('upserted', { name: 'another' }));
  const { written } = await upsertMarkers(newCall(own), parks, [marker('upserted', 'mine')], NOW);
  expect(written).toMatchObject([{ outcome: 'created' }]);
  expect(await stored('upserted')).toMatchObject({ name: 'another', version: 2 });
});
