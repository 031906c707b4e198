import { describe, expect, test } from 'vitest';

import type { CollectionInput } from '../../src/store/collection/collection-item.js';
import { getCollections, listCollections, updateCollection } from '../../src/store/collection/collections.js';
import { newCall } from '../../src/store/database.js';
import { newCollection, NOW } from '../map/fixture.js';
import { injectFaults, interceptCalls } from '../support/faults.js';
import { recordCalls } from '../support/record-calls.js';
import { newDatabase, testCollection, testDatabase } from '../support/test-database.js';

const readable = await testDatabase('readable');
const compact = await testDatabase('compact');
const listing = await testDatabase('readable');

describe('a collection', () => {
  test('is created with defaults for omitted fields', async () => {
    const collection = await testCollection(readable, { key: 'parks', name: 'Parks' }, NOW);
    expect(collection).toEqual(newCollection('parks', { name: 'Parks' }));
    expect(await getCollections(newCall(readable), ['parks'])).toEqual([collection]);
  });

  test('is returned as it was created, in both styles', async () => {
    const input = {
      key: 'full',
      name: 'Full',
      description: 'all of it',
      mapProperties: ['a', 'b', 'a'],
      prefixLength: 0,
      writeShards: 8,
      code: 'Fu',
      readingsTtlDays: 30,
      readingsBucket: 'DAY' as const,
      readingsTable: 'MONTHLY' as const,
      readingsSummarized: true,
    };
    for (const database of [readable, compact]) {
      const collection = await testCollection(database, input, NOW);
      expect(collection).toMatchObject({ ...input, mapProperties: ['a', 'b'] });
      expect(await getCollections(newCall(database), ['full'], { consistent: true })).toEqual([collection]);
    }
  });

  test('whose key is taken is a CONFLICT and changes nothing, in both styles', async () => {
    for (const database of [readable, compact]) {
      const first = await testCollection(database, { key: 'taken', name: 'First', code: 'T1' }, NOW);
      const second = testCollection(database, { key: 'taken', name: 'Second', code: 'T2' }, NOW);
      await expect(second).rejects.toMatchObject({ code: 'CONFLICT', details: { key: 'taken' } });
      expect(await getCollections(newCall(database), ['taken'])).toEqual([first]);
    }
    // The code of the failed one is free.
    await testCollection(compact, { key: 'free', name: 'Free', code: 'T2' }, NOW);
  });

  test('whose code is taken is a CONFLICT with compact keys, and is not created', async () => {
    await testCollection(compact, { key: 'shops', name: 'Shops', code: 'Sh' }, NOW);
    const other = testCollection(compact, { key: 'sheds', name: 'Sheds', code: 'Sh' }, NOW);
    await expect(other).rejects.toMatchObject({ code: 'CONFLICT', details: { code: 'Sh' } });
    expect(await getCollections(newCall(compact), ['sheds'])).toEqual([null]);
  });

  test('is created once although responses are lost, in both styles', async () => {
    for (const database of [readable, compact]) {
      const db = newDatabase(database.keys.style, { tables: database.tables });
      injectFaults(db, 'PutItem', ['answer lost']);
      injectFaults(db, 'TransactWriteItems', ['answer lost']);
      const collection = await testCollection(db, { key: 'lost', name: 'Lost', code: 'Lo' }, NOW);
      expect(await getCollections(newCall(database), ['lost'])).toEqual([collection]);
    }
  });

  test('is updated once although the response is lost, also if it has attributes without a value', async () => {
    await testCollection(readable, { key: 'renamed', name: 'Lost' }, NOW);
    for (const expectedVersion of [1, undefined]) {
      const db = newDatabase('readable', { tables: readable.tables });
      injectFaults(db, 'UpdateItem', ['answer lost']);
      const change = { now: '2026-11-21T11:00:00.000Z', expectedVersion };
      const name = `New ${expectedVersion}`;
      const { collection } = await updateCollection(newCall(db), 'renamed', { name }, change);
      expect(collection).toMatchObject({ name, version: expectedVersion === 1 ? 2 : 3 });
    }
  });

  test('is created despite a transaction conflict', async () => {
    const db = newDatabase('compact', { tables: compact.tables });
    let attempts = 0;
    interceptCalls(db, 'TransactWriteItems', async (input, ask) => {
      attempts += 1;
      if (attempts > 2) return ask(input);
      const CancellationReasons = [{ Code: 'TransactionConflict' }, { Code: 'None' }];
      throw Object.assign(new Error('conflict'), { name: 'TransactionCanceledException', CancellationReasons });
    });
    await testCollection(db, { key: 'patient', name: 'Patient', code: 'Pa' }, NOW);
    expect(attempts).toBe(3);
  });

  test.each<[string, Partial<Record<keyof CollectionInput, unknown>>, string]>([
    ['an empty key', { key: '' }, 'key'],
    ['a key with ::', { key: 'a::b' }, 'key'],
    ['a key with #', { key: 'a#b' }, 'key'],
    ['a capital in its key', { key: 'Parks' }, 'key'],
    ['a key of 64 characters', { key: 'a'.repeat(64) }, 'key'],
    ['a key of 3 KB', { key: 'a'.repeat(3_000) }, 'key'],
    ['no name', { name: '' }, 'name'],
    ['prefix length 7', { prefixLength: 7 }, 'prefixLength'],
    ['prefix length 1.5', { prefixLength: 1.5 }, 'prefixLength'],
    ['no write shard', { writeShards: 0 }, 'writeShards'],
    ['a million write shards', { writeShards: 1e6 }, 'writeShards'],
    ['readings that expire at once', { readingsTtlDays: 0 }, 'readingsTtlDays'],
    ['unknown buckets', { readingsBucket: 'YEAR' as 'DAY' }, 'readingsBucket'],
    ['buckets of readings kept for good', { readingsBucket: 'DAY' }, 'readingsTtlDays'],
    ['63 days of buckets', { readingsBucket: 'DAY', readingsTtlDays: 63 }, 'readingsTtlDays'],
    ['3 days of hours', { readingsBucket: 'HOUR', readingsTtlDays: 3 }, 'readingsTtlDays'],
    ['unknown tables', { readingsTable: 'YEARLY' as 'MONTHLY' }, 'readingsTable'],
    ['monthly tables of readings kept for good', { readingsTable: 'MONTHLY' }, 'readingsTtlDays'],
    ['4,425 days of months', { readingsTable: 'MONTHLY', readingsTtlDays: 4_425 }, 'readingsTtlDays'],
    ['summaries of one day', { readingsSummarized: true, readingsTtlDays: 1 }, 'readingsTtlDays'],
    ['readings for half a day', { readingsTtlDays: 0.5 }, 'readingsTtlDays'],
    ['a code of three', { code: 'abc' }, 'code'],
    ['500 KB of description', { description: 'x'.repeat(500_000) }, 'description'],
  ])('with %s is rejected, and nothing is written', async (_, wrong, field) => {
    const calls = recordCalls(readable);
    const input = { key: 'bad', name: 'Bad', ...wrong } as CollectionInput;
    await expect(testCollection(readable, input, NOW)).rejects.toMatchObject({
      code: 'BAD_USER_INPUT',
      details: { field },
    });
    expect(calls.count()).toBe(0);
  });

  test('without a code is rejected with compact keys', async () => {
    await expect(testCollection(compact, { key: 'bare', name: 'Bare' }, NOW)).rejects.toMatchObject({
      code: 'BAD_USER_INPUT',
      details: { field: 'code' },
    });
  });
});

