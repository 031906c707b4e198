import { expect, test } from 'vitest';

import { orderedMarker } from '../../src/pages/ordered-marker.js';
import type { RecentWrite } from '../../src/pages/recent-writes.js';
import { newCall } from '../../src/store/database.js';
import { putRecentWrites, readRecentWrites } from '../../src/store/page/recent-writes.js';
import { queryAll } from '../../src/store/table/query-responses.js';
import { markerAt } from '../pages/support.js';
import { interceptCalls } from '../support/faults.js';
import { recordCalls } from '../support/record-calls.js';
import { newDatabase, testDatabase } from '../support/test-database.js';

const db = await testDatabase();

test('published writes are read as they were, with the incarnations that are known', async () => {
  const life = (id: number, mapVersion: number, ...former: number[]) => ({ id, mapVersion, former });
  const entry = (key: string, version: number) => orderedMarker(markerAt(key, 10, 50, version));
  const writes: RecentWrite[] = [
    { key: 'deleted', mapVersion: 7, entry: undefined, life: life(4_294_967_295, 6, 3, 0) },
    { key: 'as it is', mapVersion: 3, entry: entry('as it is', 3), life: life(0, 3) },
    { key: 'unknown', mapVersion: 5, entry: undefined, life: undefined },
    { key: 'created again', mapVersion: 9, entry: entry('created again', 1), life: life(7, 1, 9) },
    { key: 'of a source', mapVersion: 2, entry: entry('of a source', 2), life: undefined },
  ];
  await putRecentWrites(newCall(db), { scope: 's', version: 4, attempt: 0 }, { batch: 8, writes, sums: [] });
  const [part] = await readRecentWrites(newCall(db), { scope: 's', from: 4, to: 4 }, 'parks');
  const plain = (some: readonly RecentWrite[] = []) =>
    some
      .map(({ entry: stored, ...write }) => ({ ...write, version: stored?.marker.mapVersion }))
      .toSorted((a, b) => (a.key < b.key ? -1 : 1));
  expect(plain(part?.writes)).toEqual(plain(writes));
});

test('what a batch changes is the sum of all of its parts', async () => {
  const writes = [{ key: 'm', mapVersion: 1, entry: undefined, life: undefined }];
  const sums = [1, 2].map((count) => ({
    batch: 8,
    sums: new Map([['u3x', { count, sumLng: 10 * count, sumLat: -count }]]),
  }));
  await putRecentWrites(newCall(db), { scope: 't', version: 4, attempt: 0 }, { batch: 8, writes, sums });
  const [part] = await readRecentWrites(newCall(db), { scope: 't', from: 4, to: 4 }, 'parks');
  expect(part?.sums).toEqual([{ batch: 8, sums: new Map([['u3x', { count: 3, sumLng: 30, sumLat: -3 }]]) }]);
});

test('items that are named are read again, strongly consistent, only if a read lags behind one of them', async () => {
  const own = newDatabase('readable', { tables: db.tables });
  const calls = recordCalls(own);
  let lagsBehind: string | undefined;
  interceptCalls(own, 'Query', async (input, ask) => {
    const answer = await ask(input);
    const items = (answer['Items'] as Record<string, unknown>[]).filter(
      ({ sk }) => input['ConsistentRead'] === true || sk !== lagsBehind,
    );
    return { ...answer, Items: items };
  });
  const put = async (version: number, attempt: number, count: number) => {
    const writes = Array.from({ length: count }, (_, at) => {
      return { key: `m${at}`, mapVersion: version, entry: undefined, life: undefined };
    });
    return putRecentWrites(newCall(db), { scope: 'u', version, attempt }, { batch: version, writes, sums: [] });
  };
  const items = [
    [4, 0, await put(4, 0, 3)],
    [6, 1, await put(6, 1, 501)],
  ] as const;
  await put(6, 0, 7);
  expect(items.map(([, , count]) => count)).toEqual([1, 2]);
  const read = async (named: typeof items | readonly []) => {
    calls.reset();
    const parts = await readRecentWrites(newCall(own), { scope: 'u', from: 4, to: 6, items: named }, 'parks');
    const consistent = calls.commands.map(({ input }) => input['ConsistentRead'] === true);
    return { counts: parts.map(({ version, writes }) => [version, writes.length]), consistent };
  };
  const counts = [
    [4, 3],
    [6, 500],
    [6, 1],
  ];
  expect(await read(items)).toEqual({ counts, consistent: [false] });
  const { pk, from, to } = db.keys.recentWritesRange('u', 4, 6);
  const stored = await queryAll(newCall(db), { index: 'derived', pk, from, to });
  const sorts = stored.map(({ sk }) => String(sk));
  expect(sorts).toHaveLength(4);
  for (const sort of sorts) {
    lagsBehind = sort;
    // Of an attempt that failed.
    const isLeft = sort.endsWith('0.0') && db.keys.parseRecentWrites({ pk, sk: sort })?.version === 6;
    expect(await read(items)).toEqual({ counts, consistent: isLeft ? [false] : [false, true] });
  }
  expect(await read([])).toEqual({ counts: [], consistent: [] });
  own.client.destroy();
});
