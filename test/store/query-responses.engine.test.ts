import { describe, expect, test } from 'vitest';

import { newCall, type Item } from '../../src/store/database.js';
import { putInBulk } from '../../src/store/request/batches.js';
import type { StoredRange } from '../../src/store/request/ranges.js';
import { queryResponses } from '../../src/store/table/query-responses.js';
import { injectFaults, interceptCalls } from '../support/faults.js';
import { newDatabase, testDatabase } from '../support/test-database.js';

const database = await testDatabase();
const client = () => newDatabase('readable', { tables: database.tables });

const name = (n: number) => String(n).padStart(4, '0');
/** So large that a page of 1 MB has a few hundred of them: `name` is projected. */
const entries = Array.from({ length: 700 }, (_, n) => ({
  pk: `item-${name(n)}`,
  sk: 'self',
  gpkA: 'partition',
  gskA: name(n),
  name: 'x'.repeat(3_000),
}));
await putInBulk(newCall(database), database.tables.entities, entries);

const all: StoredRange = { index: 'geoA', pk: 'partition', from: name(0), to: name(9999) };

async function keysOf(pages: AsyncIterable<readonly Item[]>): Promise<unknown[]> {
  const found: unknown[] = [];
  for await (const items of pages) found.push(...items.map((item) => item['gskA']));
  return found;
}

describe('the range of a Query', () => {
  test('is read completely over pages of 1 MB, in order', async () => {
    const call = newCall(database);
    expect(await keysOf(queryResponses(call, all))).toEqual(entries.map(({ gskA }) => gskA));
    expect(call.meter.queries).toBeGreaterThan(2);
    expect(call.meter.itemsReturned).toBe(entries.length);
  });

  test('includes both of its bounds, and nothing beyond them', async () => {
    expect(await keysOf(queryResponses(newCall(database), { ...all, from: name(7), to: name(9) }))).toEqual([
      name(7),
      name(8),
      name(9),
    ]);
    expect(await keysOf(queryResponses(newCall(database), { ...all, pk: 'another' }))).toEqual([]);
  });

  test('ends at its limit, across pages too', async () => {
    const call = newCall(database);
    expect(await keysOf(queryResponses(call, all, 500))).toEqual(entries.slice(0, 500).map(({ gskA }) => gskA));
    expect(call.meter.itemsScanned).toBe(500);
  });

  test('continues after an empty page that is not the last', async () => {
    const db = client();
    let calls = 0;
    interceptCalls(db, 'Query', async (input, ask) => {
      calls += 1;
      return calls % 2 === 0
        ? { Items: [], Count: 0, ScannedCount: 0, LastEvaluatedKey: input['ExclusiveStartKey'] }
        : ask({ ...input, Limit: 100 });
    });
    expect(await keysOf(queryResponses(newCall(db), all))).toHaveLength(entries.length);
  });

  test('requests no page before the previous one was consumed', async () => {
    const call = newCall(database);
    for await (const page of queryResponses(call, all)) {
      expect(page.length).toBeGreaterThan(0);
      break;
    }
    expect(call.meter.queries).toBe(1);
  });

  test('fails if one of its pages fails', async () => {
    const db = client();
    injectFaults(db, 'Query', [undefined, ...Array<'refused'>(20).fill('refused')]);
    await expect(keysOf(queryResponses(newCall(db), all))).rejects.toMatchObject({ code: 'UNAVAILABLE' });
  });
});
