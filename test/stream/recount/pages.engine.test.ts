import { beforeAll, expect, test } from 'vitest';

import { systemClock } from '../../../src/clock.js';
import { orderedMarker } from '../../../src/pages/ordered-marker.js';
import { loadStreamState } from '../../../src/store/cell/stream-state.js';
import { newCall, type Item } from '../../../src/store/database.js';
import { decodePage, encodePage } from '../../../src/store/page/page-data.js';
import { putInBulk } from '../../../src/store/request/batches.js';
import { send } from '../../../src/store/request/send.js';
import { openRecount } from '../../../src/stream/recount/reads.js';
import { recount } from '../../../src/stream/recount/recount.js';
import { randomFrom } from '../../support/random.js';
import { recordCalls } from '../../support/record-calls.js';
import { inTurn, rounds, variants } from '../../support/rounds.js';
import { testDatabase } from '../../support/test-database.js';
import { markersOfTable, pagesOfTable } from '../pages-of-table.js';
import {
  countedCells,
  markerItem,
  storedCells,
  streamParts,
  untilRead,
  whileConsuming,
  withoutWaiting,
} from '../support.js';

const turn = inTurn(3);
const MARKERS = 300;
const SCOPES = ['parks', 'cafés'];
const SEED = Number(process.env['CELLPORT_SEED'] ?? 5);

const db = await testDatabase('readable', { stream: true });
const calls = recordCalls(db);
const random = randomFrom(SEED);

/** Many in few places, so that some partitions have several pages. */
function anyMarker(index: number): Item {
  const [lng, lat] = random() < 0.7 ? [random(), 52 + random()] : [random() * 360 - 180, random() * 180 - 90];
  const drawn = { name: `marker ${index} ${random()}`, m: { n: index, at: [random()] }, mc: true, mv: index };
  return { ...markerItem(db, SCOPES[index % 2] ?? '', `m${index}`, lng, lat), ...drawn };
}

const put = (item: Item, table = db.tables.entities) => send(newCall(db), 'put', { TableName: table, Item: item });
const remove = ({ pk, sk }: Item, table = db.tables.entities) =>
  send(newCall(db), 'delete', { TableName: table, Key: { pk, sk } });

const recounting = (checkOnly: boolean, signal = new AbortController().signal) => {
  return recount(
    { ...streamParts(db), clock: withoutWaiting(systemClock), tables: openRecount(db, 'cells'), checkOnly },
    signal,
  );
};

const stateNow = () => loadStreamState(newCall(db), 'cells');

const withConsumer = (work: () => Promise<unknown>) => whileConsuming(db, work);

async function expectPages(): Promise<void> {
  const { markers, faults, generations } = await pagesOfTable(db);
  expect(faults).toEqual([]);
  expect(markers).toEqual(await markersOfTable(db));
  expect(generations).toEqual([(await stateNow())?.pages?.generation]);
  expect(await storedCells(db)).toEqual(await countedCells(db));
}

beforeAll(() =>
  withConsumer(() =>
    putInBulk(
      newCall(db),
      db.tables.entities,
      Array.from({ length: MARKERS }, (_, index) => anyMarker(index)),
    ),
  ),
);

test('a recount rebuilds all pages while markers are written, and the consumer continues with them', async ({
  skip,
  task,
}) => {
  skip(!turn(task));
  await withConsumer(async () => {
    await untilRead(db);
    const before = await stateNow();
    let isWriting = true;
    const writer = (async () => {
      for (let index = 0; isWriting; index = (index + 1) % MARKERS) {
        await (index % 5 === 0 ? remove(anyMarker(index)) : put(anyMarker(index)));
        await systemClock.sleep(5);
      }
    })();
    const { pages } = await recounting(false);
    expect(pages).toBeGreaterThan(10);
    isWriting = false;
    await writer;
    expect((await stateNow())?.pages?.generation).not.toBe(before?.pages?.generation);
  });
  await expectPages();
  expect(await recounting(true)).toMatchObject({ drifted: [], differing: [] });
});

