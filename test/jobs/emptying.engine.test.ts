import { randomUUID } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import { describe, expect, test } from 'vitest';

import { systemClock } from '../../src/clock.js';
import { emptyCollection, type EmptyingOptions } from '../../src/jobs/emptying.js';
import { runJobs } from '../../src/jobs/run-jobs.js';
import { silentLog } from '../../src/log.js';
import type { Collection } from '../../src/model/collection.js';
import { inBackground } from '../../src/server/background.js';
import type { CollectionInput } from '../../src/store/collection/collection-item.js';
import { deleteCollection, getCollections, listCollections } from '../../src/store/collection/collections.js';
import { newCall, type Database } from '../../src/store/database.js';
import { newMarkerItem } from '../../src/store/marker/marker-item.js';
import { createMarker, createMarkers, putMarkersInBulk } from '../../src/store/marker/markers.js';
import { deleteMarker } from '../../src/store/removal/markers.js';
import { putInBulk } from '../../src/store/request/batches.js';
import { createZone } from '../../src/store/zone/zones.js';
import {
  allItems,
  consumeThroughout,
  countedCells,
  countedPlaces,
  storedCells,
  storedPlaces,
} from '../stream/support.js';
import { interceptCalls } from '../support/faults.js';
import { recordCalls } from '../support/record-calls.js';
import { inTurn, variants } from '../support/rounds.js';
import { line } from '../support/shapes.js';
import { newDatabase, testCollection, testDatabase } from '../support/test-database.js';

const NOW = '2026-11-21T10:00:00.000Z';
const styles = variants(['readable', 'compact'] as const);
const readable = await testDatabase('readable', { stream: true });
const compact = styles.includes('compact') ? await testDatabase('compact', { stream: true }) : readable;
const databases = { readable, compact };
const consumers = new Map([...new Set(Object.values(databases))].map((db) => [db.tables, consumeThroughout(db)]));

/** Resolves once the cells include everything that was written before the call. */
async function cellsCaughtUp({ tables }: Database): Promise<boolean> {
  const from = performance.now() + 300;
  for (;;) {
    const { behindMs } = consumers.get(tables)!.status();
    if (behindMs !== undefined && performance.now() - behindMs >= from) return true;
    await sleep(20);
  }
}

function optionsOf(database: Database, more: Partial<EmptyingOptions> = {}): EmptyingOptions {
  return {
    worker: {
      database,
      self: randomUUID(),
      ownerIsGone: () => false,
      clock: systemClock,
      leaseMs: 1_000,
    },
    cellsCaughtUp: () => cellsCaughtUp(database),
    removeSource: async () => undefined,
    settleMs: 0,
    log: silentLog,
    ...more,
  };
}

const never = new AbortController().signal;
const empty = (database: Database, collection: Collection, options = optionsOf(database)) =>
  emptyCollection(options, collection, {}, never);

/** A collection with everything that one can contain: markers at places, with global IDs and readings, a sequence, and a zone. */
async function fill(database: Database, input: Partial<CollectionInput> & { readonly key: string }, markers = 30) {
  // Emptying covers every prefix: 32 of one character, 1,024 of two.
  const short = { name: input.key, code: 'Xx', globalIds: true, idStrategy: 'SEQUENCE', prefixLength: 1 } as const;
  const said = { ...short, ...input };
  const collection = await testCollection(database, said, NOW);
  const inputs = Array.from({ length: markers }, (_, n) => ({
    position: { lng: ((n * 37) % 360) - 180, lat: ((n * 17) % 180) - 90 },
    place: ['A', String(n % 7)],
  }));
  const { written } = await createMarkers(newCall(database), collection, inputs, NOW);
  const readings = written.slice(0, 10).flatMap(({ after }, n) =>
    Array.from({ length: n * 8 }, (_, at) => ({
      pk: after?.['pk'],
      sk: `reading::2026-01-01T00:00:${String(at % 60).padStart(2, '0')}.${String(at).padStart(3, '0')}Z`,
      of: after?.['life'],
    })),
  );
  await putInBulk(newCall(database), database.tables.entities, readings);
  if (markers > 0) {
    const geometry = line('16 52, 18 53');
    await createZone(newCall(database), collection, { geometry }, NOW);
  }
  return collection;
}

