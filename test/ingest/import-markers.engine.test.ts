import { existsSync } from 'node:fs';
import {
  appendFile,
  copyFile,
  readFile as readText,
  rename,
  rm,
  stat,
  symlink,
  truncate,
  utimes,
  writeFile,
} from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { gzipSync } from 'node:zlib';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';

import type { CheckProgress } from '../../src/ingest/check-rows.js';
import { readMarkers } from '../../src/ingest/export/read-markers.js';
import { importMarkers, type ImportProgress } from '../../src/ingest/markers/import-markers.js';
import { fileIdentity, importStateFile, type ImportState } from '../../src/ingest/markers/import-state.js';
import { openMarkers } from '../../src/ingest/markers/marker-reader.js';
import { shuffledOrder } from '../../src/ingest/markers/order.js';
import { formatOf } from '../../src/ingest/read/file-format.js';
import { RejectsFile } from '../../src/ingest/read/rejects.js';
import type { RowSource } from '../../src/ingest/read/row.js';
import type { ReadOptions } from '../../src/ingest/rows/fields.js';
import type { MarkerRow } from '../../src/ingest/rows/marker-row.js';
import type { Collection } from '../../src/model/collection.js';
import type { Marker } from '../../src/model/marker.js';
import { createCollection, deleteCollection } from '../../src/store/collection/collections.js';
import { beginLayoutChange } from '../../src/store/collection/layout-change.js';
import { newCall, type Database } from '../../src/store/database.js';
import { newMarkerItem } from '../../src/store/marker/marker-item.js';
import { replacedMarkerItem } from '../../src/store/marker/marker-update.js';
import { createMarker, getMarkers } from '../../src/store/marker/markers.js';
import { upsertItems } from '../../src/store/marker/upsert.js';
import { batchGet } from '../../src/store/request/batches.js';
import { anyProperties } from '../support/any-json.js';
import { interceptCalls } from '../support/faults.js';
import { randomFrom } from '../support/random.js';
import { recordCalls } from '../support/record-calls.js';
import { someOf, variants } from '../support/rounds.js';
import { temporaryFolder } from '../support/temporary-folder.js';
import { newDatabase, testDatabase } from '../support/test-database.js';

const database = await testDatabase();
const call = newCall(database);
const calls = recordCalls(database);
const first = '2026-01-01T00:00:00.000Z';
const second = '2026-02-01T00:00:00.000Z';

const folder = temporaryFolder();

let made = 0;
async function newCollection(): Promise<Collection> {
  made += 1;
  return createCollection(call, { key: `c${made}`, name: 'Test', mapProperties: ['a'] }, first);
}

interface Run {
  readonly fresh?: boolean;
  readonly now?: string;
  readonly rejects?: string;
  readonly signal?: AbortSignal;
  readonly seed?: number;
  readonly source?: RowSource<MarkerRow>;
  readonly onChecked?: (progress: CheckProgress) => void;
  readonly onProgress?: (progress: ImportProgress) => void | Promise<void>;
  readonly database?: Database;
  /** Called before a state is saved. */
  readonly onState?: (state: ImportState) => Promise<void>;
}

/** Imports a file like the command. */
async function run(collection: Collection, path: string, options: Run = {}): Promise<ImportProgress> {
  const identity = `${await fileIdentity(path)} ${collection.key}`;
  const state = importStateFile(join(folder, 'state'), `${path} ${collection.key}`, identity);
  return importMarkers({
    collection,
    source: options.source ?? (await openMarkers(path, formatOf(path))),
    fresh: options.fresh ?? false,
    identity,
    state: {
      ...state,
      write: async (next) => {
        await options.onState?.(next);
        await state.write(next);
      },
    },
    once: false,
    rejects: new RejectsFile(options.rejects ?? `${path}.rejects.ndjson`),
    seed: options.seed ?? 1,
    onChecked: options.onChecked ?? (() => {}),
    now: () => new Date(options.now ?? first),
    onProgress: options.onProgress ?? (() => {}),
    call: newCall(options.database ?? database, options.signal),
    windowRows: 100,
  });
}

/** Imports a file afresh until one of the options stops that. */
async function interrupt(collection: Collection, path: string, options: (stop: () => void) => Run): Promise<void> {
  const stopping = new AbortController();
  const stop = () => stopping.abort(new Error('pulled the plug'));
  const interrupted = run(collection, path, { fresh: true, signal: stopping.signal, ...options(stop) });
  await expect(interrupted).rejects.toThrow('pulled the plug');
}

