import { readdir, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, test } from 'vitest';

import { loadMarkers } from '../../src/ingest/markers/load-markers.js';
import { openTable } from '../../src/ingest/markers/table-rows.js';
import { openCollection } from '../../src/ingest/open-collection.js';
import { RejectsFile } from '../../src/ingest/read/rejects.js';
import type { Collection } from '../../src/model/collection.js';
import { readMapping, type MappingJson } from '../../src/sources/mapping.js';
import { getCollections } from '../../src/store/collection/collections.js';
import { newCall, type Item } from '../../src/store/database.js';
import { getMarkers } from '../../src/store/marker/markers.js';
import { wireOf, type WireMap } from '../../src/store/request/wire.js';
import { createTable, putItem } from '../sources/foreign-table.js';
import { libraryItems, makeGeoTable, POSITIONS } from '../sources/geo-library/library.js';
import { allItems } from '../stream/support.js';
import { canonical } from '../support/any-json.js';
import { interceptCalls } from '../support/faults.js';
import { runCliHere } from '../support/run-cli.js';
import { temporaryFolder } from '../support/temporary-folder.js';
import { engineSettings, newDatabase, testDatabase } from '../support/test-database.js';

const database = await testDatabase('readable', { stream: true });
const folder = temporaryFolder();
const settings = {
  ...engineSettings(),
  CELLPORT_TABLE: database.tables.entities,
  CELLPORT_DATA_DIR: folder,
  CELLPORT_CONSUMER: 'off',
  CELLPORT_LOG: 'silent',
  PORT: '4321',
};
const cellport = (...args: string[]) => runCliHere(args, settings);
const tableName = (name: string) => `${database.tables.entities}-${name}`;

async function file(name: string, content: string): Promise<string> {
  const path = join(folder, name);
  await writeFile(path, content);
  return path;
}

async function markersOf(key: string, keys: readonly string[]) {
  const [collection] = await getCollections(newCall(database), [key]);
  const references = keys.map((each) => ({ collection: collection as Collection, key: each }));
  return { collection, markers: await getMarkers(newCall(database), references, { consistent: true }) };
}

const good = libraryItems({ length: 3, order: 'latitude first' });
const [, one = {}] = good;
/** Names that JavaScript could misinterpret, at both levels. */
const NAMES = JSON.parse(
  '{"__proto__":"a","constructor":{"name":"Set"},"toString":1,"nested":{"__proto__":{"x":null},"constructor":"b"}}',
) as Item;
const odd: WireMap[] = [
  { ...one, rangeKey: { S: 'no point' }, geoJson: { S: 'nothing' } },
  { ...one, rangeKey: { S: 'exact' }, large: { N: '12345678901234567890123' }, bytes: { B: Buffer.from([1, 2]) } },
  { ...one, rangeKey: { S: 'names' }, ...(wireOf(NAMES) as { M: WireMap }).M },
];

test('a table of the Geo Library is imported with the mapping of the preset; again, nothing changes; nothing is written to it', async () => {
  const table = tableName('points');
  await makeGeoTable(database, table, [...good, ...odd]);
  const before = await allItems(database, table);
  const { output } = await cellport('source', 'propose', '--table', table, '--preset', 'dynamodb-geo');
  const mapping = JSON.parse(output.slice(output.indexOf('{\n'))) as MappingJson;
  const path = await file('points.json', JSON.stringify({ ...mapping, properties: ['rank'], details: '*' }));
  const rejects = join(folder, 'rejects.ndjson');
  const run = () => cellport('import', path, '--from-table', table, '-c', 'points', '--rejects', rejects);

  const first = await run();
  expect(first.output).toContain(`${good.length + 3} items read`);
  expect(first.output).toContain(`${good.length + 2} created, 0 updated, 0 unchanged, 1 rejected`);
  expect(first.code).toBe(0);
  const rejected = (await readFile(rejects, 'utf8')).trimEnd().split('\n');
  expect(rejected.map((line) => JSON.parse(line) as unknown)).toEqual([
    {
      line: expect.any(Number) as number,
      reason: expect.stringMatching(/^geoJson must be a latitude and a longitude/) as string,
      row: expect.objectContaining({ rangeKey: { S: 'no point' } }) as object,
    },
  ]);
  const keys = POSITIONS.map((_, index) => String(index));
  const { collection, markers } = await markersOf('points', [...keys, 'exact', 'names']);
  expect(collection?.mapProperties).toEqual(['rank']);
  expect(markers.slice(0, -2).map((marker) => marker?.position)).toEqual(POSITIONS);
  const [exact, names] = markers.slice(-2);
  expect(exact).toMatchObject({ name: 'point 1', category: 'shop' });
  expect(exact?.properties).toMatchObject({ rank: 1, large: '12345678901234567890123', bytes: 'AQI=' });
  const kept = Object.entries(names?.properties ?? {}).filter(([name]) => Object.hasOwn(NAMES, name));
  expect(canonical(Object.fromEntries(kept))).toEqual(canonical(NAMES));

  expect((await run()).output).toContain(`0 created, 0 updated, ${good.length + 2} unchanged, 1 rejected`);
  expect(await allItems(database, table)).toEqual(before);
  // The copy is gone.
  expect((await readdir(join(folder, 'imports'))).filter((name) => !name.endsWith('.json'))).toEqual([]);
});

