import { expect, test, vi } from 'vitest';

import { ABSENT_BLOCK, readBlocks, replaceBlocks } from '../../../src/store/cell/blocks.js';
import { readDeadLetters } from '../../../src/store/cell/dead-letters.js';
import { loadStreamState, putStreamState } from '../../../src/store/cell/stream-state.js';
import { newCall } from '../../../src/store/database.js';
import { putInBulk } from '../../../src/store/request/batches.js';
import { send } from '../../../src/store/request/send.js';
import { Consumer } from '../../../src/stream/consume/consumer.js';
import { firstState } from '../../../src/stream/state.js';
import { testDatabase } from '../../support/test-database.js';
import {
  countedCells,
  countedPlaces,
  markerItem,
  started,
  storedCells,
  storedPlaces,
  streamParts,
  untilRead,
} from '../support.js';

const db = await testDatabase('readable', { stream: true });

const consumerOf = (onApplied: (batch: number) => void = () => undefined) =>
  new Consumer({ ...streamParts(db), onApplied });

test('cells and places follow creates, moves and deletes; an invalid marker becomes a dead letter; a stopped owner releases its lease at once', async () => {
  const consumer = consumerOf();
  const running = started(consumer);
  const markers = Array.from({ length: 1_200 }, (_, index) =>
    markerItem(
      db,
      index % 3 === 0 ? 'cafés' : 'parks',
      `m${index}`,
      ((index * 7.7) % 360) - 180,
      ((index * 3.3) % 180) - 90,
      [['Poznań', 'A', `${index % 7}`], ['Poznań'], []][index % 3],
    ),
  );
  await putInBulk(newCall(db), db.tables.entities, markers);
  await putInBulk(
    newCall(db),
    db.tables.entities,
    markers.slice(0, 300).map((item) => ({ ...item, lng: 1, lat: 1, place: ['Berlin', 'D'] })),
  );
  for (const { pk, sk } of markers.slice(100, 150)) {
    await send(newCall(db), 'delete', { TableName: db.tables.entities, Key: { pk, sk } });
  }
  await putInBulk(newCall(db), db.tables.entities, [
    { ...db.keys.marker('parks', 'odd'), lng: 'east', lat: 1, place: ['X'] },
  ]);
  await untilRead(db);

  expect(await storedCells(db)).toEqual(await countedCells(db));
  expect(await storedPlaces(db)).toEqual(await countedPlaces(db));
  expect(await readDeadLetters(newCall(db), 'cells', { first: 10 })).toMatchObject({
    letters: [{ reason: 'lng is not a number from -180 to 180' }],
    next: null,
  });
  expect(consumer.status()).toMatchObject({ owner: true, countsExact: true, gap: null, deadLetters: 1 });

  await running.stop();
  expect(await loadStreamState(newCall(db), 'cells')).toMatchObject({ owner: '', plan: null });
});

test('other servers hear how far the cells and pages are while batch follows batch', async () => {
  const running = started(consumerOf());
  await untilRead(db);
  const began = Date.now();
  let endAt = 0;
  for (let writes = 0; endAt <= began && writes < 500; writes++) {
    await putInBulk(newCall(db), db.tables.entities, [markerItem(db, 'trams', 'one', 10, writes / 100)]);
    endAt = (await loadStreamState(newCall(db), 'cells'))?.endAt ?? 0;
  }
  expect(endAt).toBeGreaterThan(began);
  // The next test counts its own batches.
  await untilRead(db);
  await running.stop();
});

test('the next consumer continues where the last one stopped, and applies nothing twice', async () => {
  const batches: number[] = [];
  const before = (await loadStreamState(newCall(db), 'cells'))?.batch ?? 0;
  const running = started(consumerOf((batch) => batches.push(batch)));
  await putInBulk(newCall(db), db.tables.entities, [markerItem(db, 'parks', 'late', 10, 10)]);
  await untilRead(db);
  expect(batches).toEqual([before + 1]);
  expect(await storedCells(db)).toEqual(await countedCells(db));
  await running.stop();
});

test('counts are not called exact before a consumer that takes over knows that the whole stream has been read', async () => {
  const parts = streamParts(db);
  let read: () => void = () => undefined;
  const mayRead = new Promise<void>((resolve) => (read = resolve));
  const readRecords = async (iterator: string) => {
    await mayRead;
    return parts.stream.readRecords(iterator);
  };
  const consumer = new Consumer({ ...parts, stream: { ...parts.stream, readRecords } });
  const running = started(consumer);
  await vi.waitUntil(() => consumer.status().owner, { timeout: 60_000 });
  expect(consumer.status()).toMatchObject({ behindMs: undefined, countsExact: false, gap: null });
  read();
  await vi.waitUntil(() => consumer.status().behindMs !== undefined, { timeout: 60_000 });
  expect(consumer.status()).toMatchObject({ countsExact: true, gap: null });
  await running.stop();
});

test('a block is replaced only if it is unchanged since it was read, and created only if it does not exist', async () => {
  const block = { scope: 'probe', parent: 'u3' };
  const children = new Map([['k', { count: 2, sumLng: 5, sumLat: -7 }]]);
  const write = async (seen: number | undefined, batch: number) =>
    (
      await replaceBlocks(newCall(db), [
        { ...block, found: { ...ABSENT_BLOCK, batch: seen }, next: { batch, children } },
      ])
    )[0];
  expect(await write(1, 2)).toBe('refused');
  expect(await write(undefined, 3)).toBe('written');
  expect(await write(undefined, 4)).toBe('refused');
  expect(await write(2, 4)).toBe('refused');
  expect(await write(3, 4)).toBe('written');
  expect(await readBlocks(newCall(db), [block, { scope: 'probe', parent: '' }], true)).toEqual([
    { batch: 4, children },
    { batch: undefined, children: new Map() },
  ]);
});

test('of two writers of the same version of the state, one is rejected', async () => {
  const next = { ...firstState('stream', 1), version: 1, token: 'a', shards: { one: { since: 5, after: '7' } } };
  expect(await putStreamState(newCall(db), 'probe', next)).toBe(true);
  expect(await putStreamState(newCall(db), 'probe', { ...next, token: 'b' })).toBe(false);
  expect(await putStreamState(newCall(db), 'probe', { ...next, version: 2 })).toBe(true);
  expect(await loadStreamState(newCall(db), 'probe')).toEqual({ ...next, version: 2 });
});
