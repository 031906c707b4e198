import { spawnSync } from 'node:child_process';
import { existsSync } from 'node:fs';
import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { gzipSync } from 'node:zlib';
import { describe, expect, inject, test } from 'vitest';

import type { Collection } from '../../src/model/collection.js';
import { getCollections } from '../../src/store/collection/collections.js';
import { newCall } from '../../src/store/database.js';
import { createMarker, getMarkers } from '../../src/store/marker/markers.js';
import { startStallingProxy } from '../support/proxy.js';
import { runCli, runCliHere } from '../support/run-cli.js';
import { temporaryFolder } from '../support/temporary-folder.js';
import { engine, engineSettings, testCollection, testDatabase } from '../support/test-database.js';

const database = await testDatabase('readable', { stream: true });
const folder = temporaryFolder();

const settings = (at = engine().endpoint) => ({
  CELLPORT_DATA_DIR: join(folder, 'data'),
  CELLPORT_TABLE: database.tables.entities,
  CELLPORT_CONSUMER: 'off',
  PORT: '4321',
  ...engineSettings(),
  AWS_ENDPOINT_URL_DYNAMODB: at,
});
const cellport = (...args: string[]) => runCliHere(args, settings());
async function file(name: string, content: string | Uint8Array) {
  const path = join(folder, name);
  await writeFile(path, content);
  return path;
}
const rows = (from: number, to: number) =>
  Array.from({ length: to - from }, (_, at) => `k${from + at},${at % 80},${at % 170},name\n`).join('');
const table = (name: string, from: number, to: number) => file(name, `key,lat,lng,name\n${rows(from, to)}`);

/** The keys that markers of a collection still have, of those from `k0`. */
async function keysOf(collection: string, most = 60): Promise<string[]> {
  const [found] = await getCollections(newCall(database), [collection]);
  const keys = Array.from({ length: most }, (_, at) => `k${at}`);
  const references = keys.map((key) => ({ collection: found as Collection, key }));
  const markers = await getMarkers(newCall(database), references, { consistent: true });
  return markers.flatMap((marker) => (marker === null ? [] : [marker.key]));
}
const keys = (from: number, to: number) => Array.from({ length: to - from }, (_, at) => `k${from + at}`);

