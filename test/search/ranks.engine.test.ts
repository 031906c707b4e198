import { expect, test } from 'vitest';

import { Ranks } from '../../src/search/ranks.js';
import { openSearchTables } from '../../src/search/tables.js';
import { readCollectionItem } from '../../src/store/collection/change-collection.js';
import { updateCollection } from '../../src/store/collection/collections.js';
import { newCall } from '../../src/store/database.js';
import { wireOf } from '../../src/store/request/wire.js';
import type { StreamRecord } from '../../src/stream/change.js';
import { interceptCalls } from '../support/faults.js';
import { testCollection, testDatabase } from '../support/test-database.js';

const NOW = '2026-11-21T10:00:00.000Z';
const db = await testDatabase();

test('a new rankBy is learned although eventually consistent reads do not show it yet', async () => {
  await testCollection(db, { key: 'cities', name: 'Cities', rankBy: 'population' }, NOW);
  let before: Record<string, unknown> | undefined;
  let isStale = false;
  // What an eventually consistent read may do in AWS, and never does in DynamoDB Local.
  interceptCalls(db, 'Query', async (input, ask) => {
    const stale = isStale && input['ConsistentRead'] !== true ? before : undefined;
    before = stale ?? structuredClone(await ask(input));
    return structuredClone(before);
  });
  const ranks = new Ranks(db.keys, () => openSearchTables(db, 'cells').listCollections());
  await ranks.read();
  expect([...ranks.byScope]).toEqual([['cities', 'population']]);
  await updateCollection(newCall(db), 'cities', { rankBy: 'area' }, { now: NOW });
  const image = wireOf(await readCollectionItem(newCall(db), 'cities'))['M'] as NonNullable<StreamRecord['after']>;
  isStale = true;
  const { pk, sk } = image;
  expect(await ranks.learn({ keys: { pk, sk }, before: image, after: image } as unknown as StreamRecord)).toBe(true);
  expect([...ranks.byScope]).toEqual([['cities', 'area']]);
});
