import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, test } from 'vitest';

import { createTable, deleteItem, putItem } from '../../sources/foreign-table.js';
import { runCliHere } from '../../support/run-cli.js';
import { temporaryFolder } from '../../support/temporary-folder.js';
import { engineSettings, testDatabase } from '../../support/test-database.js';

const db = await testDatabase('readable', { stream: true });
const folder = temporaryFolder();
const settings = { ...engineSettings(), CELLPORT_TABLE: db.tables.entities, CELLPORT_LOG: 'silent' };
const cli = (...args: string[]) => runCliHere(args, settings);

test('a source is exported from its pages and its table, with changes that no server has followed yet', async () => {
  const table = `${db.tables.entities}-app`;
  await createTable(db, table, [{ name: 'id', type: 'S' }], 'NEW_AND_OLD_IMAGES');
  const put = (n: number, lng: number) =>
    putItem(db, table, { id: `s${n}`, lng, lat: n - 40, note: `n${n}`, secret: 1 });
  for (let n = 0; n < 80; n++) await put(n, n * 4 - 160);
  const mapping = { table, key: '{id}', position: { lng: 'lng', lat: 'lat' }, details: ['note'] };
  const path = join(folder, 'mapping.json');
  await writeFile(path, JSON.stringify(mapping));
  expect(await cli('source', 'create', 'shops', path)).toMatchObject({ code: 0 });
  await put(80, 180);
  await put(3, 12);
  await deleteItem(db, table, { id: 's5' });

  const out = join(folder, 'shops.ndjson');
  expect(await cli('export', '-c', 'shops', '-o', out)).toMatchObject({ code: 0 });
  const rows = (await readFile(out, 'utf8'))
    .trim()
    .split('\n')
    .map((line) => JSON.parse(line) as { id: string });
  const expected = Array.from({ length: 81 }, (_, n) => n).filter((n) => n !== 5);
  expect(rows.map(({ id }) => id).toSorted()).toEqual(expected.map((n) => `s${n}`).toSorted());
  expect(rows.find(({ id }) => id === 's3')).toMatchObject({
    geometry: { coordinates: [12, -37] },
    properties: { note: 'n3' },
  });
});