describe('import --prune', () => {
  test('says how many markers the file no longer has, and removes them; repeated, it removes nothing', async () => {
    await cellport('import', await table('a.csv', 0, 20), '-c', 'shrinking');
    const path = await table('b.csv', 5, 25);
    const { code, output } = await cellport('import', path, '-c', 'shrinking', '--prune');
    expect(output).toContain(`5 of 20 markers of shrinking are not in ${path}`);
    expect(output).toContain(`5 markers removed that are not in ${path}`);
    expect(output.indexOf('5 of 20')).toBeLessThan(output.indexOf('5 created'));
    expect(code).toBe(0);
    expect(await keysOf('shrinking')).toEqual(keys(5, 25));
    const again = await cellport('import', path, '-c', 'shrinking', '--prune');
    expect(again).toMatchObject({ code: 0, output: expect.stringContaining('20 unchanged') as unknown });
    expect(again.output).not.toMatch(/removed|are not in/);
  });

  test('refuses to remove more than half without --yes, before anything is written', async () => {
    await cellport('import', await table('a.csv', 0, 20), '-c', 'halved');
    const half = await cellport('import', await table('half.csv', 10, 20), '-c', 'halved', '--prune');
    expect(half.code).toBe(0);
    const path = await table('c.csv', 16, 40);
    const { code, output } = await cellport('import', path, '-c', 'halved', '--prune');
    expect(output).toMatch(/6 of 10 markers of halved are not in .*more than half: pass --yes/);
    expect(code).toBe(2);
    expect(await keysOf('halved')).toEqual(keys(10, 20));
    expect(await cellport('import', path, '-c', 'halved', '--prune', '--yes')).toMatchObject({ code: 0 });
    expect(await keysOf('halved')).toEqual(keys(16, 40));
    const empty = await file('empty.csv', 'key,lat,lng\n');
    expect(await cellport('import', empty, '-c', 'halved', '--prune')).toMatchObject({ code: 2 });
    expect(await keysOf('halved')).toEqual(keys(16, 40));
  });

  test('removes nothing if a row was rejected, and says why', async () => {
    await cellport('import', await table('a.csv', 0, 20), '-c', 'kept');
    const path = await file('bad.csv', `key,lat,lng,name\n${rows(5, 20)}k4,95,1,x\n`);
    const { code, output } = await cellport('import', path, '-c', 'kept', '--prune');
    expect(output).toMatch(/nothing not in .*bad\.csv was removed: 1 row was rejected/);
    expect(output).toContain('15 updated');
    expect(code).toBe(1);
    expect(await keysOf('kept')).toEqual(keys(0, 20));
  });

  test('removes nothing if the file cannot be read to its end', async () => {
    await cellport('import', await table('a.csv', 0, 20), '-c', 'cut');
    const whole = gzipSync(`key,lat,lng,name\n${rows(1, 20)}`);
    const zipped = await file('cut.csv.gz', whole.subarray(0, -9));
    const json = await file('cut.json', '[{"key":"k1","lat":1,"lng":2},{"key":"k2","lat":1,"lng":2}');
    for (const path of [zipped, json]) {
      expect(await cellport('import', path, '-c', 'cut', '--prune', '--yes')).toMatchObject({ code: 2 });
    }
    expect(await keysOf('cut')).toEqual(keys(0, 20));
  });

  test('resumes after an interruption, and leaves markers that were created after it began', async () => {
    await cellport('import', await table('a.csv', 0, 40), '-c', 'stopped');
    const path = await table('d.csv', 20, 40);
    let deletes = 0;
    const { url, stalled, close } = await startStallingProxy((asked) => asked === 'DeleteItem' && (deletes += 1) > 5);
    const run = runCli(['import', path, '-c', 'stopped', '--prune'], settings(url));
    await stalled;
    const [collection] = await getCollections(newCall(database), ['stopped']);
    const later = { key: 'k50', position: { lng: 1, lat: 2 } };
    await createMarker(newCall(database), collection as Collection, later, '2099-01-01T00:00:00.000Z');
    run.child.kill('SIGINT');
    expect(await run.ended).toBe(1);
    await close();
    const left = await keysOf('stopped');
    expect(left.length).toBeGreaterThan(21);
    expect(await cellport('import', path, '-c', 'stopped', '--prune')).toMatchObject({ code: 0 });
    expect(await keysOf('stopped')).toEqual([...keys(20, 40), 'k50']);
  });

  test('is for markers only', async () => {
    const line = { type: 'Feature', id: 1, geometry: { type: 'LineString', coordinates: [[0, 0], [1, 1]] } }; // prettier-ignore
    const path = await file('zones.json', JSON.stringify([line]));
    expect(await cellport('import', path, '-c', 'zones', '--prune')).toMatchObject({
      code: 2,
      output: expect.stringMatching(/--prune must be for markers/) as unknown,
    });
  });
});

test('an import says what it guessed, without the control characters of the file', async () => {
  const features = [
    '{"type":"Feature","geometry":{"type":"Point","coordinates":[1,2,80]},"properties":{"a":1e400}}',
    '{"type":"Feature","id":"z","geometry":{"type":"LineString","coordinates":[[0,0],[1,1]]},"properties":{"nazwa":"Z"}}',
  ];
  const path = await file('mixed.json', features.join('\n'));
  const { output } = await cellport('import', path, '-c', 'mixed');
  for (const said of [
    '1 line skipped: pass --zones',
    '1 row has no key: ',
    'no names found',
    '1 elevation dropped',
    '1 number kept as text',
  ]) {
    expect(output).toContain(said);
  }
  const zones = await cellport('import', path, '-c', 'mixed-zones', '--zones');
  expect(zones.output).toContain('1 point skipped: pass --no-zones');
  expect(zones.output).toContain('no names found; pass --name-column');
  const named = await cellport('import', path, '-c', 'mixed-zones', '--zones', '--name-column', 'nazwa');
  expect(named.output).toContain('1 updated');
  expect(named.output).not.toContain('no names found');
  const latin = await file(
    'latin.csv',
    Buffer.from('key;lat;lng;Stra\xdfe;n\x1b[31m\n1;52,4;16,9;a;1\n2;52,4;16,9;b;x\n', 'latin1'),
  );
  const table = await cellport('import', latin, '-c', 'latin');
  expect(table.output).toContain('read as windows-1252');
  expect(table.output).toContain('column "n\\u001b[31m" is text, as "x" is no number');
  const missing = await file('missing.csv', 'key,\x1b[31m\x9b\n1,2\n');
  expect((await cellport('import', missing, '-c', 'missing')).output).toContain('\\u001b[31m\\u009b');
});