/** All items of a collection in both tables, except counts of zero. */
async function leftOf(database: Database, { key, code }: Collection): Promise<unknown[]> {
  const scope = database.keys.style === 'readable' ? key : code;
  const mine = (pk: unknown) => String(pk).split('::')[1] === scope || String(pk).startsWith(`${scope}`);
  const items = await allItems(database, database.tables.entities);
  const collections = items.filter(({ pk, sk }) => pk === database.keys.collectionsPartition && sk === key);
  const counts = Object.keys({ ...(await storedCells(database)), ...(await storedPlaces(database)) });
  const cells = counts.filter((name) => name.startsWith(`${scope}/`));
  return [...items.filter(({ pk }) => mine(pk)), ...collections, ...cells];
}

describe.each(styles)('a deleted collection, with %s keys', async (style) => {
  const db = databases[style];

  test('disappears at once for every reader; its key and code are reserved until nothing is left of it', async () => {
    const neighbor = await fill(db, { key: 'neighbor', code: 'Nb' }, 20);
    const parks = await fill(db, { key: 'parks', code: 'Pk' });
    const own = newDatabase(style, { tables: db.tables });
    const calls = recordCalls(own);
    const { collection } = await deleteCollection(newCall(own), 'parks', NOW);
    expect(calls.commands.map(({ name }) => name)).toEqual(['GetItem', 'UpdateItem']);
    expect(collection).toEqual(parks);
    expect(await getCollections(newCall(db), ['parks'])).toEqual([null]);
    expect((await listCollections(newCall(db), { first: 10 })).collections.map(({ key }) => key)).toEqual(['neighbor']);
    const again = { key: 'parks', name: 'Parks', code: 'Pk' };
    await expect(testCollection(db, again, NOW)).rejects.toMatchObject({ code: 'CONFLICT' });
    await expect(deleteCollection(newCall(db), 'parks', NOW)).rejects.toMatchObject({ code: 'NOT_FOUND' });
    if (style === 'compact') {
      await expect(testCollection(db, { ...again, key: 'other' }, NOW)).rejects.toMatchObject({
        code: 'CONFLICT',
      });
    }

    calls.reset();
    expect(await empty(own, parks)).toBe(true);
    expect(calls.count('Scan')).toBe(0);
    own.client.destroy();
    expect(await leftOf(db, parks)).toEqual([]);
    expect((await leftOf(db, neighbor)).length).toBeGreaterThan(20);

    const recreated = await testCollection(db, { ...again, idStrategy: 'SEQUENCE' }, NOW);
    expect((await createMarker(newCall(db), recreated, { position: { lng: 1, lat: 2 } }, NOW)).marker.key).toBe('1');
    await cellsCaughtUp(db);
    expect(await storedCells(db)).toEqual(await countedCells(db));
    expect(await storedPlaces(db)).toEqual(await countedPlaces(db));
  });
});

