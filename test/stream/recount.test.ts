import { expect, test } from 'vitest';

import { putInBulk } from '../../src/store/batch-write.js';
import { readBlocks, replaceBlocks } from '../../src/store/apply-blocks.js';
import { newCall } from '../../src/store/meter.js';
import { send } from '../../src/store/send.js';
import { loadStreamState, putStreamState } from '../../src/store/stream-state.js';
import { createConsumer } from '../../src/stream/consumer.js';
import { recount } from '../../src/stream/recount.js';
import { openRecount } from '../../src/stream/recount-reads.js';
import { testDatabase } from '../support/test-database.js';
import { countedCells, markerItem, storedCells, streamParts, untilRead } from './support.js';

const db = await testDatabase();

const recounting = (checkOnly: boolean) =>
  recount({ ...streamParts(db), tables: openRecount(db, 'cells'), checkOnly }, new AbortController().signal);

test('a recount mends what has drifted and ends the gap, beside a consumer and writers at work', async () => {
  const stop = new AbortController();
  const running = createConsumer(streamParts(db)).run(stop.signal);
  const markers = Array.from({ length: 1_000 }, (_, index) =>
    markerItem(db, 'parks', `m${index}`, ((index * 7.7) % 360) - 180, ((index * 3.3) % 180) - 90),
  );
  await putInBulk(db, db.tables.entities, markers, newCall());
  await untilRead(db);

  // Somebody's hand in the cells: a count that is wrong, and a block that nothing accounts for.
  const total = { scope: 'parks', parent: '' };
  const [before] = await readBlocks(db, [total], true, newCall());
  const batch = before?.batch ?? 0;
  const wrong = new Map([['u', { count: 999, sumLng: 1, sumLat: 1 }]]);
  await replaceBlocks(db, [{ ...total, seen: batch, batch, children: wrong }], newCall());
  await replaceBlocks(db, [{ scope: 'ghosts', parent: 'u3', seen: undefined, batch, children: wrong }], newCall());
  expect(await recounting(true)).toMatchObject({ markers: 1_000, drifted: expect.arrayContaining([total]) as unknown });
  expect(await storedCells(db)).not.toEqual(await countedCells(db));

  let writing = true;
  const writer = (async () => {
    for (let index = 0; writing; index = (index + 1) % 1_000) {
      const { pk, sk } = db.keys.marker('parks', `m${index}`);
      if (index % 5 === 0) await send(db, 'delete', { TableName: db.tables.entities, Key: { pk, sk } }, newCall());
      else {
        const item = markerItem(db, 'parks', `m${index}`, Math.random() * 360 - 180, Math.random() * 180 - 90);
        await send(db, 'put', { TableName: db.tables.entities, Item: item }, newCall());
      }
    }
  })();
  for (;;) {
    const state = await loadStreamState(db, 'cells', newCall());
    if (state === undefined) continue;
    const gap = { since: new Date().toISOString(), reason: 'for a test' };
    if (await putStreamState(db, 'cells', { ...state, gap, version: state.version + 1, token: 'test' }, newCall()))
      break;
  }
  const { drifted } = await recounting(false);
  expect(drifted).toEqual(expect.arrayContaining([total, { scope: 'ghosts', parent: 'u3' }]));
  writing = false;
  await writer;
  await untilRead(db);
  expect((await loadStreamState(db, 'cells', newCall()))?.gap).toBeNull();
  expect(await storedCells(db)).toEqual(await countedCells(db));
  stop.abort();
  await running;
}, 300_000);
