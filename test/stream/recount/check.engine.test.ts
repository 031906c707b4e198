import { expect, test } from 'vitest';

import { systemClock } from '../../../src/clock.js';
import { ABSENT_BLOCK, readBlocks, replaceBlocks } from '../../../src/store/cell/blocks.js';
import { loadStreamState } from '../../../src/store/cell/stream-state.js';
import { createDatabase } from '../../../src/store/create-database.js';
import { newCall, type Database, type Item } from '../../../src/store/database.js';
import { decodePage, encodePage } from '../../../src/store/page/page-data.js';
import { putInBulk } from '../../../src/store/request/batches.js';
import { send } from '../../../src/store/request/send.js';
import { Consumer } from '../../../src/stream/consume/consumer.js';
import { openRecount } from '../../../src/stream/recount/reads.js';
import { recount } from '../../../src/stream/recount/recount.js';
import { recordCalls } from '../../support/record-calls.js';
import { inTurn } from '../../support/rounds.js';
import { engine, testDatabase } from '../../support/test-database.js';
import { pagesOfTable } from '../pages-of-table.js';
import { markerItem, started, streamParts, untilRead, whileConsuming, withoutWaiting } from '../support.js';

const turn = inTurn(2);
const db = await testDatabase('readable', { stream: true });

const put = (item: Item, table = db.tables.entities) => send(newCall(db), 'put', { TableName: table, Item: item });
const stateNow = () => loadStreamState(newCall(db), 'cells');
let versions = 0;
const drawn = (scope: string, key: string, lng: number, lat = 52) => {
  versions += 1;
  return { ...markerItem(db, scope, key, lng, lat), name: `${key} ${versions}`, m: {}, mc: true, mv: versions };
};

const READS = ['Query', 'Scan', 'GetItem', 'BatchGetItem', 'DescribeTable', 'ListTables'];

const clock = withoutWaiting(systemClock);

/** Checks as a process of its own does, and expects that it only reads. */
async function check() {
  const own: Database = createDatabase({ ...engine(), tables: db.tables, keyStyle: 'readable' });
  const { commands } = recordCalls(own);
  const parts = { ...streamParts(own), clock, tables: openRecount(own, 'cells'), checkOnly: true };
  const found = await recount(parts, new AbortController().signal);
  expect(commands.map(({ name }) => name).filter((name) => !READS.includes(name))).toEqual([]);
  own.client.destroy();
  return found;
}

test('a check beside a server and writers takes no lease, writes nothing and finds exactly what differs', async ({
  skip,
  task,
}) => {
  skip(!turn(task));
  const markers = Array.from({ length: 200 }, (_, index) => drawn('parks', `m${index}`, index / 100, 52));
  const elsewhere = Array.from({ length: 50 }, (_, index) => drawn('quiet', `m${index}`, 100 + index, 10));
  await whileConsuming(db, () => putInBulk(newCall(db), db.tables.entities, [...markers, ...elsewhere]));

  const owners: boolean[] = [];
  // A consumer that has not written these blocks and pages takes them as they are.
  const serve = () => started(new Consumer({ ...streamParts(db), onOwnership: (owner) => owners.push(owner) }));
  const whileWriting = async <T>(work: () => Promise<T>): Promise<T> => {
    let writing = true;
    const writer = (async () => {
      for (let index = 0; writing; index += 1) {
        // One that moves to and fro between partitions, and others that change in place.
        await put(drawn('parks', 'm0', index % 2 === 0 ? 0 : -120));
        await put(drawn('parks', `m${1 + (index % 20)}`, (1 + (index % 20)) / 100));
        await systemClock.sleep(5);
      }
    })();
    try {
      return await work();
    } finally {
      writing = false;
      await writer;
    }
  };

  // Counts that are wrong in a block that changes all the time, and in one that does not.
  const [hot, cold] = [
    { scope: 'parks', parent: '' },
    { scope: 'quiet', parent: 'w' },
  ];
  for (const block of [hot, cold]) {
    const [found = ABSENT_BLOCK] = await readBlocks(newCall(db), [block], true);
    const children = new Map([...found.children, ['7', { count: 5, sumLng: 5, sumLat: 5 }]]);
    await replaceBlocks(newCall(db), [{ ...block, found, next: { batch: found.batch ?? 0, children } }]);
  }
  // And a page that lacks a marker.
  const { items } = await pagesOfTable(db);
  const page = items.findLast((item) => String(item['pk']).includes('quiet')) ?? {};
  const entries = decodePage(page['d'] as Uint8Array, '') ?? [];
  await put({ ...page, n: entries.length - 1, d: encodePage(entries.slice(1)) }, db.tables.derived);

  const running = serve();
  await untilRead(db);
  const { drifted, differing, undecided } = await whileWriting(check);
  expect(drifted).toHaveLength(2);
  expect(drifted).toEqual(expect.arrayContaining([hot, cold]));
  expect(differing).toEqual([{ scope: 'quiet', begin: page['sk'] }]);
  expect(undecided).toBe(0);
  expect(owners).toEqual([true]);

  await recount(
    { ...streamParts(db), clock, tables: openRecount(db, 'cells'), checkOnly: false },
    new AbortController().signal,
  );
  await untilRead(db);
  const again = await whileWriting(check);
  expect(again).toMatchObject({ drifted: [], differing: [], undecided: 0, markers: 250 });
  await running.stop();
});

test('a batch that no server has finished is no difference, and is left to be finished', async () => {
  await whileConsuming(db, () => Promise.all([put(drawn('lakes', 'a', 10)), put(drawn('lakes', 'b', 100))]));
  // The owner stops in the middle of a batch: it can write only one block of the cells, and no pages.
  const parts = streamParts(db);
  let writes = 0;
  const write: typeof parts.cells.write = async (blocks) => {
    writes += 1;
    if (writes > 1) throw new Error('throttled');
    const [outcome = 'failed'] = await parts.cells.write(blocks.slice(0, 1));
    return [outcome, ...blocks.slice(1).map(() => 'failed' as const)];
  };
  const open: typeof parts.pages.open = (generation) => {
    return { ...parts.pages.open(generation), write: () => Promise.reject(new Error('throttled')) };
  };
  const stopped = { ...parts, cells: { ...parts.cells, write }, pages: { ...parts.pages, open } };
  const running = started(new Consumer(stopped));
  await Promise.all([put(drawn('lakes', 'c', 10.1)), put(drawn('lakes', 'd', 100.1))]);
  while (writes < 2) await systemClock.sleep(20);
  await running.stop();
  const state = await stateNow();
  expect(state?.plan).not.toBeNull();

  expect(await check()).toMatchObject({ drifted: [], differing: [], undecided: 0 });
  expect(await stateNow()).toEqual(state);
});