describe('emptying', async () => {
  const turn = inTurn(2);
  const db = databases.readable;
  const client = () => newDatabase('readable', { tables: db.tables });

  test.runIf(turn())('is continued by another process when one is killed, without repeating its work', async () => {
    const huts = await fill(db, { key: 'huts' }, 80);
    await deleteCollection(newCall(db), 'huts', NOW);
    for (let process = 0; process < 2; process += 1) {
      const dying = client();
      let calls = 0;
      interceptCalls(dying, 'BatchExecuteStatement', async (input, ask) => {
        if ((calls += 1) > 2) throw new Error('killed');
        return ask(input);
      });
      // Dead processes hand nothing over, so their lease must expire.
      interceptCalls(dying, 'PutItem', async (input, ask) => {
        if (calls > 2) throw new Error('killed');
        return ask(input);
      });
      const seen = {};
      const options = optionsOf(dying);
      for (;;) {
        const outcome = await emptyCollection(options, huts, seen, never).catch((error: Error) => error.message);
        if (outcome !== false) {
          expect(outcome).toBe('killed');
          break;
        }
        await sleep(100);
      }
      dying.client.destroy();
    }
    await expect(testCollection(db, { key: 'huts', name: 'Huts' }, NOW)).rejects.toMatchObject({
      code: 'CONFLICT',
    });
    const seen = {};
    const options = optionsOf(db);
    while (!(await emptyCollection(options, huts, seen, never))) await sleep(100);
    expect(await leftOf(db, huts)).toEqual([]);
  });

  test('is done by one process at a time', async () => {
    const inns = await fill(db, { key: 'inns' }, 40);
    await deleteCollection(newCall(db), 'inns', NOW);
    const first = empty(db, inns, optionsOf(db, { settleMs: 1_000 }));
    await sleep(300);
    expect(await empty(db, inns)).toBe(false);
    expect(await first).toBe(true);
    expect(await leftOf(db, inns)).toEqual([]);
  });

  test('removes markers written by a process unaware of the deletion', async () => {
    const cafes = await fill(db, { key: 'cafes' }, 10);
    await deleteCollection(newCall(db), 'cafes', NOW);
    const emptying = empty(db, cafes, optionsOf(db, { settleMs: 2_000 }));
    // Its copy of the collection predates the deletion.
    for (let n = 0; n < 5; n += 1) {
      await createMarker(newCall(db), cafes, { position: { lng: n, lat: n } }, NOW);
      await sleep(100);
    }
    expect(await emptying).toBe(true);
    expect(await leftOf(db, cafes)).toEqual([]);
  });

  test.runIf(turn())('finds markers of long prefixes through the cells, without reading empty partitions', async () => {
    const deep = await fill(db, { key: 'deep', prefixLength: 6, writeShards: 2 }, 4);
    await deleteCollection(newCall(db), 'deep', NOW);
    const own = client();
    const calls = recordCalls(own);
    expect(await empty(own, deep)).toBe(true);
    own.client.destroy();
    // 4 cells of five characters, 32 prefixes each, 2 shards.
    expect(calls.count('Query')).toBeLessThan(4 * 32 * 2 + 200);
    expect(await leftOf(db, deep)).toEqual([]);
  });

  test.runIf(turn())(
    'finds the markers of a collection without a geo index on its pages, once these are exact',
    async () => {
      const unlisted = await fill(db, { key: 'unlisted', geoIndex: false, prefixLength: null });
      await deleteCollection(newCall(db), 'unlisted', NOW);
      const inexact = optionsOf(db, { cellsCaughtUp: async () => false });
      await expect(empty(db, unlisted, inexact)).rejects.toThrow(/run `cellport recount`/);
      const seen = {};
      while (!(await emptyCollection(optionsOf(db), unlisted, seen, never))) await sleep(100);
      expect(await leftOf(db, unlisted)).toEqual([]);
    },
  );

  test.runIf(turn())('finds them all even if the cells are wrong', async () => {
    const wrong = await testCollection(db, { key: 'wrong', name: 'Wrong', prefixLength: 1 }, NOW);
    const items = Array.from({ length: 30 }, (_, n) =>
      newMarkerItem(db, wrong, { key: `w${n}`, position: { lng: n * 10 - 150, lat: 50 } }, NOW),
    );
    await putMarkersInBulk(newCall(db), items);
    await deleteCollection(newCall(db), 'wrong', NOW);
    // The cells are not read if there are few partitions.
    expect(await empty(db, wrong, optionsOf(db, { cellsCaughtUp: async () => false }))).toBe(true);
    await cellsCaughtUp(db);
    expect(await leftOf(db, wrong)).toEqual([]);
  });

  test('never removes anything created after the key was released, however late a process resumes', async () => {
    const bays = await fill(db, { key: 'bays', idStrategy: 'GIVEN' }, 0);
    await createMarker(newCall(db), bays, { key: 'a', position: { lng: 1, lat: 2 } }, NOW);
    await deleteCollection(newCall(db), 'bays', NOW);
    const late = client();
    let wake: () => void = () => undefined;
    const woken = new Promise<void>((resolve) => (wake = resolve));
    let asleep: (() => void) | undefined;
    const sleeps = new Promise<void>((resolve) => (asleep = resolve));
    let standsStill = false;
    // It has found the marker, and pauses before removing it.
    interceptCalls(late, 'BatchExecuteStatement', async (input, ask) => {
      standsStill = true;
      asleep?.();
      await woken;
      return ask(input);
    });
    interceptCalls(late, 'PutItem', (input, ask) =>
      standsStill ? Promise.reject(new Error('stands still')) : ask(input),
    );
    const lagging = empty(late, bays).catch((error: Error) => error);
    await sleeps;
    const seen = {};
    const options = optionsOf(db);
    while (!(await emptyCollection(options, bays, seen, never))) await sleep(100);
    const recreated = await testCollection(db, { key: 'bays', name: 'Bays' }, '2026-11-22T10:00:00.000Z');
    const { after } = await createMarker(newCall(db), recreated, { key: 'a', position: { lng: 1, lat: 2 } }, NOW);
    wake();
    await lagging;
    expect(await leftOf(db, recreated)).toEqual(expect.arrayContaining([after]));
    expect(await getCollections(newCall(db), ['bays'])).toEqual([recreated]);
    late.client.destroy();
  });
});

