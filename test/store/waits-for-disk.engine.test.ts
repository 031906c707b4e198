import { expect, it } from 'vitest';

import { ABSENT_BLOCK, readBlocks, replaceBlocks } from '../../src/store/cell/blocks.js';
import { newCall } from '../../src/store/database.js';
import { newMarkerItem } from '../../src/store/marker/marker-item.js';
import { createMarkers, getMarkers, putMarkersInBulk } from '../../src/store/marker/markers.js';
import { upsertMarkers } from '../../src/store/marker/upsert.js';
import { recordCalls } from '../support/record-calls.js';
import { testCollection, testDatabase } from '../support/test-database.js';

const db = { ...(await testDatabase()), waitsForDisk: true };
const calls = recordCalls(db);
const now = '2026-01-01T00:00:00.000Z';

it('where each write waits for a disk, a load is written in transactions of at most 100 items and 4 MB', async () => {
  const collection = await testCollection(db, { key: 'bulk', name: 'Bulk' }, now);
  const item = (at: number, text: string) =>
    newMarkerItem(db, collection, { key: `k${at}`, position: { lng: 1, lat: 2 }, properties: { text } }, now);
  const small = Array.from({ length: 230 }, (_, at) => item(at, 'x'));
  const big = Array.from({ length: 20 }, (_, at) => item(1000 + at, 'x'.repeat(390_000)));
  calls.reset();
  await putMarkersInBulk(newCall(db), [...small, ...big]);
  expect(calls.count('TransactWriteItems')).toBe(calls.count());
  expect(calls.count()).toBeLessThanOrEqual(6);
  const keys = ['k0', 'k229', 'k1000', 'k1019'];
  const found = await getMarkers(
    newCall(db),
    keys.map((key) => ({ collection, key })),
    { consistent: true },
  );
  expect(found.map((marker) => marker?.key)).toEqual(keys);
});

it('where each write waits for a disk, blocks are replaced together, and one by one if any has changed since it was read', async () => {
  const block = (parent: string, seen: number | undefined, batch: number) => ({
    scope: 's',
    parent,
    found: { ...ABSENT_BLOCK, batch: seen },
    next: { batch, children: new Map([['a', { count: batch, sumLng: 1, sumLat: 2 }]]) },
  });
  calls.reset();
  expect(await replaceBlocks(newCall(db), [block('u', undefined, 1), block('v', undefined, 1)])).toEqual([
    'written',
    'written',
  ]);
  expect(calls.count('TransactWriteItems')).toBe(calls.count());
  expect(await replaceBlocks(newCall(db), [block('u', 1, 2), block('v', 7, 2)])).toEqual(['written', 'refused']);
  const blocks = await readBlocks(
    newCall(db),
    [
      { scope: 's', parent: 'u' },
      { scope: 's', parent: 'v' },
    ],
    true,
  );
  expect(blocks.map(({ batch }) => batch)).toEqual([2, 1]);
});

it('where each write waits for a disk, markers are created together, and one by one if one of them exists', async () => {
  const collection = await testCollection(db, { key: 'many', name: 'Many' }, now);
  const inputs = (from: number, count: number) =>
    Array.from({ length: count }, (_, at) => ({ key: `k${from + at}`, position: { lng: 1, lat: 2 } }));
  calls.reset();
  const first = await createMarkers(newCall(db), collection, inputs(0, 250), now);
  expect([first.written.length, first.failures.length]).toEqual([250, 0]);
  expect(calls.count('TransactWriteItems')).toBe(3);
  expect(calls.count()).toBe(3);

  const second = await createMarkers(newCall(db), collection, inputs(249, 200), now);
  expect(second.written.map(({ marker }) => marker.key)).toEqual(inputs(250, 199).map(({ key }) => key));
  expect(second.failures).toMatchObject([{ index: 0, code: 'CONFLICT' }]);
  const found = await getMarkers(
    newCall(db),
    inputs(0, 449).map(({ key }) => ({ collection, key })),
    { consistent: true },
  );
  expect(found.filter((marker) => marker !== null)).toHaveLength(449);
});

it('where each write waits for a disk, imported markers are created together', async () => {
  const collection = await testCollection(db, { key: 'imported', name: 'Imported' }, now);
  const inputs = Array.from({ length: 250 }, (_, at) => ({ key: `k${at}`, position: { lng: 1, lat: 2 } }));
  calls.reset();
  const { written, failures } = await upsertMarkers(newCall(db), collection, inputs, now);
  expect([written.length, failures]).toEqual([250, []]);
  expect([calls.count('TransactWriteItems'), calls.count('PutItem')]).toEqual([3, 0]);
});