test('a map property that no row of a new collection has is named; without a terminal, nothing is asked', async () => {
  const path = await file('sized.csv', 'key,lat,lng,size\na,1,2,3\n');
  const created = await cellport('import', path, '-c', 'sized', '--map-properties', 'size', 'pirce');
  expect(created.output).toContain('warning: none of 1 markers has pirce\n');
  expect(created.code).toBe(0);
  const [collection] = await getCollections(newCall(database), ['sized']);
  expect(collection?.mapProperties).toEqual(['size', 'pirce']);
});

test('a file of an unknown name that begins like JSON is read', async () => {
  const point = { type: 'Feature', id: 'a', properties: {}, geometry: { type: 'Point', coordinates: [1, 2] } };
  const path = await file('features.txt', `\n${JSON.stringify(point)}\n`);
  expect((await cellport('import', path, '-c', 'unnamed')).output).toContain('1 created');
  const prose = await file('prose.txt', 'Dear reader');
  expect((await cellport('import', prose, '-c', 'unnamed')).output).toContain('or pass --format');
});

describe('export', () => {
  const name = '=cmd|" /C calc"!A0';

  test('--escape-formulas leaves no text that a spreadsheet would run, and is read back', async () => {
    const formulas = [name, '+1', '-1', '@a', '\ta', '\ra', 'plain', ' = blank', '"quoted"'];
    const lines = formulas.map((text) => JSON.stringify({ key: text, lat: -1, lng: -2, name: text, category: text }));
    await cellport('import', await file('formulas.ndjson', lines.join('\n')), '-c', 'formulas');
    const out = join(folder, 'formulas.csv');
    expect(await cellport('export', '-c', 'formulas', '--escape-formulas', '-o', out)).toMatchObject({ code: 0 });
    expect(await readFile(out, 'utf8')).not.toMatch(/(?:^|,)"?[=+@\t\r]|(?:^|,)"?-(?!\d+,)/m);
    const { output } = await cellport('import', out, '-c', 'formulas', '--prune');
    expect(output).toContain(`0 created, 0 updated, ${formulas.length} unchanged, 0 rejected`);
    expect(await cellport('export', '-c', 'formulas', '--escape-formulas', '-o', `${out}.json`)).toMatchObject({
      code: 2,
    });
  });

  test.skipIf(!existsSync('/usr/bin/script'))(
    'to a terminal shows control characters, to a pipe writes them',
    async () => {
      await testCollection(database, { key: 'colors', name: 'C' }, '2026-01-01T00:00:00.000Z');
      const [collection] = await getCollections(newCall(database), ['colors']);
      const marker = { key: 'a', position: { lng: 1, lat: 2 }, name: '\x1b[31mred\x9b' };
      await createMarker(newCall(database), collection as Collection, marker, '2026-01-01T00:00:00.000Z');
      const command = `${process.execPath} ${join(inject('compiled'), 'src/cli/main.js')} export -c colors --format csv`;
      const env = { PATH: process.env['PATH'], HOME: process.env['HOME'], ...settings() };
      const shown = spawnSync('script', ['-qec', command, '/dev/null'], { env, encoding: 'utf8' });
      expect(shown.stdout).toContain('\\u001b[31mred\\u009b');
      expect(spawnSync('sh', ['-c', command], { env, encoding: 'utf8' }).stdout).toContain('\x1b[31mred\x9b');
    },
  );
});
