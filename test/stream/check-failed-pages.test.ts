import { expect, test } from 'vitest';

import { systemClock } from '../../src/clock.js';
import { silentLog } from '../../src/log.js';
import type { Item } from '../../src/store/database.js';
import { newCall } from '../../src/store/request/meter.js';
import { send } from '../../src/store/request/send.js';
import { loadStreamState } from '../../src/store/cell/stream-state.js';
import { createConsumer } from '../../src/stream/consumer.js';
import { recount } from '../../src/stream/recount.js';
import { openRecount } from '../../src/stream/recount-reads.js';
import { testDatabase } from '../support/test-database.js';
import { markersOfTable, pagesOfTable } from './pages-of-table.js';
import { markerItem, streamParts, whileConsuming } from './support.js';

const db = await testDatabase('readable', { stream: true });
const put = (item: Item, table = db.tables.entities) => send(db, 'put', { TableName: table, Item: item }, newCall());
const stateNow = () => loadStreamState(db, 'cells', newCall());
const drawn = (key: string, lng: number) => ({
  ...markerItem(db, 'parks', key, lng, 52),
  name: key,
  m: {},
  mc: true,
  mv: 1,
});

test('a check that finishes a batch whose pages cannot be written gives the pages up, as the consumer does', async () => {
  await whileConsuming(db, () => Promise.all([put(drawn('a', 10)), put(drawn('b', 100))]));
  const { items } = await pagesOfTable(db);
  const poisoned = items.find(({ sk }) => sk !== 'u') ?? {};
  expect(poisoned).toHaveProperty('d');
  await put({ ...poisoned, d: Uint8Array.of(255) }, db.tables.derived);

  // The owner stops in the middle of a batch: it cannot write the cells yet.
  const parts = streamParts(db);
  const stop = new AbortController();
  const running = createConsumer({
    ...parts,
    log: silentLog,
    cells: { ...parts.cells, write: () => Promise.reject(new Error('throttled')) },
  }).run(stop.signal);
  await Promise.all([put(drawn('new', 10.1)), put(drawn('other', 100.1))]);
  const begun = Date.now();
  while ((await stateNow())?.plan === null && Date.now() - begun < 20_000) await systemClock.sleep(20);
  while (((await stateNow())?.records ?? 0) < 4 && Date.now() - begun < 3_000) await systemClock.sleep(20);
  stop.abort();
  await running;
  expect((await stateNow())?.plan).not.toBeNull();

  await recount(
    { ...streamParts(db), tables: openRecount(db, 'cells'), checkOnly: true },
    new AbortController().signal,
  );
  // Another one repairs the page, or it had failed for another reason that is over.
  await put(poisoned, db.tables.derived);
  await whileConsuming(db, () => Promise.resolve());
  const state = await stateNow();
  if (state?.pages !== null) expect((await pagesOfTable(db)).markers).toEqual(await markersOfTable(db));
});
