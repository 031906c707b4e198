import { expect, test } from 'vitest';

import type { Collection } from '../../src/model/collection.js';
import { writtenShards } from '../../src/model/spread.js';
import type { WantedLayout } from '../../src/store/collection/collection-item.js';
import { getCollections } from '../../src/store/collection/collections.js';
import { beginLayoutChange, endPhase } from '../../src/store/collection/layout-change.js';
import { beginSpread, completeSpread } from '../../src/store/collection/spread.js';
import { newCall } from '../../src/store/database.js';
import { NOW } from '../map/fixture.js';
import { testCollection, testDatabase } from '../support/test-database.js';

const db = await testDatabase('readable');

async function current(key: string): Promise<Collection> {
  const [collection] = await getCollections(db, [key], newCall(), { consistent: true });
  if (!collection) throw new Error('none');
  return collection;
}
/** As `repartition` does for a collection without markers. */
async function repartitioned(key: string, wanted: WantedLayout): Promise<Collection> {
  await beginLayoutChange(db, key, wanted, newCall());
  for (let phase = 0; phase < 3; phase += 1) await endPhase(db, await current(key), newCall());
  return current(key);
}

test('a prefix stays spread until a repartition, no longer', async () => {
  const key = 'twice';
  const made = await testCollection(db, { key, name: key, prefixLength: 1 }, NOW);
  await beginSpread(db, key, 'u', newCall());
  await completeSpread(db, made, () => true, newCall());
  expect(writtenShards(await current(key), 'u')).toBe(8);
  await repartitioned(key, { prefixLength: 1, writeShards: 16 });
  const again = await repartitioned(key, { prefixLength: 1, writeShards: 32 });
  expect(again).toMatchObject({ geoSlot: 'A', writeShards: 32 });
  expect(writtenShards(again, 's')).toBe(32);
  // The hot prefix has fewer partitions than all others.
  expect(writtenShards(again, 'u')).toBe(32);
});

test('prefixes spread in a former layout do not count towards the most', async () => {
  const key = 'many';
  const made = await testCollection(db, { key, name: key, prefixLength: 2 }, NOW);
  const alphabet = '0123456789bcdefghjkmnpqrstuvwxyz';
  for (const first of 'us') for (const second of alphabet) await beginSpread(db, key, first + second, newCall());
  await completeSpread(db, made, () => true, newCall());
  await repartitioned(key, { prefixLength: 3 });
  await expect(beginSpread(db, key, 'u3b', newCall())).resolves.toMatchObject({ prefixLength: 3 });
});
