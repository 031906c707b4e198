import { join } from 'node:path';
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';

import { normalizeBounds } from '../../src/geo/bounds.js';
import { writeToFile } from '../../src/ingest/export/output.js';
import { readMarkers, type MarkersJob } from '../../src/ingest/export/read-markers.js';
import { writeMarkers } from '../../src/ingest/export/write-format.js';
import { importMarkers } from '../../src/ingest/markers/import-markers.js';
import { importStateFile } from '../../src/ingest/markers/import-state.js';
import { openMarkers } from '../../src/ingest/markers/marker-reader.js';
import { FILE_FORMATS, type FileFormat } from '../../src/ingest/read/file-format.js';
import { RejectsFile } from '../../src/ingest/read/rejects.js';
import type { Collection } from '../../src/model/collection.js';
import { allPrefixes, occupiedPrefixes } from '../../src/store/cell/partition-prefixes.js';
import type { CollectionInput } from '../../src/store/collection/collection-item.js';
import { createCollection, deleteCollection } from '../../src/store/collection/collections.js';
import { newCall } from '../../src/store/database.js';
import { newMarkerItem } from '../../src/store/marker/marker-item.js';
import { putMarkersInBulk } from '../../src/store/marker/markers.js';
import { addMarkers, bruteInside, edgePositions } from '../map/fixture.js';
import { interceptCalls } from '../support/faults.js';
import { randomFrom } from '../support/random.js';
import { recordCalls } from '../support/record-calls.js';
import { someOf, variants } from '../support/rounds.js';
import { temporaryFolder } from '../support/temporary-folder.js';
import { newDatabase, testDatabase } from '../support/test-database.js';
import { awkwardMarker, kept, type Kept } from './awkward-markers.js';

const NOW = '2026-11-21T10:00:00.000Z';
const database = await testDatabase();
const calls = recordCalls(database);
const call = newCall(database);

const folder = temporaryFolder();

let made = 0;
const newCollection = (input: Partial<CollectionInput> = {}): Promise<Collection> =>
  createCollection(call, { key: `c${(made += 1)}`, name: 'Test', ...input }, NOW);

async function put(collection: Collection, markers: readonly Kept[]): Promise<void> {
  const items = markers.map((marker) => newMarkerItem(database, collection, marker, NOW));
  await putMarkersInBulk(call, items);
}

async function readAll(collection: Collection, job: Partial<MarkersJob> = {}): Promise<Kept[]> {
  const found: Kept[] = [];
  for await (const markers of readMarkers({ collection, call, ...job })) found.push(...markers.map(kept));
  return found;
}

const keysOf = (markers: readonly { readonly key: string }[]): string[] => markers.map(({ key }) => key).toSorted();
const byKey = (markers: readonly Kept[]): ReadonlyMap<string, Kept> => new Map(markers.map((one) => [one.key, one]));

const at = (key: string, lng: number, lat: number): Kept => ({
  key,
  position: { lng, lat },
  name: null,
  category: null,
  place: [],
  properties: {},
});

/** Markers all over the world, some of them on critical lines. */
function everywhere(count: number): Kept[] {
  const random = randomFrom(11);
  const spread = Array.from({ length: count }, () => ({ lng: random() * 360 - 180, lat: random() * 180 - 90 }));
  return [...edgePositions(), ...spread].map(({ lng, lat }, index) => at(`m${index}`, lng, lat));
}

describe('a collection that is exported and imported', () => {
  async function importFile(path: string, format: FileFormat, collection: Collection) {
    const rejects = new RejectsFile(`${path}.rejects`);
    const { counts } = await importMarkers({
      collection,
      source: await openMarkers(path, format),
      fresh: false,
      identity: path,
      state: importStateFile(join(folder, 'state'), path, path),
      once: false,
      rejects,
      seed: 1,
      now: () => new Date(),
      onChecked: () => undefined,
      onProgress: () => undefined,
      call,
    });
    return counts;
  }

  test('is unchanged in every format, and importing it again changes nothing', async () => {
    const wanted = fc.sample(awkwardMarker, someOf(150)).map((one, index) => ({ ...one, key: `${one.key}${index}` }));
    const from = await newCollection({ prefixLength: 0, mapProperties: ['name', 'place'] });
    await put(from, wanted);
    expect(byKey(await readAll(from))).toEqual(byKey(wanted));
    for (const format of FILE_FORMATS) {
      const path = join(folder, `out.${format}`);
      const markersOfIt = readMarkers({ collection: from, call });
      await writeToFile(path, writeMarkers(format, markersOfIt), new AbortController().signal);
      const to = await newCollection({ prefixLength: 1 });
      const counts = { rejected: 0, updated: 0 };
      expect(await importFile(path, format, to)).toEqual({ ...counts, created: wanted.length, unchanged: 0 });
      expect(byKey(await readAll(to))).toEqual(byKey(wanted));
      expect(await importFile(path, format, from)).toEqual({ ...counts, created: 0, unchanged: wanted.length });
    }
  });
});

