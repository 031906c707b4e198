import { describe, expect, test } from 'vitest';

import { systemClock } from '../../src/clock.js';
import { repartition } from '../../src/jobs/repartition.js';
import type { Collection } from '../../src/model/collection.js';
import { allPrefixes } from '../../src/store/cell/partition-prefixes.js';
import type { WantedLayout } from '../../src/store/collection/collection-item.js';
import { beginLayoutChange, undoLayoutChange } from '../../src/store/collection/layout-change.js';
import { newCall } from '../../src/store/database.js';
import { updateMarker } from '../../src/store/marker/marker-update.js';
import { createMarker } from '../../src/store/marker/markers.js';
import { readItem } from '../../src/store/request/conditional-write.js';
import { itemBytes } from '../../src/store/request/item-size.js';
import { NOW } from '../map/fixture.js';
import { testCollection, testDatabase } from '../support/test-database.js';
import { currentCollection } from './repartition-clients.js';

const db = await testDatabase();
const LIMIT = 400 * 1024;

const current = (key: string) => currentCollection(db, key);

async function run(key: string): Promise<void> {
  const options = {
    worker: { database: db, self: 'test', ownerIsGone: () => true, clock: systemClock, leaseMs: 10_000 },
    settle: async () => undefined,
    occupied: async (own: Collection) => allPrefixes(own),
    maxWcu: 40_000,
    onProgress: () => undefined,
  };
  expect(await repartition(options, await current(key), {}, new AbortController().signal)).toBe(true);
}

describe.each<{ key: string; target: WantedLayout }>([
  { key: 'drawn', target: { mapProperties: ['b'] } },
  { key: 'moved', target: { writeShards: 4 } },
])('a marker of the collection $key without room for what a change adds', ({ key, target }) => {
  test('is named, with its size and the limit; the change is resumed when it is smaller, or undone', async () => {
    const collection = await testCollection(db, { key, name: key, prefixLength: 1, mapProperties: ['a'] }, NOW);
    const own = db.keys.marker(db.keys.scope(collection), 'large');
    const bytes = async () => itemBytes((await readItem(newCall(db), own))!);
    const properties = (length: number) => ({ a: 1, b: 'b'.repeat(100), text: 'x'.repeat(length) });
    const make = (name: string, length: number) =>
      createMarker(
        newCall(db),
        collection,
        { key: name, position: { lng: 1, lat: 2 }, properties: properties(length) },
        NOW,
      );
    await make('large', 1_000);
    const length = LIMIT - 5 - (await bytes()) + 1_000;
    const resize = async (to: number) =>
      updateMarker(
        newCall(db),
        { collection: await current(key), key: 'large' },
        { properties: properties(to) },
        { now: NOW },
      );
    await resize(length);
    for (const name of ['other', 'another']) await make(name, 10);

    await beginLayoutChange(newCall(db), key, target);
    const refused = {
      code: 'LIMIT_EXCEEDED',
      message: expect.stringContaining(
        `marker large of collection ${key} has ${await bytes()} of at most 409600 bytes`,
      ),
      details: { collection: key, marker: 'large', bytes: await bytes(), limit: LIMIT },
    };
    await expect(run(key)).rejects.toMatchObject(refused);
    await undoLayoutChange(newCall(db), key);
    await run(key);
    expect(await current(key)).toMatchObject({ prefixLength: 1, writeShards: 1, mapProperties: ['a'] });

    await beginLayoutChange(newCall(db), key, target);
    await expect(run(key)).rejects.toMatchObject(refused);
    await resize(1_000);
    await run(key);
    expect(await current(key)).toMatchObject(target);
  });
});
