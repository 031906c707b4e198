import { setTimeout as sleep } from 'node:timers/promises';
import { describe, expect, test } from 'vitest';

import { systemClock } from '../../src/clock.js';
import { cellBounds, encode } from '../../src/geo/geohash.js';
import { emptyCollection } from '../../src/jobs/emptying.js';
import { repartition } from '../../src/jobs/repartition.js';
import { Spreader } from '../../src/jobs/run-jobs.js';
import { silentLog } from '../../src/log.js';
import { viewportMarkers } from '../../src/map/markers.js';
import { readViewport } from '../../src/map/viewport.js';
import type { Collection } from '../../src/model/collection.js';
import { DEFAULT_LIMITS } from '../../src/model/limits.js';
import { writtenShards } from '../../src/model/spread.js';
import { Loaders } from '../../src/read/loaders.js';
import { spreadHotPrefixes } from '../../src/server/hot-keys.js';
import { createServices } from '../../src/server/services.js';
import { allPrefixes } from '../../src/store/cell/partition-prefixes.js';
import type { CollectionInput, WantedLayout } from '../../src/store/collection/collection-item.js';
import { deleteCollection, everyCollection } from '../../src/store/collection/collections.js';
import { beginLayoutChange, endPhase } from '../../src/store/collection/layout-change.js';
import { beginSpread, completeSpread } from '../../src/store/collection/spread.js';
import { newCall } from '../../src/store/database.js';
import { newMarkerItem } from '../../src/store/marker/marker-item.js';
import { updateMarker } from '../../src/store/marker/marker-update.js';
import { createMarkers, putMarkersInBulk } from '../../src/store/marker/markers.js';
import { upsertMarkers } from '../../src/store/marker/upsert.js';
import { NOW } from '../map/fixture.js';
import { allItems, consumeThroughout, markerEntries, storedEntries, untilRead } from '../stream/support.js';
import { testPages } from '../support/page-services.js';
import { randomFrom } from '../support/random.js';
import { inTurn, rounds } from '../support/rounds.js';
import { testCollection, testDatabase } from '../support/test-database.js';
import { currentCollection, Fleet, markerAt } from './repartition-clients.js';

const turn = inTurn(2);
const db = await testDatabase('readable', { stream: true });
const consumer = consumeThroughout(db);
const never = new AbortController().signal;

const seed = Number(process.env['CELLPORT_SEED'] ?? Math.floor(Math.random() * 1e9));
const make = (input: Partial<CollectionInput> & { readonly key: string }) =>
  testCollection(db, { name: input.key, ...input }, NOW);
const current = (key: string) => currentCollection(db, key);

const SETTLE_MS = 60_000;

/** Lets writers spread what is gathered, once `settle` has resolved: as many jobs as are killed before one does. */
async function complete(key: string, settle: () => Promise<void>, kills: number): Promise<void> {
  let now = 0;
  const spreader = () => new Spreader(db, { ...systemClock, now: () => now }, SETTLE_MS, silentLog);
  for (let left = kills; ; left -= 1) {
    const own = spreader();
    await own.look([await current(key)]);
    expect((await current(key)).spread?.at(-1)?.phase).toBe('GATHER');
    now += SETTLE_MS - 1;
    await own.look([await current(key)]);
    expect((await current(key)).spread?.at(-1)?.phase).toBe('GATHER');
    await settle();
    now += 1;
    if (left > 0) continue;
    await own.look([await current(key)]);
    break;
  }
  expect((await current(key)).spread?.map(({ phase }) => phase)).not.toContain('GATHER');
}

/** The partitions of one geo index that have a collection's markers, with how many. */
async function partitions(key: string, attribute: 'gpkA' | 'gpkB'): Promise<Record<string, number>> {
  const found: Record<string, number> = {};
  for (const item of await allItems(db, db.tables.entities)) {
    const pk = String(item[attribute]);
    if (pk.startsWith(`marker::${key}::`)) found[pk] = (found[pk] ?? 0) + 1;
  }
  return found;
}