async function file(name: string, lines: readonly unknown[]): Promise<string> {
  const path = join(folder, name);
  const text = lines.map((line) => (typeof line === 'string' ? line : JSON.stringify(line))).join('\n');
  await writeFile(path, name.endsWith('.gz') ? gzipSync(text) : text);
  return path;
}

const row = (key: string, rest: object = {}) => ({ key, lng: 16.9, lat: 52.4, name: key, a: 1, ...rest });
const many = (count: number) => Array.from({ length: count }, (_, at) => row(`k${at}`, { lng: (at % 360) - 180 }));
const load = (collection: Collection, keys: readonly string[]) =>
  getMarkers(
    call,
    keys.map((key) => ({ collection, key })),
    { consistent: true },
  );
const counts = (created: number, updated: number, unchanged: number, rejected: number) => ({
  created,
  updated,
  unchanged,
  rejected,
});

describe('importing a file', () => {
  it('writes a new collection in batches, without reading what cannot exist', async () => {
    const collection = await newCollection();
    const path = await file('fresh.ndjson', many(1000));
    calls.reset();
    expect(await run(collection, path, { fresh: true })).toMatchObject({ counts: counts(1000, 0, 0, 0), resumed: 0 });
    // Now and then it checks that the collection still exists.
    expect(calls.count('BatchWriteItem')).toBe(calls.count() - calls.count('GetItem'));
    expect(calls.count('BatchWriteItem')).toBeLessThanOrEqual(1000 / 25 + 10);
    expect(await load(collection, ['k0', 'k999', 'k1000'])).toMatchObject([
      { key: 'k0', position: { lng: -180, lat: 52.4 }, name: 'k0', properties: { a: 1 }, version: 1, createdAt: first },
      { key: 'k999' },
      null,
    ]);
  });

  it('accepts keys that the collection could have generated, and continues its sequence after them', async () => {
    const counted = { key: 'counted', name: 'Counted', idStrategy: 'SEQUENCE', globalIds: true } as const;
    const collection = await createCollection(call, counted, first);
    const path = await file('counted.ndjson', [row('7'), row('41'), row('007'), row('x'), row('0')]);
    expect(await run(collection, path)).toMatchObject({ counts: counts(2, 0, 0, 3) });
    const { marker } = await createMarker(call, collection, { position: { lng: 0, lat: 0 } }, first);
    expect(marker.key).toBe('42');
    const before = await load(collection, ['7', '41']);
    expect(before.every((found) => found?.globalId)).toBe(true);
    // Its global IDs stay, and so does its sequence.
    expect(await run(collection, path, { now: second })).toMatchObject({ counts: counts(0, 0, 2, 3) });
    expect(await load(collection, ['7', '41'])).toEqual(before);
    expect((await createMarker(call, collection, { position: { lng: 0, lat: 0 } }, first)).marker.key).toBe('43');
  });

  it('writes nothing to a collection deleted during the check, and stops if it is deleted later', async () => {
    const gone = await newCollection();
    const path = await file('gone.ndjson', many(300));
    await deleteCollection(call, gone.key, second);
    await expect(run(gone, path)).rejects.toMatchObject({ code: 'NOT_FOUND' });
    expect((await load(gone, ['k0', 'k299'])).filter((marker) => marker !== null)).toEqual([]);

    const later = await newCollection();
    const slow = await file('later.ndjson', many(300));
    let told = 0;
    const onProgress = async () => {
      told += 1;
      if (told > 1) return;
      await deleteCollection(call, later.key, second);
      await new Promise((resolve) => setTimeout(resolve, 7_000));
    };
    await expect(run(later, slow, { onProgress })).rejects.toMatchObject({ code: 'NOT_FOUND' });
    expect(told).toBe(1);
  });

  it('stores the place of a marker, and removes it when the file no longer has one', async () => {
    const collection = await newCollection();
    await run(collection, await file('hung.ndjson', [row('a', { place: ['Berlin', 'D'] })]));
    expect(await load(collection, ['a'])).toMatchObject([{ place: ['Berlin', 'D'], version: 1 }]);
    await run(collection, await file('moved.ndjson', [row('a', { place: ['Berlin', 'E'] })]));
    expect(await load(collection, ['a'])).toMatchObject([{ place: ['Berlin', 'E'], version: 2, mapVersion: 1 }]);
    await run(collection, await file('unhung.ndjson', [row('a')]));
    expect(await load(collection, ['a'])).toMatchObject([{ place: [], version: 3 }]);
  });

  it('changes and writes nothing when it is repeated', async () => {
    const collection = await newCollection();
    const path = await file('again.ndjson', many(300));
    await run(collection, path, { fresh: true });
    const before = await load(collection, ['k0', 'k150', 'k299']);
    calls.reset();
    expect(await run(collection, path, { now: second })).toMatchObject({ counts: counts(0, 0, 300, 0) });
    expect(calls.count('BatchGetItem')).toBe(calls.count() - calls.count('GetItem'));
    expect(await load(collection, ['k0', 'k150', 'k299'])).toEqual(before);
  });

  it('updates rows that differ: keeps the creation time, raises the version, and the map version only if maps draw it differently', async () => {
    const collection = await newCollection();
    const big = { b: 'x'.repeat(300) };
    await run(
      collection,
      await file(
        'old.ndjson',
        ['same', 'moved', 'renamed', 'unnamed', 'undrawn'].map((key) => row(key, big)),
      ),
      { fresh: true },
    );
    const changed = [
      row('same', big),
      row('moved', { ...big, lat: 10 }),
      row('renamed', { ...big, name: 'other' }),
      { ...row('unnamed', big), name: undefined },
      row('undrawn', { b: 'y'.repeat(300) }),
      row('new'),
    ];
    const path = await file('new.ndjson', changed);
    expect(await run(collection, path, { now: second })).toMatchObject({ counts: counts(1, 4, 1, 0) });
    expect(await load(collection, ['same', 'moved', 'renamed', 'unnamed', 'undrawn', 'new'])).toMatchObject([
      { version: 1, mapVersion: 1, createdAt: first, updatedAt: first },
      { version: 2, mapVersion: 2, createdAt: first, updatedAt: second, position: { lng: 16.9, lat: 10 } },
      { version: 2, mapVersion: 2, name: 'other' },
      { version: 2, mapVersion: 2, name: null },
      { version: 2, mapVersion: 1, createdAt: first, updatedAt: second, properties: { a: 1, b: 'y'.repeat(300) } },
      { version: 1, mapVersion: 1, createdAt: second },
    ]);
  });

  it('reads files written by other programs, and changes nothing when it reads them again', async () => {
    const unnamed = { category: null, place: [] };
    const wells = [
      { position: { lng: 16.901, lat: 52.391 }, name: 'Studnia 1', properties: { fid: 1, depth: 12.5 } },
      { position: { lng: 16.902, lat: 52.392 }, name: 'Studnia 2', properties: { fid: 2, depth: 7 } },
    ];
    const cologne = { lng: 6.9603, lat: 50.9375 };
    const files: readonly [name: string, wanted: readonly object[], options?: ReadOptions][] = [
      [
        'geojson.io.geojson',
        [
          { position: { lng: 16.92517, lat: 52.40637 }, name: null, properties: {} },
          {
            key: '1',
            position: { lng: 16.93412, lat: 52.40811 },
            name: 'Café Misja',
            properties: { 'marker-color': '#7e7e7e', 'marker-size': 'medium', 'marker-symbol': 'cafe' },
          },
        ],
      ],
      [
        'qgis.geojson',
        wells.map((well, at) => ({ ...well, properties: { ...well.properties, dry: at === 0 ? null : true } })),
      ],
      [
        'qgis-wkt.csv',
        [wells[0] ?? {}, { position: { lng: 16.902, lat: 52.392 }, name: 'Studnia "druga"', properties: { fid: 2 } }],
      ],
      [
        'google-my-maps.csv',
        [
          {
            position: { lng: 16.9251681, lat: 52.406374 },
            name: 'Poznań',
            properties: { description: 'Rynek,\nratusz' },
          },
          { position: { lng: 13.404954, lat: 52.5200066 }, name: 'Berlin', properties: {} },
        ],
      ],
      [
        'excel-semicolons.csv',
        [
          { key: 'Köln', position: cologne, properties: { Filiale: 'Köln', 'Umsatz in €': 1234.5, PLZ: '01067' } },
          {
            key: 'Zürich – Mitte',
            position: { lng: 8.5417, lat: 47.3769 },
            properties: { Filiale: 'Zürich – Mitte', 'Umsatz in €': 12, PLZ: '8001' },
          },
        ],
        { keyColumn: 'Filiale', latColumn: 'Breite', lngColumn: 'Länge' },
      ],
      ['excel-utf8.csv', [{ position: cologne, name: 'Köln', properties: {} }]],
      [
        'excel-unicode.tsv',
        [
          { position: cologne, name: 'Köln', properties: { Umsatz: 12 } },
          { position: { lng: 19.456, lat: 51.7592 }, name: 'Łódź €', properties: { Umsatz: 7 } },
        ],
      ],
    ];
    for (const [name, wanted, options] of files) {
      made += 1;
      const collection = await createCollection(call, { key: `c${made}`, name: 'Test', prefixLength: 0 }, first);
      const path = join(folder, name);
      await copyFile(join(import.meta.dirname, 'fixtures', name), path);
      const open = () => openMarkers(path, formatOf(path), options, folder);
      expect(await run(collection, path, { source: await open() })).toMatchObject({
        counts: counts(wanted.length, 0, 0, 0),
      });
      const markers: Marker[] = [];
      for await (const some of readMarkers({ collection, call })) markers.push(...some);
      const south = (a: { position: { lat: number } }, b: typeof a) => a.position.lat - b.position.lat;
      expect(markers.toSorted(south)).toMatchObject(
        (wanted as { position: { lat: number } }[]).toSorted(south).map((one) => ({ ...unnamed, ...one })),
      );
      expect(await run(collection, path, { source: await open() })).toMatchObject({
        counts: counts(0, 0, wanted.length, 0),
      });
    }
  });

  it('rejects invalid rows and duplicate keys, each with its line and reason', async () => {
    const collection = await newCollection();
    const path = await file('bad.ndjson', [
      row('a'),
      row('a', { name: 'the second a' }),
      row('b', { lat: 91 }),
      row('c', { lng: 52, lat: 100 }),
      'no json',
      row('', { name: 'no key' }),
      row('', { name: 'no key' }),
      row('d', { text: 'x'.repeat(500_000) }),
      '{"key":"e","lng":1,"lat":2,"n":9007199254740993}',
      row('x'.repeat(3000)),
      `{"key":"y","lng":1,"lat":2,"${'n'.repeat(50_000)}":1,"properties":{"${'n'.repeat(50_000)}":2}}`,
      row('z'),
    ]);
    expect(await run(collection, path, { fresh: true })).toMatchObject({ counts: counts(4, 0, 0, 8) });
    const lines = (await readText(`${path}.rejects.ndjson`, 'utf8')).trim().split('\n');
    const rejects = lines.map((line) => JSON.parse(line) as { line: number; reason: string; row: unknown });
    expect(rejects.map(({ line }) => line)).toEqual([2, 3, 4, 5, 7, 8, 10, 11]);
    const reasons = [
      /duplicate key "a", first on line 1/,
      /lat.*91/,
      /swapped/,
      /invalid JSON/,
      /duplicate of line 6, without a key/,
      /bytes/,
      /key/,
    ];
    for (const [at, reason] of reasons.entries()) expect(rejects[at]?.reason).toMatch(reason);
    expect(rejects[0]?.row).toEqual(row('a', { name: 'the second a' }));
    expect(lines.every((line) => line.length < 50_000)).toBe(true);
    expect(await load(collection, ['a', 'b', 'c', 'd', 'e', 'z'])).toMatchObject([
      { name: 'a' },
      null,
      null,
      null,
      { properties: { n: '9007199254740993' } },
      { key: 'z' },
    ]);
    // A valid file removes the rejects of an earlier run.
    await file('bad.ndjson', [row('a')]);
    await run(collection, path);
    expect(existsSync(`${path}.rejects.ndjson`)).toBe(false);
  });

  it('rejects rows nested 5,000 deep, and writes rejected rows with their own bytes', async () => {
    const collection = await newCollection();
    const deep = (value: string) => `${'['.repeat(5_000)}${value}${']'.repeat(5_000)}`;
    const bad = [
      `{"key":"b","lng":1,"lat":2,"a":${deep('1')}}`,
      `{"key":"c","lng":1,"lat":2,"a":${deep('123456789012345678901234567890')}}`,
      `{"key":"d","lng":1,"lat":95,"type":{"toString":1},"a":1e309,"b":123456789012345678901234567890}`,
      `{ "key":"e", "lng":${deep('1')}, "lat":2.50, "b":0.10 }`,
      `{"key":"f","type":"Feature","geometry":{"type":{"toString":1,"valueOf":1}}}`,
      `{"key":"g","type":"Feature","geometry":{"type":${deep('1')}}}`,
    ];
    const lines = [JSON.stringify(row('a')), ...bad, JSON.stringify(row('z'))];
    const written = (path: string) =>
      readText(`${path}.rejects.ndjson`, 'utf8').then((text) => text.trim().split('\n'));

    const path = await file('deep.ndjson', lines);
    expect(await run(collection, path)).toMatchObject({ counts: counts(2, 0, 0, bad.length) });
    const rejects = await written(path);
    expect(rejects.map((line) => /^{"line":(\d+),"reason":"/.exec(line)?.[1])).toEqual(['2', '3', '4', '5', '6', '7']);
    for (const [index, row] of bad.entries()) expect(rejects[index]).toContain(`,"row":${row}}`);

    const features = lines.map((text, at) =>
      text.includes('Feature')
        ? text
        : `{"type":"Feature","id":${at},\n"geometry":{"type":"Point","coordinates":[1,2]},"properties":${text}}`,
    );
    const collected = await file('deep.geojson', [`{"type":"FeatureCollection","features":[${features.join(',\n')}]}`]);
    expect(await run(await newCollection(), collected)).toMatchObject({ counts: { rejected: 5 } });
    const [, , third] = await written(collected);
    expect(third).toContain(`"properties":${bad[3]}}}`);
  });

  it.each(['long.ndjson', 'long.ndjson.gz'])(
    'resumes %s where it was interrupted: nothing twice, no reject lost or repeated, a half-written window compared',
    async (name) => {
      const collection = await newCollection();
      const bad = (key: string) => row(key, { lat: 100 });
      const rows = [bad('early'), ...many(250), row('k17'), bad('late')];
      const path = await file(name, rows);
      // While the next windows are being written.
      await interrupt(collection, path, (stop) => ({
        onProgress: ({ part }) => void (part > 0 && setTimeout(stop, 2)),
      }));
      const progress: ImportProgress[] = [];
      const result = await run(collection, path, { now: second, onProgress: (each) => void progress.push(each) });
      // The next window was in progress, and may have been written.
      expect([100, 200]).toContain(progress[0]?.resumed);
      expect(progress[0]?.counts).toMatchObject({ created: progress[0]?.resumed, rejected: 3 });
      const { created, updated, unchanged, rejected } = result.counts;
      expect({ there: created + unchanged, updated, rejected }).toEqual({ there: 250, updated: 0, rejected: 3 });
      const lines = (await readText(`${path}.rejects.ndjson`, 'utf8')).trim().split('\n');
      expect(lines.map((line) => (JSON.parse(line) as { line: number }).line)).toEqual([1, 252, 253]);
      const found = await load(
        collection,
        many(250).map(({ key }) => key),
      );
      expect(found.filter((marker) => marker?.version === 1)).toHaveLength(250);
      // Once complete, the next run starts over.
      expect(await run(collection, path)).toMatchObject({ resumed: 0, counts: counts(0, 0, 250, 3) });
    },
  );

  it('writes into the layout that the collection has now, even if it was given an earlier one', async () => {
    const collection = await newCollection();
    const changed = await beginLayoutChange(call, collection.key, { prefixLength: 1 });
    const path = await file('layout.ndjson', many(300));
    expect(await run(collection, path, { fresh: true })).toMatchObject({ counts: counts(300, 0, 0, 0) });
    const written = await load(
      changed,
      many(300).map(({ key }) => key),
    );
    const entered = await batchGet(
      call,
      database.tables.entities,
      written.map((marker) => database.keys.marker(database.keys.scope(changed), marker?.key ?? '')),
    );
    expect(entered.filter((item) => item?.['gpkA'] !== undefined && item['gpkB'] !== undefined)).toHaveLength(300);
  });

  it('resumes in the same order wherever it was interrupted, and writes every row exactly once', async () => {
    const total = 450;
    const keys = many(total).map(({ key }) => key);
    // Before the first window, then after each of the first two, at once and a little later.
    const moments = [0, 1, 2].flatMap((window) => [[window, 0] as const, [window, 4] as const]);
    for (const [at, afterMs] of variants(moments, 2)) {
      const collection = await newCollection();
      const path = await file(`every-${at}-${afterMs}.ndjson`, many(total));
      let reports = 0;
      await interrupt(collection, path, (stop) => ({
        seed: 11,
        onProgress: () => {
          if (reports === at) setTimeout(stop, afterMs);
          reports += 1;
        },
      }));
      calls.reset();
      const result = await run(collection, path, { now: second, seed: 12 });
      expect(result.resumed).toBeGreaterThanOrEqual(at * 100);
      expect(result.counts.created + result.counts.unchanged).toBe(total);
      expect(result.counts.updated).toBe(0);
      // Rows completed by the first run are not even read again.
      const lookedUp = calls.commands
        .filter(({ name }) => name === 'BatchGetItem')
        .flatMap(({ input }) => Object.values(input['RequestItems'] as Record<string, { Keys: unknown[] }>))
        .flatMap(({ Keys }) => Keys);
      expect(lookedUp).toHaveLength(total - result.resumed);
      const found = await load(collection, keys);
      expect(found.map((marker) => marker?.version)).toEqual(keys.map(() => 1));
      expect(found.filter((marker) => marker?.createdAt === first).length).toBeGreaterThanOrEqual(result.resumed);
    }
  });

  it('keeps edits to rows that an interrupted import has completed, and compares rows created by others in the meantime', async () => {
    const collection = await newCollection();
    const path = await file('edited.ndjson', many(500));
    await interrupt(collection, path, (stop) => ({ onProgress: ({ part }) => void (part > 0 && stop()) }));
    const keys = many(500).map(({ key }) => key);
    const there = await load(collection, keys);
    const inOrder = Array.from(shuffledOrder(keys.length, 1), (at) => ({ key: keys[at] ?? '', marker: there[at] }));
    const done = inOrder.slice(0, 100).map(({ key }) => key);
    expect(inOrder.slice(0, 100).every(({ marker }) => marker !== null)).toBe(true);
    // The following window was in progress; no other had started.
    expect(inOrder.slice(200).every(({ marker }) => marker === null)).toBe(true);
    const missing = inOrder.at(-1)?.key ?? '';
    const edit = (key: string) =>
      newMarkerItem(database, collection, { key, position: { lng: 1, lat: 2 }, name: 'edited' }, first);
    await upsertItems(call, [edit(done[0] ?? ''), edit(missing)]);
    const { created, updated, unchanged, rejected } = (await run(collection, path, { now: second })).counts;
    expect({ same: created + unchanged, updated, rejected }).toEqual({ same: 499, updated: 1, rejected: 0 });
    expect(await load(collection, [done[0] ?? '', missing])).toMatchObject([
      { name: 'edited', version: 2, createdAt: first },
      { name: missing, version: 2, createdAt: first, updatedAt: second },
    ]);
  });

  it('never counts a row as done before all rows up to it exist, so it may be killed at any moment', async () => {
    const collection = await newCollection();
    const total = 450;
    const path = await file('killed.ndjson', many(total));
    const db = newDatabase('readable', { tables: database.tables });
    const pause = randomFrom(3);
    interceptCalls(db, 'BatchWriteItem', async (input, ask) => {
      await sleep(pause() * 40);
      return ask(input);
    });
    const keys = many(total).map(({ key }) => key);
    const order = shuffledOrder(total, 21);
    const said: number[] = [];
    let ahead = 0;
    const result = await run(collection, path, {
      database: db,
      fresh: true,
      seed: 21,
      onState: async ({ written }) => {
        said.push(written);
        const there = await load(
          collection,
          Array.from(order, (at) => keys[at] ?? ''),
        );
        expect(there.slice(0, written).every((marker) => marker !== null)).toBe(true);
        ahead = Math.max(ahead, there.filter((marker) => marker !== null).length - written);
      },
    });
    expect(result.counts).toEqual(counts(total, 0, 0, 0));
    expect(said.filter((written, at) => at > 1 || written > 0)).toEqual(
      Array.from({ length: 5 }, (_, at) => Math.min(total, (at + 1) * 100)),
    );
    // A resumed run compares everything written after its state: at most two windows, regardless of speed.
    expect(ahead).toBeGreaterThan(0);
    expect(ahead).toBeLessThanOrEqual(200);
  });

  it('counts nothing after a failed window, though the next one was written concurrently, and resumes before it', async () => {
    const collection = await newCollection();
    const total = 550;
    const path = await file('failing.ndjson', many(total));
    const keys = many(total).map(({ key }) => key);
    const order = Array.from(shuffledOrder(total, 31), (at) => keys[at] ?? '');
    const second100 = new Set(order.slice(100, 200));
    const third100 = new Set(order.slice(200, 300));
    const db = newDatabase('readable', { tables: database.tables });
    let thirdWritten = 0;
    let tellThird = () => {};
    const third = new Promise<void>((resolve) => (tellThird = resolve));
    interceptCalls(db, 'BatchWriteItem', async (input, ask) => {
      const [puts = []] = Object.values(
        input['RequestItems'] as Record<string, { PutRequest: { Item: { name: string } } }[]>,
      );
      const names = puts.map(({ PutRequest: { Item } }) => Item.name);
      // One batch of the second window fails, after the third window is complete.
      if (names.includes(order[100] ?? '')) {
        await third;
        throw Object.assign(new Error('refused for good'), { name: 'ValidationException' });
      }
      const output = await ask(input);
      if (names.every((name) => third100.has(name))) thirdWritten += names.length;
      if (thirdWritten === 100) tellThird();
      return output;
    });
    const failing = run(collection, path, { database: db, fresh: true, seed: 31 });
    await expect(failing).rejects.toThrow('refused for good');
    const left = await load(collection, order);
    expect(left.filter((marker) => marker !== null)).toHaveLength(100 + (second100.size - 25) + third100.size);
    const progress: ImportProgress[] = [];
    const result = await run(collection, path, { now: second, onProgress: (each) => void progress.push(each) });
    expect(progress[0]).toMatchObject({ resumed: 100, counts: counts(100, 0, 0, 0) });
    expect(result.counts).toEqual(counts(100 + 25 + 250, 0, 175, 0));
    const found = await load(collection, order);
    expect(found.map((marker) => marker?.version)).toEqual(order.map(() => 1));
    expect(found.filter((marker) => marker?.createdAt === first)).toHaveLength(275);
  });

  it('keeps what was written before a row that cannot be read again, and resumes there', async () => {
    const collection = await newCollection();
    const path = await file('unreadable.ndjson', many(550));
    const source = await openMarkers(path, 'ndjson');
    let reads = 0;
    const failing: RowSource<MarkerRow> = {
      size: source.size,
      scan: () => source.scan(),
      read: async (places) => {
        reads += 1;
        if (reads === 4) throw new Error('a bad sector');
        return source.read(places);
      },
      close: () => source.close(),
    };
    await expect(run(collection, path, { fresh: true, source: failing })).rejects.toThrow('a bad sector');
    const result = await run(collection, path, { now: second });
    expect(result).toMatchObject({ resumed: 300, counts: counts(550, 0, 0, 0) });
  });

  it('writes in an order that is spread over the whole file and follows from the seed', async () => {
    const batches = async (seed: number): Promise<number[][]> => {
      const collection = await newCollection();
      const path = await file(`order-${made}.ndjson`, many(400));
      calls.reset();
      await run(collection, path, { fresh: true, seed });
      const written = calls.commands
        .filter(({ name }) => name === 'BatchWriteItem')
        .map(({ input }) => {
          const [puts = []] = Object.values(
            input['RequestItems'] as Record<string, { PutRequest: { Item: { name: string } } }[]>,
          );
          return puts.map(({ PutRequest: { Item } }) => Number(Item.name.slice(1)));
        });
      // Several are written at once, so which of them is sent first varies.
      return written.toSorted(([a = 0], [b = 0]) => a - b);
    };
    const one = await batches(5);
    expect(one.flat().toSorted((a, b) => a - b)).toEqual(many(400).map((_, at) => at));
    for (const batch of one) expect(Math.max(...batch) - Math.min(...batch)).toBeGreaterThan(200);
    expect(await batches(5)).toEqual(one);
    expect(await batches(6)).not.toEqual(one);
  });

  it('remembers that it created the collection if it is stopped during the check', async () => {
    const collection = await newCollection();
    const path = await file('checking.ndjson', [...many(200), row('bad', { lat: 91 })]);
    await interrupt(collection, path, (stop) => ({ onChecked: stop }));
    calls.reset();
    expect(await run(collection, path)).toMatchObject({ resumed: 0, counts: counts(200, 0, 0, 1) });
    // In batches, not one by one with a condition.
    expect(calls.count('PutItem')).toBe(0);
    expect((await readText(`${path}.rejects.ndjson`, 'utf8')).trim().split('\n')).toHaveLength(1);
  });

  it('rejects a file that was changed or replaced after the check, and writes nothing', async () => {
    const lines = many(150)
      .map((line) => JSON.stringify(line))
      .join('\n');
    const changes: Readonly<Record<string, (path: string) => Promise<void>>> = {
      longer: (path) => appendFile(path, '\n{"key":"new","lng":1,"lat":2}'),
      shorter: (path) => truncate(path, 1000),
      'in place': (path) => writeFile(path, lines.replaceAll('"a":1', '"a":2')),
      replaced: async (path) => {
        await writeFile(`${path}.new`, lines);
        await rename(`${path}.new`, path);
      },
      deleted: (path) => rm(path),
      'in place, its time put back': async (path) => {
        const { atime, mtime } = await stat(path);
        await writeFile(path, lines.replaceAll('"a":1', '"a":2'));
        await utimes(path, atime, mtime);
      },
    };
    for (const [name, change] of Object.entries(changes)) {
      const collection = await newCollection();
      const path = await file(`changes ${name}.ndjson`, [lines]);
      // Whole seconds, because the file's time cannot be restored more precisely.
      await utimes(path, 1_700_000_000, 1_700_000_000);
      const source = await openMarkers(path, 'ndjson');
      // Windows are read concurrently: two changes at the same time could fail each other.
      let once: Promise<void> | undefined;
      const changing: RowSource<MarkerRow> = {
        size: source.size,
        scan: () => source.scan(),
        read: async (places) => {
          await (once ??= change(path));
          return source.read(places);
        },
        close: () => source.close(),
      };
      await expect(run(collection, path, { fresh: true, source: changing })).rejects.toMatchObject({
        code: 'CONFLICT',
        message: expect.stringMatching(/changed during/) as unknown,
      });
      expect((await load(collection, ['k0', 'k149', 'new'])).every((marker) => marker === null)).toBe(true);
    }
  });

  it('stops with a clear error if the rejects file cannot be written, and loses nothing when it resumes', async () => {
    const collection = await newCollection();
    const path = await file('full.ndjson', [row('a'), row('b', { lat: 100 })]);
    const full = join(folder, 'full-disk');
    await symlink('/dev/full', full);
    await expect(run(collection, path, { fresh: true, rejects: full })).rejects.toMatchObject({
      code: 'UNAVAILABLE',
      message: expect.stringMatching(/rejects file .*no space/) as unknown,
    });
    expect((await run(collection, path)).counts).toMatchObject({ rejected: 1 });
    expect(await load(collection, ['a', 'b'])).toMatchObject([{ key: 'a' }, null]);
  });

  it('stores any JSON as properties and finds it unchanged the next time', async () => {
    const collection = await newCollection();
    let at = 0;
    await fc.assert(
      fc.asyncProperty(anyProperties, async (properties) => {
        at += 1;
        const input = { key: `p${at}`, position: { lng: -0, lat: 2 }, properties };
        let item;
        try {
          item = newMarkerItem(database, collection, input, first);
        } catch {
          return;
        }
        expect(await upsertItems(call, [item])).toMatchObject([{ outcome: 'created' }]);
        const again = newMarkerItem(database, collection, input, second);
        expect(await upsertItems(call, [again])).toMatchObject([{ outcome: 'unchanged' }]);
      }),
      { numRuns: someOf(60) },
    );
  });
});

describe('upsertItems', () => {
  it('never overwrites a concurrent change: reads again and continues from its version', async () => {
    const collection = await newCollection();
    const item = (name: string) =>
      newMarkerItem(database, collection, { key: 'a', position: { lng: 1, lat: 2 }, name }, first);
    await upsertItems(call, [item('before')]);
    const writers = ['one', 'two', 'three', 'four'];
    const outcomes = await Promise.all(writers.map((name) => upsertItems(call, [item(name)])));
    expect(outcomes.flat().map(({ outcome }) => outcome)).toEqual(['updated', 'updated', 'updated', 'updated']);
    expect(await load(collection, ['a'])).toMatchObject([{ version: 5, mapVersion: 5 }]);
  });

  it('keeps attributes that no file has', async () => {
    const collection = await newCollection();
    const wanted = newMarkerItem(database, collection, { key: 'a', position: { lng: 1, lat: 2 } }, second);
    const found = {
      ...newMarkerItem(database, collection, { key: 'a', position: { lng: 1, lat: 2 }, name: 'x' }, first),
      ttl: 7,
      version: 4,
      mv: 2,
    };
    const merged = replacedMarkerItem(found, wanted);
    expect(merged).toMatchObject({ ttl: 7, version: 5, mv: 3, createdAt: first, updatedAt: second });
    expect(merged).not.toHaveProperty('name');
    expect(replacedMarkerItem(merged ?? {}, wanted)).toBeUndefined();
  });
});
