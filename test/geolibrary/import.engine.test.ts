import { readdir, readFile, stat, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';

import { readTableLayout } from '../../src/geolibrary/layout.js';
import { removeSpool, spoolRows, spoolTable } from '../../src/geolibrary/spool.js';
import type { MarkerRow } from '../../src/ingest/rows/marker-row.js';
import { newCall } from '../../src/store/request/meter.js';
import { wireOf } from '../../src/store/request/wire.js';
import { canonical } from '../support/any-json.js';
import { interceptCalls } from '../support/faults.js';
import { postQuery } from '../support/post-query.js';
import { recordCalls } from '../support/record-calls.js';
import { runCli } from '../support/run-cli.js';
import { temporaryFolder } from '../support/temporary-folder.js';
import { engineSettings, newDatabase } from '../support/test-database.js';
import { libraryItems, makeGeoTable, POSITIONS } from './library.js';

const database = newDatabase();
const folder = temporaryFolder();

const LENGTH = 3;
const good = libraryItems({ length: LENGTH, order: 'latitude first' });
const one = good[1] ?? {};
/** Names that JavaScript could misinterpret, at both levels. */
const NAMES = JSON.parse(
  '{"__proto__":"a","constructor":{"name":"Set"},"toString":1,"nested":{"__proto__":{"x":null},"constructor":"b"}}',
) as Record<string, unknown>;
/** Items that the library would never write, and numbers that JavaScript cannot represent. */
const odd = [
  { ...one, rangeKey: { S: 'moved' }, geoJson: { S: '{"type":"POINT","coordinates":[1,2]}' } },
  { ...one, rangeKey: { S: 'no point' }, geoJson: { S: 'nothing' } },
  { ...one, rangeKey: { S: 'exact' }, large: { N: '12345678901234567890123' }, bytes: { B: Buffer.from([1, 2]) } },
  { ...one, rangeKey: { S: 'names' }, ...(wireOf(NAMES) as { M: object }).M },
  { ...one, rangeKey: { S: 'fraction' }, large: { N: '90071992547409930.5' } },
];
await makeGeoTable(database, 'Shops', [...good, ...odd]);

const ENV = {
  ...engineSettings(),
  CELLPORT_TABLE: 'moved',
  CELLPORT_DATA_DIR: folder,
};

const path = join(folder, 'copy.ndjson');
const layout = await readTableLayout(database, 'Shops');
const spool = (db = database, signal?: AbortSignal) =>
  spoolTable({ database: db, layout, path, segments: 4, call: newCall(signal), onProgress: () => undefined });

describe('a layout', () => {
  test('with other attribute names is recognized, and a table of another kind is rejected', async () => {
    const names = { hashKey: 'h', rangeKey: 'r', geohash: 'g', geoJson: 'where' };
    const items = libraryItems({ length: 5, order: 'longitude first', names });
    await makeGeoTable(database, 'Renamed', items, { names, index: 'by-place' });
    expect(await readTableLayout(database, 'Renamed', { index: 'by-place', geoJson: 'where' })).toMatchObject({
      attributes: names,
      hashKeyLength: 5,
      order: 'longitude first',
    });
    await expect(readTableLayout(database, 'Renamed')).rejects.toThrow(
      /no local secondary index geohash-index.*by-place/,
    );
    await expect(readTableLayout(database, 'Renamed', { index: 'by-place' })).rejects.toThrow(
      /geoJson is not the GeoJSON/,
    );
    await expect(readTableLayout(database, 'Nowhere')).rejects.toMatchObject({ code: 'NOT_FOUND' });
    await makeGeoTable(database, 'Empty', []);
    await expect(readTableLayout(database, 'Empty')).rejects.toThrow(/is empty/);
    await makeGeoTable(database, 'Mixed', [...items.slice(0, 3), { ...items[4], h: { N: '5' } }], {
      names,
      index: 'by-place',
    });
    await expect(readTableLayout(database, 'Mixed', { index: 'by-place', geoJson: 'where' })).rejects.toThrow(
      /its hash keys have/,
    );
  });
});

describe('the copy of a table', () => {
  test('is made anew once it is a day old', async () => {
    const { items } = await spool();
    expect(await spool()).toEqual({ items, resumed: items });
    const state = JSON.parse(await readFile(`${path}.state`, 'utf8')) as { startedAt: number };
    await writeFile(`${path}.state`, JSON.stringify({ ...state, startedAt: state.startedAt - 86_400_000 }));
    expect(await spool()).toEqual({ items, resumed: 0 });
    await removeSpool(path);
  });

  test('resumes each segment where it was interrupted, and has each item once', async () => {
    const stop = new AbortController();
    const stopping = newDatabase('readable', { tables: database.tables });
    const answers: Promise<Record<string, unknown>>[] = [];
    interceptCalls(stopping, 'Scan', async (input, ask) => {
      if (answers.length < 2) {
        const answer = ask(input);
        answers.push(answer);
        return answer;
      }
      await Promise.all(answers);
      stop.abort(new Error('stopped'));
      throw stop.signal.reason;
    });
    await expect(spool(stopping, stop.signal)).rejects.toThrow(/stopped/);
    stopping.client.destroy();
    const calls = recordCalls(database);
    const partial = (await stat(path)).size;
    expect(partial).toBeGreaterThan(0);
    const { items, resumed } = await spool();
    expect(resumed).toBeGreaterThan(0);
    expect(items).toBe(good.length + odd.length);
    // One page for each segment: pages that were read before the interruption are not read again.
    expect(calls.count('Scan')).toBeLessThan(4);
    const lines = (await readFile(path, 'utf8')).trimEnd().split('\n');
    expect(new Set(lines.map((line) => (JSON.parse(line) as { rangeKey: { S: string } }).rangeKey.S)).size).toBe(items);
    expect(lines).toHaveLength(items);
    // A complete copy is not read again.
    const done = calls.count();
    expect((await spool()).resumed).toBe(items);
    expect(calls.count()).toBe(done);
  });

  test('is read as markers; items that are not markers are reported with the reason', async () => {
    const source = spoolRows(path, (await stat(path)).size, layout);
    const markers = new Map<string, unknown>();
    const reasons: string[] = [];
    for await (const rows of source.scan()) {
      for (const { content } of rows) {
        if ('reason' in content) reasons.push(content.reason);
        else markers.set(content.key, content);
      }
    }
    await source.close();
    expect(markers.size).toBe(good.length + 3);
    for (const [index, position] of POSITIONS.entries()) expect(markers.get(String(index))).toMatchObject({ position });
    expect(markers.get('exact')).toMatchObject({
      name: 'point 1',
      category: 'shop',
      properties: { rank: 1, large: '12345678901234567890123', bytes: 'AQI=' },
    });
    const { rank: _rank, ...named } = (markers.get('names') as MarkerRow).properties;
    expect(canonical(named)).toEqual(canonical(NAMES));
    expect(markers.get('fraction')).toMatchObject({ properties: { large: '90071992547409940' } });
    expect(reasons).toHaveLength(2);
    expect(reasons).toEqual(
      expect.arrayContaining([
        'geoJson is not the GeoJSON of a point',
        expect.stringMatching(/^geoJson is not at the position of geohash, longitude and latitude /) as string,
      ]),
    );
  });
});

describe('cellport import --from-geo-table', () => {
  test('loads a table into a collection, prints what it found, and changes nothing when run again', async () => {
    const rejects = join(folder, 'rejects.ndjson');
    const args = ['import', '--from-geo-table', 'Shops', '--collection', 'shops', '--rejects', rejects];
    const first = runCli(args, ENV);
    expect([await first.ended, first.output()]).toEqual([
      0,
      expect.stringMatching(/hash keys of 3 digits, latitude first/),
    ]);
    expect(first.output()).toMatch(new RegExp(`${good.length + odd.length} items copied`));
    expect(first.output()).toMatch(new RegExp(`${good.length + 3} created, 0 updated, 0 unchanged, 2 rejected`));
    expect((await readFile(rejects, 'utf8')).trimEnd().split('\n')).toHaveLength(2);
    const again = runCli(args, ENV);
    expect(await again.ended).toBe(0);
    expect(again.output()).toMatch(new RegExp(`0 created, 0 updated, ${good.length + 3} unchanged, 2 rejected`));
    const wrong = runCli(['import', 'file.csv', '--from-geo-table', 'Shops', '--collection', 'shops'], ENV);
    expect([await wrong.ended, wrong.output()]).toEqual([
      2,
      expect.stringMatching(/takes either a file or --from-geo-table/),
    ]);
    // The copy is removed.
    expect((await readdir(join(folder, 'imports'))).filter((name) => name.includes('ndjson'))).toEqual([]);
  });
});

describe('cellport serve --geo-table', () => {
  test('prints the layout of the table and serves it', async () => {
    const run = runCli(['serve', '--geo-table', 'Shops'], { ...ENV, CELLPORT_TABLE: 'beside', PORT: '0' });
    const url = await run.serving();
    expect(run.output()).toMatch(/Shops as collection shops, read-only: latitude first, hash keys of 3 digits/);
    const query =
      '{ viewport(bounds: { west: 16, south: 52, east: 18, north: 53 }, zoom: 8) { count(collection: "shops") markers(collection: "shops", first: 100) { nodes { key properties } } } }';
    const inside = POSITIONS.filter(({ lng, lat }) => lng >= 16 && lng <= 18 && lat >= 52 && lat <= 53).length;
    const { data } = (await (await postQuery(url, query)).json()) as {
      data: { viewport: { count: number; markers: { nodes: { key: string; properties: Record<string, unknown> }[] } } };
    };
    // Three of the unusual items are included.
    expect(data.viewport.count).toBe(inside + 3);
    const { rank: _rank, ...named } = data.viewport.markers.nodes.find(({ key }) => key === 'names')?.properties ?? {};
    expect(canonical(named)).toEqual(canonical(NAMES));
    run.child.kill('SIGTERM');
    expect(await run.ended).toBe(0);

    const taken = runCli(['serve', '--geo-table', 'Shops'], { ...ENV, PORT: '0' });
    expect([await taken.ended, taken.output()]).toEqual([
      1,
      expect.stringMatching(/cannot serve the table Shops as collection shops/),
    ]);
    const none = runCli(['serve', '--geo-table', 'Nowhere'], { ...ENV, PORT: '0' });
    expect([await none.ended, none.output()]).toEqual([1, expect.stringMatching(/there is no table "Nowhere"/)]);
  });
});