describe('collections', () => {
  test('are returned by key in the requested order, null for missing ones and invalid keys', async () => {
    await testCollection(readable, { key: 'one', name: 'One' }, NOW);
    await testCollection(readable, { key: 'two', name: 'Two' }, NOW);
    const calls = recordCalls(readable);
    const found = await getCollections(newCall(readable), ['two', 'none', 'a::b', '', 'x'.repeat(4_000), 'one', 'two']);
    expect(found.map((collection) => collection?.key)).toEqual([
      'two',
      undefined,
      undefined,
      undefined,
      undefined,
      'one',
      'two',
    ]);
    expect(calls.count()).toBe(1);
  });

  test('are listed by key, page after page, each once', async () => {
    const database = listing;
    const keys = ['a', 'a-1', 'a_1', 'aa', 'b', '0'].sort();
    for (const key of keys) await testCollection(database, { key, name: key }, NOW);
    const listed: string[] = [];
    for (let after: string | undefined, more = true; more; after = listed.at(-1)) {
      const page = await listCollections(newCall(database), { first: 2, after });
      listed.push(...page.collections.map(({ key }) => key));
      ({ more } = page);
    }
    expect(listed).toEqual(keys);
    expect(await listCollections(newCall(database), { first: 6 })).toMatchObject({ more: false });
    expect(await listCollections(newCall(database), { first: 5 })).toMatchObject({ more: true });
  });
});