describe('prefixes that are spread', () => {
  test(`lose no marker for any reader, by index and pages, also while the layout changes (seed ${seed})`, async ({
    skip,
    task,
  }) => {
    skip(!turn(task));
    const writeShards = 1 + (seed % 2);
    const key = 'parallel';
    const collection = await make({ key, prefixLength: 1, writeShards });
    const random = randomFrom(seed);
    const steady = new Map(
      Array.from({ length: rounds('steadyMarkers') }, (_, n) => [`steady-${n}`, markerAt(random)]),
    );
    const items = [...steady].map(([name, marker]) => newMarkerItem(db, collection, { key: name, ...marker }, NOW));
    await putMarkersInBulk(newCall(db), items);
    await untilRead(db);
    const fleet = new Fleet(db, key, steady, () => consumer.status());
    for (let client = 0; client < rounds('clientsOfLayout'); client += 1) fleet.start(seed + client);
    for (const prefix of ['u', 's']) {
      await beginSpread(newCall(db), key, prefix);
      await complete(key, () => fleet.settle(), 2);
    }
    // Until clients have moved some of theirs.
    const spread = new RegExp(`^marker::${key}::u::[${writeShards}-9]`);
    await expect
      .poll(async () => Object.keys(await partitions(key, 'gpkA')).filter((pk) => spread.test(pk)).length, {
        timeout: 60_000,
      })
      .toBeGreaterThan(3);
    await fleet.settle();
    await beginLayoutChange(newCall(db), key, { prefixLength: 2, writeShards: 1 });
    const options = {
      worker: { database: db, self: 'test', ownerIsGone: () => false, clock: systemClock, leaseMs: 10_000 },
      settle: () => fleet.settle(),
      occupied: async (own: Collection) => allPrefixes(own),
      maxWcu: 40_000,
      onProgress: () => undefined,
    };
    while (!(await repartition(options, await current(key), {}, never))) await sleep(10);
    // On a busy machine, it may take longer than the change.
    await expect.poll(() => Math.min(fleet.compared.INDEX, fleet.compared.PAGES)).toBeGreaterThan(5);
    await fleet.stop();
    expect(await partitions(key, 'gpkA')).toEqual({});
    expect(Object.keys(await partitions(key, 'gpkB')).filter((pk) => pk.split('::')[2]?.length !== 2)).toEqual([]);
    await untilRead(db);
    expect(await storedEntries(db)).toEqual(await markerEntries(db));
  });

  test('never hide a marker that moves within them, from readers as slow as may be', async () => {
    const key = 'movers';
    const old = await make({ key, prefixLength: 1 });
    const random = randomFrom(seed);
    const { west, south, east, north } = cellBounds('u');
    const somewhere = () => ({ lng: west + random() * (east - west), lat: south + random() * (north - south) });
    const names = Array.from({ length: 24 }, (_, n) => `m${n}`);
    await createMarkers(
      newCall(db),
      old,
      names.map((name) => ({ key: name, position: somewhere() })),
      NOW,
    );
    const services = createServices(db, { consumerStatus: () => consumer.status(), cacheBytes: 0 });
    const { trust } = testPages({ trusted: false });
    const viewport = readViewport({ bounds: { west, south, east: east - 1e-6, north: north - 1e-6 }, zoom: 8 });
    let reads = 0;
    let done = false;
    async function read(): Promise<void> {
      const call = newCall(db);
      const loaders = new Loaders({ ...services, trust }, call);
      const context = {
        loaders,
        keys: db.keys,
        limits: DEFAULT_LIMITS,
        turn: db.scheduler.takeTurn,
        scheduler: db.scheduler,
      };
      const page = await viewportMarkers(context, viewport, key, { first: 1_000 });
      expect(page.edges.map(({ node }) => node.key).toSorted()).toEqual(names.toSorted());
      reads += 1;
    }
    async function move(own: readonly string[]): Promise<void> {
      while (!done) {
        const collection = await current(key);
        for (const name of own) {
          await updateMarker(newCall(db), { collection, key: name }, { position: somewhere() }, { now: NOW });
          await sleep(10);
        }
      }
    }
    const moving = [0, 1, 2].map((part) => move(names.filter((_, n) => n % 3 === part)));
    const reading = [0, 1].map(async () => {
      for (; !done; await sleep(10)) await read();
    });
    const failed = Promise.all([...moving, ...reading]);
    failed.catch(() => (done = true));
    await beginSpread(newCall(db), key, 'u');
    // Longer than collections are cached.
    await complete(key, () => sleep(2_500), 0);
    const before = reads;
    await expect.poll(() => done || reads > before + 20, { timeout: 60_000 }).toBe(true);
    done = true;
    await failed;
    expect(Object.keys(await partitions(key, 'gpkA')).length).toBeGreaterThan(4);
  });

  test('keep markers that do not move where they are, and are emptied with their collection', async () => {
    const key = 'still';
    const collection = await make({ key, prefixLength: 1 });
    const inputs = Array.from({ length: 12 }, (_, n) => ({ key: `m${n}`, position: { lng: 11 + n / 10, lat: 50 } }));
    await createMarkers(newCall(db), collection, inputs, NOW);
    await beginSpread(newCall(db), key, 'u');
    await complete(key, async () => undefined, 1);
    const spread = await current(key);
    expect(spread.spread).toEqual([{ geoSlot: 'A', prefix: 'u', shards: 8, phase: 'SPREAD' }]);
    const upserted = await upsertMarkers(newCall(db), spread, inputs, NOW);
    expect(upserted.written.map(({ outcome }) => outcome)).toEqual(inputs.map(() => 'unchanged'));
    for (const { key: name } of inputs.slice(0, 6)) {
      await updateMarker(newCall(db), { collection: spread, key: name }, { name: 'renamed' }, { now: NOW });
    }
    expect(await partitions(key, 'gpkA')).toEqual({ 'marker::still::u': 12 });
    const moved = inputs.map((input) => ({ ...input, position: { ...input.position, lat: 50.5 } }));
    await upsertMarkers(newCall(db), spread, moved, NOW);
    const after = await partitions(key, 'gpkA');
    expect(Object.keys(after).every((pk) => /^marker::still::u::[0-7]$/.test(pk))).toBe(true);
    await deleteCollection(newCall(db), key, NOW);
    const emptying: Collection[] = [];
    for await (const some of everyCollection(newCall(db), 'emptying', { consistent: true })) emptying.push(...some);
    const deleted = emptying.find((each) => each.key === key);
    if (!deleted) throw new Error('the collection is not being emptied');
    const worker = { database: db, self: 'test', ownerIsGone: () => false, clock: systemClock, leaseMs: 10_000 };
    const cellsCaughtUp = async () => {
      await untilRead(db);
      return true;
    };
    await emptyCollection(
      { worker, cellsCaughtUp, removeSource: async () => undefined, settleMs: 0, log: silentLog },
      deleted,
      {},
      never,
    );
    expect(await partitions(key, 'gpkA')).toEqual({});
  });

  test('are those for which a server consumes the most write units', async () => {
    const key = 'hot';
    await make({ key, prefixLength: 2, writeShards: 4 });
    const cell = encode({ lng: 13.4, lat: 52.5 }, 2);
    const hot = (pk: string, writeUnits: number, index: string | null = 'geoA') => ({ index, key: pk, writeUnits });
    const prefixes = async () => ((await current(key)).spread ?? []).map(({ prefix, shards }) => [prefix, shards]);
    const keys = [
      hot(`marker::hot::${cell}::3`, 799),
      hot('marker::hot::u0::1', 2_000, 'geoB'),
      hot('marker::hot::m', 900, null),
    ];
    await spreadHotPrefixes(db, keys, 800, silentLog);
    expect(await prefixes()).toEqual([]);
    await spreadHotPrefixes(
      db,
      [...keys, hot(`marker::hot::${cell}::2`, 800), hot('marker::gone::u0', 900)],
      800,
      silentLog,
    );
    expect(await prefixes()).toEqual([[cell, 32]]);
    const { version } = await current(key);
    await spreadHotPrefixes(db, [hot(`marker::hot::${cell}::5`, 900)], 800, silentLog);
    expect((await current(key)).version).toBe(version);
  });

  test('have the length of those in the keys, and cannot be had while the layout changes, or with all shards', async () => {
    await make({ key: 'bad', prefixLength: 2 });
    for (const prefix of ['u', 'ua', '', 'u33']) {
      await expect(beginSpread(newCall(db), 'bad', prefix)).rejects.toMatchObject({
        code: 'BAD_USER_INPUT',
        details: { field: 'prefix' },
      });
    }
    await expect(beginSpread(newCall(db), 'none', 'u3')).rejects.toMatchObject({ code: 'NOT_FOUND' });
    await make({ key: 'full', prefixLength: 0, writeShards: 32 });
    await expect(beginSpread(newCall(db), 'full', '')).rejects.toMatchObject({ code: 'LIMIT_EXCEEDED' });
    await beginLayoutChange(newCall(db), 'bad', { prefixLength: 3 });
    await expect(beginSpread(newCall(db), 'bad', 'u3')).rejects.toMatchObject({ code: 'CONFLICT' });
  });
});

