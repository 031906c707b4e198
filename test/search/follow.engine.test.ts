import { expect, test } from 'vitest';

import type { Collection } from '../../src/model/collection.js';
import { openEmbeddedEngine } from '../../src/search/embedded/embedded-engine.js';
import type { SearchEngine, SearchQuery } from '../../src/search/engine.js';
import { IndexFollower } from '../../src/search/follow.js';
import { openSearchTables } from '../../src/search/tables.js';
import { wordsOf } from '../../src/search/words.js';
import { inBackground } from '../../src/server/background.js';
import { deleteCollection, updateCollection } from '../../src/store/collection/collections.js';
import { newCall } from '../../src/store/database.js';
import { updateMarker } from '../../src/store/marker/marker-update.js';
import { createMarker } from '../../src/store/marker/markers.js';
import { deleteMarker } from '../../src/store/removal/markers.js';
import { until } from '../live/support.js';
import { allItems, streamParts } from '../stream/support.js';
import { randomFrom } from '../support/random.js';
import { inTurn, runsAll, variants } from '../support/rounds.js';
import { temporaryFolder } from '../support/temporary-folder.js';
import { testCollection, testDatabase } from '../support/test-database.js';

const turn = inTurn(2);
const NOW = '2026-11-21T10:00:00.000Z';
const EVERYTHING: SearchQuery = { words: [], scopes: undefined, area: undefined, near: undefined };
const folder = temporaryFolder();

const db = await testDatabase('readable', { stream: true });
const named = (text: string): SearchQuery => ({ ...EVERYTHING, words: wordsOf(text) });

interface Running {
  readonly engine: SearchEngine;
  readonly follower: IndexFollower;
  stop(): Promise<void>;
}

/** An index that follows the table until it is stopped; the file stays. */
async function follow(
  table: string,
  scanned: string[] = [],
  beforeScan: () => Promise<void> = () => Promise.resolve(),
): Promise<Running> {
  const engine = await openEmbeddedEngine({ folder, table, maxBytes: 2 ** 26 }, () => Date.now());
  const tables = openSearchTables(db, 'cells');
  const readItems: typeof tables.readItems = async (after) => {
    scanned.push(table);
    await beforeScan();
    return tables.readItems(after);
  };
  const follower = new IndexFollower({
    ...streamParts(db),
    turn: db.scheduler.takeTurn,
    engine,
    tables: { ...tables, readItems },
  });
  const running = inBackground((signal) => follower.run(signal));
  return {
    engine,
    follower,
    async stop() {
      await running.stop();
      await engine.close();
    },
  };
}

const create = (collection: Collection, key: string, name: string, properties = {}) =>
  createMarker(newCall(db), collection, { key, name, position: { lng: 1, lat: 1 }, properties }, NOW);
const remove = (collection: Collection, key: string) => deleteMarker(newCall(db), { collection, key }, { now: NOW });

/** The names of all markers in the table, with their keys. */
async function inTable(): Promise<string[]> {
  const items = await allItems(db, db.tables.entities);
  return items
    .filter(({ lng }) => lng !== undefined)
    .map(({ pk, name }) => `${String(pk)} ${String(name)}`)
    .toSorted();
}

/**
 * The same for the index: for each marker found, the name in the table if the index finds the marker by that name
 * alone.
 */
async function inIndex(engine: SearchEngine): Promise<string[]> {
  const known = await inTable();
  const hits = await engine.search({ ...EVERYTHING, scopes: ['parks'] }, { after: undefined, limit: 1_000 });
  const found = hits.filter(({ key }) => key.sk === 'self');
  const lines = await Promise.all(
    found.map(async ({ key }) => {
      const line = known.find((own) => own.startsWith(`${key.pk} `));
      const name = line?.slice(key.pk.length + 1) ?? '';
      const byName = await engine.search(named(name), { after: undefined, limit: 1_000 });
      return byName.some((hit) => hit.score === 1 && hit.key.pk === key.pk)
        ? (line ?? '')
        : `${key.pk} is not found as ${name}`;
    }),
  );
  return lines.toSorted();
}

