import { spawn } from 'node:child_process';
import { existsSync, openSync } from 'node:fs';
import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, inject, test } from 'vitest';

import { openCollection } from '../../src/ingest/open-collection.js';
import { getCollections } from '../../src/store/collection/collections.js';
import { newCall } from '../../src/store/database.js';
import { runCliHere } from '../support/run-cli.js';
import { temporaryFolder } from '../support/temporary-folder.js';
import { engineSettings, testDatabase } from '../support/test-database.js';

const database = await testDatabase('readable', { stream: true });
const folder = temporaryFolder();
const settings = () => ({
  CELLPORT_DATA_DIR: join(folder, 'data'),
  CELLPORT_TABLE: database.tables.entities,
  CELLPORT_CONSUMER: 'off',
  PORT: '4321',
  ...engineSettings(),
});
const cellport = (...args: string[]) => runCliHere(args, settings());
async function file(name: string, text: string) {
  const path = join(folder, name);
  await writeFile(path, text);
  return path;
}

test('an exported CSV with U+FFFD in a name is read back unchanged', async () => {
  const path = await file('a.ndjson', '{"key":"1","name":"S\ufffdo Paulo","lat":-23.5,"lng":-46.6}\n');
  await cellport('import', path, '-c', 'mangled');
  const out = join(folder, 'out.csv');
  await cellport('export', '-c', 'mangled', '-o', out);
  expect(await readFile(out, 'utf8')).toContain('S\ufffdo Paulo');
  const { output } = await cellport('import', out, '-c', 'mangled');
  expect(output).toContain('1 unchanged');
});

test('--rejects that names the imported file does not delete it', async () => {
  const path = await file('self.csv', 'key,lat,lng\na,50,10\n');
  await cellport('import', path, '-c', 'self', '--rejects', path);
  expect(existsSync(path)).toBe(true);
});

test.each([
  ['no column of a position', 'id,town\n1,x\n', []],
  ['no valid row', 'key,lat,lng\na,95,10\n', []],
  [
    'no valid zone',
    '{"key":"a","geometry":{"type":"Polygon","coordinates":[[[0,95],[1,95],[1,96],[0,95]]]}}\n',
    ['--zones', '--format', 'ndjson'],
  ],
])('a file that is refused, as it has %s, leaves no collection', async (why, text, options) => {
  const key = why.replaceAll(' ', '-');
  const path = await file(`${key}.csv`, text);
  const { code, output } = await cellport('import', path, '-c', key, ...options);
  expect([output, code]).toEqual([expect.not.stringContaining('(created)'), 2]);
  expect(await getCollections(newCall(database), [key])).toEqual([null]);
});

test('a valid row is imported although a rejected row before it has the same key', async () => {
  const path = await file('dup.csv', 'key,lat,lng\na,95,10\na,50,10\n');
  expect((await cellport('import', path, '-c', 'dup')).output).toContain('1 created');
});

test('an export to a full disk says so in one line', async () => {
  const path = await file('b.ndjson', '{"key":"1","lat":1,"lng":1}\n');
  await cellport('import', path, '-c', 'full');
  const full = openSync('/dev/full', 'w');
  const child = spawn(process.execPath, [join(inject('compiled'), 'src/cli/main.js'), 'export', '-c', 'full'], {
    env: { PATH: process.env['PATH'], HOME: process.env['HOME'], ...settings() },
    stdio: ['ignore', full, 'pipe'],
  });
  let text = '';
  child.stderr?.setEncoding('utf8').on('data', (piece: string) => (text += piece));
  expect(await new Promise((resolve) => child.once('close', resolve))).toBe(1);
  expect(text).toMatch(/^cellport: ENOSPC[^\n]*\n$/);
});

test('two imports may create the same collection', async () => {
  const opened = await Promise.all(
    Array.from({ length: 2 }, () => openCollection(database, { key: 'twice', name: 'Twice' })),
  );
  const [first, second] = await Promise.all(opened.map(({ create }) => create()));
  expect(first).toEqual(second);
});