test("a check compares pages with the consumer's progress, ignoring later writes", async () => {
  for (const index of [1, 2, 3]) await put(anyMarker(index));
  await put(anyMarker(MARKERS));
  await remove(anyMarker(4));
  expect(await recounting(true)).toMatchObject({ drifted: [], differing: [] });
  await withConsumer(() => Promise.resolve());
  await expectPages();
});

test('a check finds pages that differ from the table, and a recount repairs them', async ({ skip, task }) => {
  skip(!turn(task));
  const { items } = await pagesOfTable(db);
  const several = items.filter((item, index) => item['pk'] === items[index + 2]?.['pk'] && Number(item['n']) > 2);
  const entriesOf = (item: Item) => decodePage(item['d'] as Uint8Array, '') ?? [];
  const withEntries = (item: Item, entries: ReturnType<typeof entriesOf>) =>
    put({ ...item, n: entries.length, d: encodePage(entries) }, db.tables.derived);
  const plants: Readonly<Record<string, (item: Item) => Promise<unknown>>> = {
    'a marker is missing': (item) => withEntries(item, entriesOf(item).slice(1)),
    'a marker does not exist': (item) =>
      withEntries(
        item,
        entriesOf(item).flatMap((entry) => [entry, orderedMarker({ ...entry.marker, key: `${entry.marker.key}+` })]),
      ),
    'a marker is older': (item) =>
      withEntries(
        item,
        entriesOf(item).map((entry) => ({ ...entry, marker: { ...entry.marker, mapVersion: -1 } })),
      ),
    'the end is not the begin of the next page': (item) =>
      put({ ...item, e: `${String(item['e'])}0` }, db.tables.derived),
    'the next page is gone': (item) => remove(items[items.indexOf(item) + 1] ?? {}, db.tables.derived),
    'the format is of another version': (item) => put({ ...item, d: Uint8Array.of(255) }, db.tables.derived),
  };
  expect(several.length).toBeGreaterThan(Object.keys(plants).length);
  const before = await stateNow();
  for (const [what, plant] of variants(Object.entries(plants), 2)) {
    const item = several[Math.floor(random() * several.length)] ?? {};
    await plant(item);
    const { differing } = await recounting(true);
    // The content of a partition with a page of an unknown format is unknown.
    const begin = what.includes('format') ? String(item['sk']).charAt(0) : item['sk'];
    expect([what, ...differing]).toEqual([
      what,
      { scope: db.keys.parsePage({ pk: String(item['pk']), sk: '' })?.scope, begin },
    ]);
    await put(item, db.tables.derived);
    if (what.includes('gone')) await put(items[items.indexOf(item) + 1] ?? {}, db.tables.derived);
  }
  // A partition without markers, and one without pages.
  const [first = {}] = items;
  const lone = {
    ...db.keys.page('parks', before?.pages?.generation ?? '', '0'),
    b: 1,
    n: 0,
    d: encodePage(entriesOf(first)),
  };
  await put(lone, db.tables.derived);
  for (const item of items) if (item['pk'] === first['pk']) await remove(item, db.tables.derived);
  expect((await recounting(true)).differing).toHaveLength(2);
  // It has written nothing but its lease.
  expect(await stateNow()).toMatchObject({ gap: null, pages: before?.pages, batch: before?.batch });

  await recounting(false);
  await expectPages();
});

test('a recount that is stopped at any point leaves a gap or all pages; the next one removes any others', async ({
  skip,
  task,
}) => {
  skip(!turn(task));
  calls.reset();
  await recounting(false);
  const inOne = calls.count();
  for (let run = 0; run < rounds('stoppedRecounts'); run += 1) {
    await put(anyMarker(run));
    const stopping = new AbortController();
    const after = 1 + Math.floor(random() * inOne);
    calls.reset();
    const running = recounting(false, stopping.signal);
    const watch = setInterval(() => {
      if (calls.count() >= after) stopping.abort();
    }, 1);
    await running.catch(() => undefined);
    clearInterval(watch);
    const { gap, pages } = (await stateNow()) ?? {};
    if (gap === null && pages !== null) expect(await recounting(true)).toMatchObject({ drifted: [], differing: [] });
    else expect(gap?.reason).toBe('a recount was started and has not finished');
  }
  await recounting(false);
  await withConsumer(() => Promise.resolve());
  await expectPages();
});