test('of several items that are one marker the newest counts, also if it is invalid; expired and other items are left out', async () => {
  const table = tableName('readings');
  await createTable(database, table, [
    { name: 'id', type: 'S' },
    { name: 'at', type: 'N' },
  ]);
  const put = (id: string, at: number, lat: unknown, more: Item = {}) =>
    putItem(database, table, { id, at, lat, lng: 16.9, ...more });
  for (const at of [3, 9, 1, 10, 2]) await put('bus', at, at);
  await put('gone', 1, 50);
  await put('gone', 2, 'north');
  await put('parked', 1, 51);
  await put('expired', 1, 52, { ttl: 1_700_000_000 });
  await put('shop', 1, 53, { type: 'shop' });
  const mapping = {
    table: 'another-name',
    key: '{id}',
    where: [{ path: 'type', exists: false }],
    ttl: 'ttl',
    position: { lng: 'lng', lat: 'lat' },
    newest: 'at',
  };
  const path = await file('readings.json', JSON.stringify(mapping));
  const { output } = await cellport('import', path, '--from-table', table, '-c', 'tracked');
  expect(output).toContain('2 created, 0 updated, 0 unchanged, 1 rejected');
  const { markers } = await markersOf('tracked', ['bus', 'gone', 'parked', 'expired', 'shop']);
  expect(markers.map((marker) => marker?.position.lat)).toEqual([10, undefined, 51, undefined, undefined]);
});

test('an import of a table that was interrupted resumes, whatever the size of pages; a changed table is compared', async () => {
  const table = tableName('interrupted');
  await makeGeoTable(database, table, good);
  const paged = newDatabase('readable', { tables: database.tables });
  interceptCalls(paged, 'Scan', (input, ask) => ask({ ...input, Limit: 50 }));
  const mapping = readMapping({ table, key: '{rangeKey}', position: { path: 'geoJson', as: 'lat,lng' }, name: 'name' });
  async function load(most = Infinity) {
    const stop = new AbortController();
    let [pages, resumed] = [0, 0];
    const job = { table, mapping, folder: join(folder, 'imports'), call: newCall(paged) };
    const { rows, identity } = await openTable({ ...job, onPage: () => (pages += 1) });
    expect(pages).toBeGreaterThan(good.length / 50);
    const loaded = await loadMarkers({
      database: paged,
      table: 'generation',
      dataDir: folder,
      collection: await openCollection(paged, { key: 'interrupted', name: 'x' }),
      source: { name: table, identity, rows },
      rejects: new RejectsFile(join(folder, 'interrupted.rejects')),
      once: false,
      windowRows: 40,
      signal: stop.signal,
      onChecked: () => undefined,
      onProgress(progress) {
        resumed = progress.resumed;
        if (progress.counts.created >= most) stop.abort(new Error('stopped'));
      },
    });
    return { counts: loaded.counts, resumed };
  }
  await expect(load(80)).rejects.toThrow('stopped');
  const { counts, resumed } = await load();
  expect(resumed).toBeGreaterThanOrEqual(80);
  expect(counts.created + counts.unchanged).toBe(good.length);
  await putItem(database, table, { hashKey: 511, rangeKey: 'new', geoJson: '{"type":"POINT","coordinates":[1,2]}' });
  const { markers } = await markersOf('interrupted', ['0', '319']);
  expect(markers.map((marker) => marker?.name)).toEqual(['point 0', 'point 319']);
  expect(await load()).toEqual({ counts: { created: 1, updated: 0, unchanged: good.length, rejected: 0 }, resumed: 0 });
  paged.client.destroy();
});

test('a mapping that no item matches is told, and a collection that takes no writes before the table is read', async () => {
  const table = tableName('unlike');
  await makeGeoTable(database, table, good);
  const mapping = { table, key: '{rangeKey}', position: { path: 'geoJson', as: 'lat,lng' } };
  const unlike = await file('unlike.json', JSON.stringify({ ...mapping, where: [{ path: 'kind', eq: 'shop' }] }));
  const none = await cellport('import', unlike, '--from-table', table, '-c', 'unlike');
  expect(none).toMatchObject({ code: 0, output: expect.stringContaining('no item matches the mapping') as string });
  const path = await file('like.json', JSON.stringify(mapping));
  expect((await cellport('source', 'create', 'followed', path, '--every', '1h')).output).toMatch(
    /servers read it again every 1 h 0 min/,
  );
  const refused = await cellport('import', path, '--from-table', table, '-c', 'followed');
  expect(refused).toMatchObject({ code: 2, output: expect.stringContaining('followed follows a table') as string });
  expect(refused.output).not.toContain('items read');
});

test('what is wrong is named before anything is read', async () => {
  const path = await file(
    'mapping.json',
    JSON.stringify({ table: 'nowhere', key: '{id}', position: { lng: 'x', lat: 'y' } }),
  );
  const none = await cellport('import', path, '--from-table', 'nowhere', '-c', 'x');
  expect(none).toMatchObject({ code: 1, output: expect.stringContaining('there is no table "nowhere"') as string });
  const broken = await cellport('import', await file('broken.json', '{}'), '--from-table', 'nowhere', '-c', 'x');
  expect(broken).toMatchObject({ code: 2, output: expect.stringContaining('broken.json: table must be') as string });
  const csv = await cellport('import', path, '--from-table', 'nowhere', '-c', 'x', '--key-column', 'id');
  expect(csv).toMatchObject({ code: 2, output: expect.stringContaining('cannot be used with option') as string });
});
