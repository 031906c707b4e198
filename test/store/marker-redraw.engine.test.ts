import { expect, test } from 'vitest';

import { redrawMarker } from '../../src/jobs/fit-markers.js';
import type { Collection } from '../../src/model/collection.js';
import { beginLayoutChange, endPhase } from '../../src/store/collection/layout-change.js';
import { newCall } from '../../src/store/database.js';
import { updatedMarkerItem } from '../../src/store/marker/marker-update.js';
import { createMarker } from '../../src/store/marker/markers.js';
import { changeItem, readItem } from '../../src/store/request/conditional-write.js';
import { testCollection, testDatabase } from '../support/test-database.js';

const NOW = '2026-11-26T10:00:00.000Z';
const database = await testDatabase();
const { keys } = database;
const text = 'x'.repeat(300);

const before = await testCollection(database, { key: 'parks', name: 'P', mapProperties: ['a'] }, NOW);
const filling = await beginLayoutChange(newCall(database), 'parks', { mapProperties: ['b'] });
const draining = await endPhase(newCall(database), await endPhase(newCall(database), filling));

async function make(collection: Collection, key: string) {
  const properties = { a: 1, b: 2, c: 3, text };
  await createMarker(newCall(database), collection, { key, position: { lng: 1, lat: 2 }, properties }, NOW);
  return async () => (await readItem(newCall(database), keys.marker(keys.scope(collection), key)))!;
}

test('a marker gets both sets of map properties, then the new one, and keeps its versions', async () => {
  const read = await make(before, 'both');
  const found = await read();
  expect(found).toMatchObject({ m: { a: 1 }, mc: false });
  expect(await redrawMarker(newCall(database), filling, found)).toBe(true);
  expect(await read()).toEqual({ ...found, m: { a: 1, b: 2 } });
  expect(await redrawMarker(newCall(database), filling, await read())).toBe(false);
  expect(await redrawMarker(newCall(database), draining, await read())).toBe(true);
  expect(await read()).toEqual({ ...found, m: { b: 2 } });
});

// What the index must hold then: all properties of a small marker, and otherwise those that the map draws.
test.each([
  { name: 'gains', collection: filling, by: before, properties: { a: 1 }, m: { a: 1 }, mc: true },
  { name: 'loses', collection: draining, by: filling, properties: { a: 1, b: 2 }, m: { a: 1, b: 2 }, mc: true },
  { name: 'unset', collection: filling, by: before, properties: { a: 1, text }, m: { a: 1 }, mc: false },
])('a writer whose marker $name map properties after it was read stores those of its own', async (one) => {
  const read = await make(one.by, one.name);
  await changeItem(
    newCall(database),
    async () => {
      const found = await read();
      expect(await redrawMarker(newCall(database), one.collection, found)).toBe(true);
      return found;
    },
    (found) => ({
      found: found!,
      next: updatedMarkerItem(database, one.collection, found!, { properties: one.properties }, NOW),
    }),
  );
  expect(await read()).toMatchObject({ version: 2, mc: one.mc });
  expect((await read())['m']).toEqual(one.m);
});

test('a marker that is gone stays so', async () => {
  const found = { ...keys.marker(keys.scope(before), 'gone'), m: {}, mc: false, properties: { a: 1 }, version: 1 };
  expect(await redrawMarker(newCall(database), filling, found)).toBe(false);
  expect(await readItem(newCall(database), keys.marker(keys.scope(before), 'gone'))).toBeUndefined();
});
