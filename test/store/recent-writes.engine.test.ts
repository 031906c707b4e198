import { expect, test } from 'vitest';

import { orderedMarker } from '../../src/pages/ordered-marker.js';
import type { RecentWrite } from '../../src/pages/recent-writes.js';
import { newCall } from '../../src/store/database.js';
import { putRecentWrites, readRecentWrites } from '../../src/store/page/recent-writes.js';
import { markerAt } from '../pages/support.js';
import { testDatabase } from '../support/test-database.js';

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
  const [part] = await readRecentWrites(newCall(db), { scope: 's', collection: 'parks' }, 4, 4);
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
  const [part] = await readRecentWrites(newCall(db), { scope: 't', collection: 'parks' }, 4, 4);
  expect(part?.sums).toEqual([{ batch: 8, sums: new Map([['u3x', { count: 3, sumLng: 30, sumLat: -3 }]]) }]);
});