test('an index follows creations, changes, deletions and new markers under old keys, through restarts', async ({
  skip,
  task,
}) => {
  skip(!turn(task));
  const parks = await testCollection(db, { key: 'parks', name: 'Parks', rankBy: 'size' }, NOW);
  for (let n = 0; n < 20; n += 1) await create(parks, `m${n}`, `before ${n}`);
  const scanned: string[] = [];
  let running = await follow('restarts', scanned);
  expect(running.follower.status.state).toBe('building');
  await until(() => running.follower.status.state === 'following');
  expect(await inIndex(running.engine)).toEqual(await inTable());
  expect(scanned.length).toBe(1);

  const next = randomFrom(7);
  const existing = new Set(Array.from({ length: 20 }, (_, n) => `m${n}`));
  for (let round = 0; round < (runsAll ? 3 : 2); round += 1) {
    for (let n = 0; n < 30; n += 1) {
      const key = `m${Math.floor(next() * 25)}`;
      const name = `round ${round} ${n}`;
      if (!existing.has(key)) {
        await create(parks, key, name);
        existing.add(key);
      } else if (next() < 0.4) {
        await remove(parks, key);
        existing.delete(key);
      } else await updateMarker(newCall(db), { collection: parks, key }, { name }, { now: NOW });
      // In the middle of the writes, at a different point each time.
      if (n === round * 9) {
        await running.stop();
        running = await follow('restarts', scanned);
      }
    }
  }
  await until(async () => JSON.stringify(await inIndex(running.engine)) === JSON.stringify(await inTable()), 200);
  // It resumed from its checkpoint: the table was read only once.
  expect(scanned.length).toBe(1);

  // A number used for ranking, and another one.
  await create(parks, 'small', 'Ranked', { size: 1, depth: 9 });
  await create(parks, 'large', 'Ranked', { size: 7, depth: 2 });
  const ranked = async () =>
    (await running.engine.search(named('ranked'), { after: undefined, limit: 9 })).map(
      ({ key }) => key.pk.split('::')[2],
    );
  await until(async () => (await ranked()).length === 2);
  expect(await ranked()).toEqual(['large', 'small']);
  await updateCollection(newCall(db), 'parks', { rankBy: 'depth' }, { now: NOW });
  await until(async () => (await ranked()).join() === 'small,large' && running.follower.status.state === 'following');
  expect(scanned.length).toBe(2);

  await until(async () => (await running.engine.count(named('parks'))) === 1);
  await deleteCollection(newCall(db), 'parks', NOW);
  await until(async () => (await running.engine.count(named('parks'))) === 0);
  await running.stop();
});

test('an index answers and follows while it adopts new ranks', async () => {
  const towns = await testCollection(db, { key: 'towns', name: 'Places', rankBy: 'size' }, NOW);
  await create(towns, 'small', 'Hamlet', { size: 1, depth: 9 });
  await create(towns, 'large', 'Hamlet', { size: 7, depth: 2 });
  const scanned: string[] = [];
  let goOn = () => {};
  let waiting: Promise<void> | undefined;
  const running = await follow('ranks', scanned, () => waiting ?? Promise.resolve());
  const found = async () => {
    expect(running.follower.status.state).toBe('following');
    const hits = await running.engine.search(named('hamlet'), { after: undefined, limit: 9 });
    return hits.map(({ key }) => key.pk.split('::')[2]).join();
  };
  await until(() => running.follower.status.state === 'following');
  expect(await found()).toBe('large,small');
  const before = scanned.length;
  await create(towns, 'new', 'Hamlet', { size: 3, depth: 5 });
  await until(async () => (await found()) === 'large,new,small');

  waiting = new Promise((resolve) => {
    goOn = resolve;
  });
  await updateCollection(newCall(db), 'towns', { rankBy: 'depth' }, { now: NOW });
  await until(async () => {
    expect(await found()).toBe('large,new,small');
    return scanned.length > before;
  });
  // Written while the table is read: the index is not emptied, and includes it afterwards.
  await create(towns, 'last', 'Hamlet', { size: 9, depth: 1 });
  expect(await found()).toBe('large,new,small');
  goOn();
  await until(async () => (await found()) === 'small,new,large,last');
  await running.stop();
});

test('an index of another stream, or with a checkpoint from which the stream cannot continue, is rebuilt', async () => {
  const first = await follow('replaced');
  await until(() => first.follower.status.state === 'following');
  const before = await inIndex(first.engine);
  await first.stop();

  const spoiled = [
    (text: string) => text.replace(/"stream":"[^"]*"/, '"stream":"another"'),
    // Nothing was read for more than a day.
    (text: string) => text.replaceAll(/"since":\d+/g, '"since":1'),
  ];
  for (const spoil of variants(spoiled)) {
    const engine = await openEmbeddedEngine({ folder, table: 'replaced', maxBytes: 2 ** 26 }, () => Date.now());
    await engine.write([], spoil((await engine.checkpoint()) ?? ''));
    await engine.close();
    const scanned: string[] = [];
    const again = await follow('replaced', scanned);
    await until(() => scanned.length > 0 && again.follower.status.state === 'following');
    expect(await inIndex(again.engine)).toEqual(before);
    await again.stop();
  }
});