/** As `repartition` does for a collection without markers. */
async function repartitioned(key: string, wanted: WantedLayout): Promise<Collection> {
  await beginLayoutChange(newCall(db), key, wanted);
  for (let phase = 0; phase < 3; phase += 1) await endPhase(newCall(db), await current(key));
  return current(key);
}

test('a prefix stays spread until a repartition, no longer', async () => {
  const key = 'twice';
  const made = await make({ key, prefixLength: 1 });
  await beginSpread(newCall(db), key, 'u');
  await completeSpread(newCall(db), made, () => true);
  expect(writtenShards(await current(key), 'u')).toBe(8);
  await repartitioned(key, { prefixLength: 1, writeShards: 16 });
  const again = await repartitioned(key, { prefixLength: 1, writeShards: 32 });
  expect(again).toMatchObject({ geoSlot: 'A', writeShards: 32 });
  expect(writtenShards(again, 's')).toBe(32);
  // The hot prefix has fewer partitions than all others.
  expect(writtenShards(again, 'u')).toBe(32);
});

test('prefixes spread in a former layout do not count towards the most', async () => {
  const key = 'many';
  const made = await make({ key, prefixLength: 2 });
  const alphabet = '0123456789bcdefghjkmnpqrstuvwxyz';
  for (const first of 'us') for (const second of alphabet) await beginSpread(newCall(db), key, first + second);
  await completeSpread(newCall(db), made, () => true);
  await repartitioned(key, { prefixLength: 3 });
  await expect(beginSpread(newCall(db), key, 'u3b')).resolves.toMatchObject({ prefixLength: 3 });
});