describe('the markers of a collection', () => {
  const layouts = [
    { prefixLength: 0, writeShards: 1, queries: 1 },
    { prefixLength: 1, writeShards: 3, queries: 96 },
    { prefixLength: 2, writeShards: 1, queries: 1024 },
  ];
  test.each(variants(layouts))(
    'are read once each with only Query calls: $queries partitions',
    async ({ prefixLength, writeShards, queries }) => {
      const markers = everywhere(550);
      const collection = await newCollection({ prefixLength, writeShards });
      await put(collection, markers);
      calls.reset();
      const found = await readAll(collection);
      expect(keysOf(found)).toEqual(keysOf(markers));
      expect(byKey(found)).toEqual(byKey(markers));
      // A page holds 500 entries.
      expect(calls.count('Query')).toBeLessThanOrEqual(queries + markers.length / 500);
      // One more checks that the collection still exists.
      expect(calls.count('BatchGetItem')).toBe(Math.ceil(markers.length / 100) + 1);
      expect(calls.count('Scan')).toBe(0);
      // The same file each time.
      if (prefixLength < 2)
        expect((await readAll(collection)).map(({ key }) => key)).toEqual(found.map(({ key }) => key));
    },
  );

  test('in a bounding box are those that brute force finds, across the antimeridian and at the poles', async () => {
    const markers = everywhere(500);
    const collection = await newCollection();
    await put(collection, markers);
    const boxes = [
      { west: 170, south: -90, east: -170, north: 90 },
      { west: 180, south: -90, east: 180, north: 90 },
      { west: -180, south: 80, east: 180, north: 90 },
      { west: 170, south: -20, east: 190, north: 20 },
      { west: 11.25, south: 0, east: 45, north: 45 },
      { west: 45, south: 45, east: 45, north: 45 },
      { west: 1, south: 1, east: 1.0001, north: 1.0001 },
      { west: -600, south: -100, east: 600, north: 100 },
    ];
    for (const bounds of boxes) {
      calls.reset();
      const found = await readAll(collection, { area: normalizeBounds('bounds', bounds) });
      const inside = markers.filter(({ position }) => bruteInside(bounds, position));
      expect({ bounds, keys: keysOf(found) }).toEqual({ bounds, keys: keysOf(inside) });
    }
    expect(calls.count('Query')).toBe(1024);
    calls.reset();
    await readAll(collection, { area: normalizeBounds('bounds', { west: 16.8, south: 52.3, east: 17, north: 52.5 }) });
    expect(calls.count('Query')).toBeLessThan(10);
  });

  test('in too many partitions to query each are found through the cells', async () => {
    const markers = everywhere(60).map((one) => ({ ...one, category: '', properties: {} }));
    const collection = await newCollection({ prefixLength: 5 });
    await addMarkers(database, collection, markers, 1);
    const prefixes = await occupiedPrefixes(call, collection);
    calls.reset();
    expect(keysOf(await readAll(collection, { prefixes }))).toEqual(keysOf(markers));
    expect(calls.count('Query')).toBeLessThanOrEqual(markers.length);
    const bounds = { west: 170, south: -90, east: -170, north: 90 };
    const found = await readAll(collection, { prefixes, area: normalizeBounds('bounds', bounds) });
    const inside = markers.filter(({ position }) => bruteInside(bounds, position));
    expect(inside.length).toBeGreaterThan(3);
    expect(keysOf(found)).toEqual(keysOf(inside));
  });

  test('of an empty collection are none', async () => {
    const collection = await newCollection({ prefixLength: 1 });
    expect(await readAll(collection)).toEqual([]);
    expect(await readAll(collection, { prefixes: allPrefixes(collection) })).toEqual([]);
  });

  test('that are deleted meanwhile are skipped, and a deleted collection is a CONFLICT', async () => {
    const collection = await newCollection({ prefixLength: 0 });
    await put(collection, everywhere(300));
    const reading = readMarkers({ collection, call });
    expect((await reading.next()).value).toHaveLength(100);
    await deleteCollection(call, collection.key, NOW);
    await expect(
      (async () => {
        for await (const markers of reading) expect(markers.length).toBeLessThanOrEqual(100);
      })(),
    ).rejects.toMatchObject({ code: 'CONFLICT', details: { collection: collection.key } });
  });

  test('are read only a few at a time, however many there are and however slow the consumer is', async () => {
    const collection = await newCollection({ prefixLength: 0 });
    const count = 1_500;
    await put(
      collection,
      Array.from({ length: count }, (_, index) => at(`m${index}`, (index % 360) - 180, (index % 178) - 89)),
    );
    const metered = newCall(database);
    let taken = 0;
    let most = 0;
    let keysHeld = 0;
    for await (const markers of readMarkers({ collection, call: metered })) {
      taken += markers.length;
      // Allows time for reading ahead.
      if (taken % 500 === 0) await new Promise((resolve) => setTimeout(resolve, 50));
      most = Math.max(most, metered.meter.getItems - taken + markers.length);
      keysHeld = Math.max(keysHeld, metered.meter.itemsScanned - taken);
    }
    expect(taken).toBe(count);
    expect(most).toBeLessThanOrEqual(3 * 100);
    expect(keysHeld).toBeLessThanOrEqual(500 + 3 * 100);
  });

  test('are retried when DynamoDB throttles, but not after an abort', async () => {
    const collection = await newCollection({ prefixLength: 0 });
    await put(collection, everywhere(150));
    const { tables } = database;
    const other = newDatabase('readable', { tables });
    let throttled = 0;
    for (const operation of ['Query', 'BatchGetItem']) {
      interceptCalls(other, operation, (input, ask) => {
        throttled += 1;
        if (throttled % 2 === 1) throw Object.assign(new Error('slow down'), { name: 'ThrottlingException' });
        return ask(input);
      });
    }
    expect(keysOf(await readAll(collection, { call: newCall(other) }))).toEqual(keysOf(everywhere(150)));
    expect(throttled).toBeGreaterThan(4);
    other.client.destroy();

    const stop = new AbortController();
    const reading = readMarkers({ collection, call: newCall(database, stop.signal) });
    await reading.next();
    stop.abort(new Error('stopped'));
    await expect(
      (async () => {
        for await (const _ of reading);
      })(),
    ).rejects.toThrow('stopped');
  });
});
