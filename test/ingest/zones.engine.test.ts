import { readdir, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { beforeAll, describe, expect, test } from 'vitest';

import { normalizeBounds } from '../../src/geo/bounds.js';
import type { ExportJob } from '../../src/ingest/export/read-markers.js';
import { readZones } from '../../src/ingest/export/read-zones.js';
import { writeZones } from '../../src/ingest/export/write-format.js';
import { formatOf } from '../../src/ingest/read/file-format.js';
import { RejectsFile } from '../../src/ingest/read/rejects.js';
import { openCountries } from '../../src/ingest/zones/countries.js';
import { importZones } from '../../src/ingest/zones/import-zones.js';
import { isZoneFile, openZones } from '../../src/ingest/zones/zone-row.js';
import type { Collection } from '../../src/model/collection.js';
import type { Zone } from '../../src/model/marker.js';
import { createFolderStore } from '../../src/objects/folder-store.js';
import type { CollectionInput } from '../../src/store/collection/collection-item.js';
import { deleteCollection } from '../../src/store/collection/collections.js';
import { newCall, type GeometryStore } from '../../src/store/database.js';
import { deleteZone } from '../../src/store/zone/zone-changes.js';
import { createZone, queryZones, type ZoneInput } from '../../src/store/zone/zones.js';
import { recordCalls } from '../support/record-calls.js';
import { expectRfc7946 } from '../support/rfc7946.js';
import { variants } from '../support/rounds.js';
import { line, positions, rectangle } from '../support/shapes.js';
import { temporaryFolder } from '../support/temporary-folder.js';
import { newDatabase, testCollection, testDatabase } from '../support/test-database.js';

const NOW = '2026-11-21T10:00:00.000Z';
const LATER = '2026-11-22T10:00:00.000Z';
const db = await testDatabase();
const folder = temporaryFolder();
let geometryStore: GeometryStore;
beforeAll(async () => {
  geometryStore = { objects: createFolderStore(join(folder, 'objects')), inlineBytes: 32 * 1024 };
});

let made = 0;
const newCollection = (more: Partial<CollectionInput> = {}) =>
  testCollection(db, { key: `c${(made += 1)}`, name: 'Zones', ...more }, NOW);

const square = (lng: number, lat: number, size = 1) => rectangle(lng, lat, lng + size, lat + size);
const feature = (id: unknown, geometry: unknown, properties: object | null = {}, more = {}) => ({
  type: 'Feature',
  id,
  geometry,
  properties,
  ...more,
});

async function fileOf(name: string, features: readonly unknown[]): Promise<string> {
  const path = join(folder, name);
  const lines = features.map((one) => (typeof one === 'string' ? one : JSON.stringify(one)));
  const text =
    formatOf(path) === 'geojson'
      ? `{"type":"FeatureCollection","features":[\n${lines.join(',\n')}\n]}`
      : `${lines.join('\n')}\n`;
  await writeFile(path, text);
  return path;
}

interface Run {
  readonly now?: string;
  readonly signal?: AbortSignal;
  readonly store?: GeometryStore;
  readonly onZone?: (done: number) => void;
  readonly database?: typeof db;
}

async function run(collection: Collection, path: string, options: Run = {}) {
  const { now = NOW, signal, store = geometryStore, onZone, database = db } = options;
  let done = 0;
  const counts = await importZones({
    collection,
    source: await openZones(path, formatOf(path)),
    rejects: new RejectsFile(`${path}.rejects`),
    now: () => new Date(now),
    onChecked: () => undefined,
    onProgress: () => onZone?.((done += 1)),
    call: newCall({ ...database, geometry: store }, signal),
  });
  const rejected = counts.rejected === 0 ? [] : (await readFile(`${path}.rejects`, 'utf8')).trim().split('\n');
  return { counts, rejects: rejected.map((line) => JSON.parse(line) as { line: number; reason: string }) };
}

const exporting = (collection: Collection, geometry: GeometryStore = geometryStore): ExportJob => ({
  collection,
  call: newCall({ ...db, geometry }),
});

async function exportTo(name: string, collection: Collection): Promise<string> {
  const path = join(folder, name);
  const format = formatOf(path) === 'ndjson' ? 'ndjson' : 'geojson';
  let text = '';
  for await (const piece of writeZones(format, readZones(exporting(collection)))) text += piece;
  await writeFile(path, text);
  return path;
}

async function zonesOf(collection: Collection): Promise<readonly Zone[]> {
  const page = { after: undefined, limit: 1_000, consistent: true };
  return (await queryZones(newCall(db), collection, page)).zones;
}

/** The parts of zones that do not depend on where they are imported. */
const told = (zones: readonly Zone[]) =>
  zones.map(({ key, name, properties, bounds, cells, geometry: { vertices, sha256, jsonBytes } }) => ({
    key,
    name,
    properties,
    bounds,
    cells,
    geometry: { vertices, sha256, jsonBytes },
  }));

/** Zones that are hard to encode. */
const AWKWARD: readonly ZoneInput[] = [
  {
    key: 'ü::#"\n,',
    name: 'Zażółć "gęślą"',
    properties: { a: { b: [1, 'x', null, true] }, empty: '' },
    geometry: square(1, 2),
  },
  {
    key: 'own name',
    name: 'real',
    properties: { name: 'other', id: 7, category: 'c', place: ['p'] },
    geometry: square(3, 4),
  },
  { key: 'no name', properties: { name: 5 }, geometry: square(5, 6) },
  { key: 'empty name', name: '', geometry: square(7, 8) },
  { key: 'across', geometry: square(179.5, 0) },
  {
    key: 'globe',
    geometry: rectangle(-180, -90, 180, 90),
  },
  { key: 'clockwise', geometry: { type: 'Polygon', coordinates: [square(9, 9).coordinates[0]!.toReversed()] } },
  {
    key: 'river',
    geometry: {
      type: 'LineString',
      coordinates: [
        [170, 1, 5],
        [-170, 2, 6],
        [0.1, 0.30000000000000004],
      ],
    },
  },
];

describe('zones that are exported and imported again', () => {
  // The first one of each is stored as an object.
  const formats: readonly (readonly [string, readonly string[]])[] = [
    ['geojson', ['Chile', 'Antarctica', 'Fiji', 'Poland']],
    ['ndjson', ['New Zealand', 'South Africa', 'Lesotho']],
  ];
  test.each(variants(formats))(
    'are unchanged through %s: real borders and awkward ones',
    async (format, [large = '', ...others]) => {
      const from = await newCollection();
      const some = [large, ...variants(others)];
      const countries = openCountries().filter(({ name }) => some.includes(String(name)));
      const inputs = [...AWKWARD, ...countries.map(({ geometry, ...rest }) => ({ ...rest, geometry: geometry() }))];
      for (const input of inputs) await createZone(newCall({ ...db, geometry: geometryStore }), from, input, NOW);
      const before = await zonesOf(from);
      expect(before.filter(({ geometry }) => geometry.object !== undefined).length).toBeGreaterThan(0);

      const path = await exportTo(`countries.${format}`, from);
      const text = await readFile(path, 'utf8');
      for (const json of format === 'ndjson' ? text.trim().split('\n') : [text]) expectRfc7946(json);
      const to = await newCollection();
      const { counts } = await run(to, path);
      expect(counts).toEqual({ created: inputs.length, updated: 0, unchanged: 0, rejected: 0 });
      expect(told(await zonesOf(to))).toEqual(told(before));
      // The same holds for their export.
      expect(await readFile(await exportTo(`again.${format}`, to), 'utf8')).toBe(text);

      const own = newDatabase('readable', { tables: db.tables });
      const calls = recordCalls(own);
      expect((await run(to, path, { database: own, now: LATER })).counts).toEqual({
        created: 0,
        updated: 0,
        unchanged: inputs.length,
        rejected: 0,
      });
      expect(new Set(calls.commands.map(({ name }) => name))).toEqual(new Set(['GetItem']));
      own.client.destroy();
    },
  );

  test('are written only if they differ', async () => {
    const collection = await newCollection();
    const outside = { ...geometryStore, inlineBytes: 0 };
    const features = ['a', 'b', 'c'].map((key, n) => feature(key, square(n, n), { name: key, n }));
    await run(collection, await fileOf('differ.geojson', features), { store: outside });
    const [a, b] = await zonesOf(collection);
    const changed = [
      feature('a', square(50, 50), { name: 'a', n: 0 }),
      feature('b', square(1, 1), { name: 'B' }),
      features[2],
      feature('d', square(4, 4)),
    ];
    const own = newDatabase('readable', { tables: db.tables });
    const calls = recordCalls(own);
    const path = await fileOf('differ.geojson', changed);
    const { counts } = await run(collection, path, { database: own, store: outside, now: LATER });
    expect(counts).toEqual({ created: 1, updated: 2, unchanged: 1, rejected: 0 });
    expect([calls.count('TransactWriteItems'), calls.count('UpdateItem')]).toEqual([2, 1]);
    const [moved, named, , made] = await zonesOf(collection);
    expect(moved).toMatchObject({ version: 2, bounds: { west: 50 } });
    expect(named).toMatchObject({ version: 2, name: 'B', properties: {}, geometry: b!.geometry });
    expect(made).toMatchObject({ key: 'd', name: null, version: 1 });
    const objects = await readdir(join(folder, 'objects'), { recursive: true });
    expect(objects.some((name) => name.endsWith(moved!.geometry.object!.split('/').at(-1)!))).toBe(true);
    expect(objects.some((name) => name.endsWith(a!.geometry.object!.split('/').at(-1)!))).toBe(false);
    own.client.destroy();
  });

  test('are only those that intersect the bounding box, if one is given', async () => {
    const collection = await newCollection();
    for (const [key, geometry] of [
      ['in', square(10, 10)],
      ['edge', square(20, 10, 10)],
      // Its bounding box intersects the area, but the zone itself does not.
      ['beside', line('0 15, 9 40')],
      ['far', square(100, 10)],
    ] as const) {
      await createZone(newCall({ ...db, geometry: geometryStore }), collection, { key, geometry }, NOW);
    }
    const area = normalizeBounds('bounds', { west: 8, south: 5, east: 20, north: 20 });
    const keys: string[] = [];
    for await (const { zone } of readZones({ ...exporting(collection), area })) keys.push(zone.key);
    expect(keys).toEqual(['edge', 'in']);
  });
});

describe('an import of zones', () => {
  test('rejects invalid rows with their line and a reason that says what is allowed, and imports the rest', async () => {
    const collection = await newCollection();
    const path = await fileOf('bad.ndjson', [
      feature('good', square(0, 0)),
      feature('open', {
        type: 'Polygon',
        coordinates: [positions('0 0, 1 0, 1 1, 0 1')],
      }),
      feature('north', line('0 0, 0 91')),
      feature('point', { type: 'Point', coordinates: [0, 0] }),
      feature('many', { type: 'GeometryCollection', geometries: [] }),
      feature(undefined, square(0, 0)),
      feature(undefined, square(0, 0)),
      feature('none', null),
      feature('good', square(5, 5)),
      feature('named', square(0, 0), { name: ['x'] }),
      feature('digits', { type: 'LineString', coordinates: [[0, 0]] }).geometry,
      '{"type":"Feature","id":"long","geometry":{"type":"LineString","coordinates":[[0,0],[1,12345678901234567890]]},"properties":{}}',
      '{"type":',
      feature('\ud800', square(0, 0)),
      feature('also good', square(7, 7), null),
    ]);
    const { counts, rejects } = await run(collection, path);
    expect(counts).toEqual({ created: 3, updated: 0, unchanged: 0, rejected: 12 });
    const reasons: [number, RegExp][] = [
      [2, /^geometry\.coordinates\[0\] must be a closed ring.*; got \[\[0,0\],\[0,1\]\]/],
      [3, /^geometry\.coordinates\[1\]\[1\] must be a latitude from -90 to 90.*; got 91/],
      [4, /geometry is Point, but a zone needs Polygon or .*--no-zones/],
      [5, /geometry is GeometryCollection, but a zone needs Polygon or/],
      [7, /duplicate of line 6, without a key/],
      [8, /has no geometry/],
      [9, /duplicate key "good", first on line 1/],
      [10, /name is not text/],
      [11, /not a GeoJSON Feature/],
      [12, /a position: \[longitude, latitude\] in degrees; got \[1,"12345678901234567890"\]/],
      [13, /invalid JSON/],
      [14, /key must be well-formed Unicode/],
    ];
    expect(rejects.map(({ line }) => line)).toEqual(reasons.map(([line]) => line));
    rejects.forEach(({ reason }, index) => expect(reason).toMatch(reasons[index]![1]));
    expect((await zonesOf(collection)).map(({ key }) => key)).toEqual([
      'also good',
      expect.stringMatching(/^[\da-f-]{36}$/),
      'good',
    ]);
  });

  test('rejects zones that need an object store if there is none, before anything is written', async () => {
    const collection = await newCollection();
    const path = await fileOf('large.geojson', [feature('a', square(0, 0)), feature('b', square(1, 1))]);
    const { counts, rejects } = await run(collection, path, { store: { objects: undefined, inlineBytes: 0 } });
    expect(counts).toEqual({ created: 0, updated: 0, unchanged: 0, rejected: 2 });
    expect(rejects[0]?.reason).toMatch(/^geometry is \d+ bytes gzipped, the limit is 0 bytes: .*object store/);
    expect(await zonesOf(collection)).toEqual([]);
  });

  test('that was stopped writes what is missing when it is run again', async () => {
    const collection = await newCollection();
    const features = Array.from({ length: 40 }, (_, n) => feature(n, square(n, n)));
    const path = await fileOf('stopped.geojson', features);
    const stop = new AbortController();
    const onZone = (done: number) => done === 10 && stop.abort(new Error('stopped'));
    await expect(run(collection, path, { signal: stop.signal, onZone })).rejects.toThrow('stopped');
    const there = (await zonesOf(collection)).length;
    expect(there).toBeGreaterThanOrEqual(10);
    expect(there).toBeLessThan(20);
    const { counts } = await run(collection, path);
    // The database may still have completed the last write, although its response was not awaited.
    expect(counts.unchanged).toBeGreaterThanOrEqual(there);
    expect(counts.unchanged).toBeLessThan(there + 4);
    expect(counts).toEqual({ created: 40 - counts.unchanged, updated: 0, unchanged: counts.unchanged, rejected: 0 });
    expect((await zonesOf(collection)).every(({ version }) => version === 1)).toBe(true);
  });

  test('into a collection that generates keys continues its sequence after them', async () => {
    const collection = await newCollection({ idStrategy: 'SEQUENCE' });
    const path = await fileOf('counted.ndjson', [feature(7, square(0, 0)), feature('x', square(0, 0))]);
    expect((await run(collection, path)).counts).toMatchObject({ created: 1, rejected: 1 });
    expect(
      (await createZone(newCall({ ...db, geometry: geometryStore }), collection, { geometry: square(1, 1) }, NOW)).key,
    ).toBe('8');
  });

  test('reads a single feature of several megabytes', async () => {
    const collection = await newCollection();
    const coordinates = Array.from({ length: 60_000 }, (_, n) => [n / 1e3 + 1 / 3, Math.sin(n / 1e4)]);
    const path = join(folder, 'single.json');
    await writeFile(path, JSON.stringify(feature('long', { type: 'LineString', coordinates }), null, 1));
    expect(await isZoneFile(path, 'geojson')).toBe(true);
    expect((await run(collection, path)).counts).toMatchObject({ created: 1 });
    expect((await zonesOf(collection))[0]?.geometry.vertices).toBe(60_000);
  });
});

test('zones have the names that an option says', async () => {
  const path = await fileOf('named.geojson', [
    feature(1, square(1, 2), { nazwa: 'A', name: 'B' }),
    feature(2, square(1, 2), { nazwa: 'C' }, { cellport: { name: 'D' } }),
  ]);
  const source = await openZones(path, 'geojson', { nameColumn: 'nazwa' });
  for await (const rows of source.scan())
    expect(rows.map(({ content }) => content)).toMatchObject([
      { name: 'A', properties: { name: 'B' } },
      { name: 'C', properties: { nazwa: 'C' } },
    ]);
  await source.close();
});

test('a file contains zones if its first geometry is an area or a line', async () => {
  const point = feature('p', { type: 'Point', coordinates: [0, 0] });
  const zone = feature('z', square(0, 0));
  const files = {
    'zones.geojson': [[feature('none', null), zone, point], true],
    'markers.geojson': [[feature('none', null), point, zone], false],
    'line.ndjson': [['no JSON', feature('l', { type: 'LineString', coordinates: [] })], true],
    'flat.ndjson': [[{ key: 'a', lng: 1, lat: 2 }, zone], false],
    'empty.geojson': [[], false],
  } as const;
  for (const [name, [features, expected]] of Object.entries(files)) {
    const path = await fileOf(name, features);
    expect([name, await isZoneFile(path, formatOf(path))]).toEqual([name, expected]);
  }
  await expect(openZones(join(folder, 'zones.geojson'), 'csv')).rejects.toMatchObject({ code: 'BAD_USER_INPUT' });
  await expect(isZoneFile(join(folder, 'nowhere.geojson'), 'geojson')).rejects.toMatchObject({
    code: 'BAD_USER_INPUT',
  });
});

describe('an export of zones', () => {
  test('reads only a few zones ahead of its consumer', async () => {
    const collection = await newCollection();
    const outside = { ...geometryStore, inlineBytes: 0 };
    for (let n = 0; n < 30; n++) {
      await createZone(
        newCall({ ...db, geometry: outside }),
        collection,
        { key: `k${n}`, geometry: square(n, n) },
        NOW,
      );
    }
    let gets = 0;
    const objects = {
      ...geometryStore.objects!,
      get: (name: string) => ((gets += 1), geometryStore.objects!.get(name)),
    };
    const zones = readZones(exporting(collection, { ...outside, objects }));
    await zones.next();
    expect(gets).toBeLessThanOrEqual(4);
    await zones.return(undefined);
  });

  test('fails with the name of a zone whose object is missing, and skips one that was deleted meanwhile', async () => {
    const collection = await newCollection();
    const outside = { ...geometryStore, inlineBytes: 0 };
    const make = (key: string) =>
      createZone(newCall({ ...db, geometry: outside }), collection, { key, geometry: square(1, 1) }, NOW);
    const [, lost] = [await make('a'), await make('b'), await make('c')];
    const reading = readZones(exporting(collection, { ...outside, objects: { ...outside.objects!, get: slowly } }));
    async function slowly(name: string) {
      // Between reading the page that names the zone and reading the object.
      await deleteZone(newCall({ ...db, geometry: outside }), { collection, key: 'c' }, undefined).catch(
        () => undefined,
      );
      return geometryStore.objects!.get(name);
    }
    const keys: string[] = [];
    for await (const { zone } of reading) keys.push(zone.key);
    expect(keys).toEqual(['a', 'b']);
    await geometryStore.objects!.remove(lost.geometry.object!);
    const failing = exportTo('lost.geojson', collection);
    await expect(failing).rejects.toMatchObject({
      code: 'UNAVAILABLE',
      message: expect.stringMatching(/^zone "b": .* is missing$/),
    });
  });

  test('fails with CONFLICT if the collection was deleted meanwhile', async () => {
    const collection = await newCollection();
    await createZone(
      newCall({ ...db, geometry: geometryStore }),
      collection,
      { key: 'a', geometry: square(1, 1) },
      NOW,
    );
    const zones = readZones(exporting(collection));
    await zones.next();
    await deleteCollection(newCall(db), collection.key, NOW);
    await expect(zones.next()).rejects.toMatchObject({ code: 'CONFLICT' });
  });
});