test('work left for the background is done by any process that runs jobs', async () => {
  const db = databases.readable;
  const kept = await fill(db, { key: 'kept', idStrategy: 'GIVEN' }, 0);
  const gone = await fill(db, { key: 'gone' }, 15);
  const sensor = async (key: string) => {
    const { after } = await createMarker(newCall(db), kept, { key, position: { lng: 1, lat: 2 } }, NOW);
    const reading = { pk: after?.['pk'], sk: 'reading::2026-01-01T00:00:00.000Z', of: after?.['life'] };
    await putInBulk(newCall(db), db.tables.entities, [reading]);
  };
  await sensor('dead');
  await sensor('alive');
  // Both deletions die: one after the marker's own, one before.
  for (const [key, command] of [
    ['dead', 'BatchExecuteStatement'],
    ['alive', 'DeleteItem'],
  ] as const) {
    const dying = newDatabase('readable', { tables: db.tables });
    interceptCalls(dying, command, () => Promise.reject(new Error('killed')));
    await expect(deleteMarker(newCall(dying), { collection: kept, key }, { now: NOW })).rejects.toThrow('killed');
    dying.client.destroy();
  }
  const remains = async () => {
    const items = (await leftOf(db, kept)).filter((item) => typeof item === 'object') as { pk: string; sk: string }[];
    return items.map(({ pk, sk }) => `${pk}#${sk}`).sort();
  };
  expect(await remains()).toContain('marker::kept::dead#reading::2026-01-01T00:00:00.000Z');
  await deleteCollection(newCall(db), 'gone', NOW);

  const wall = () => Date.parse(NOW) + 3_600_000;
  const options = optionsOf(db);
  const worker = { ...options.worker, clock: { ...systemClock, wall } };
  const jobs = inBackground((signal) => runJobs({ ...options, worker, everyMs: 50 }, signal));
  while ((await leftOf(db, gone)).length > 0 || (await remains()).some((id) => id.startsWith('job'))) await sleep(100);
  await jobs.stop();
  expect(await remains()).toEqual([
    'collection#kept',
    'marker::kept::alive#reading::2026-01-01T00:00:00.000Z',
    'marker::kept::alive#self',
  ]);
});
