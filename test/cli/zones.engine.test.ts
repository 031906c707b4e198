import { mkdir, readdir, readFile, utimes, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, test } from 'vitest';

import { expectRfc7946 } from '../support/rfc7946.js';
import { runCliHere } from '../support/run-cli.js';
import { box, positions } from '../support/shapes.js';
import { temporaryFolder } from '../support/temporary-folder.js';
import { engineSettings, testDatabase } from '../support/test-database.js';

const database = await testDatabase('readable', { stream: true });
const folder = temporaryFolder();

const settings = () => ({
  CELLPORT_DATA_DIR: join(folder, 'data'),
  CELLPORT_OBJECTS: join(folder, 'objects'),
  // So small that all geometry is stored in the folder.
  CELLPORT_INLINE_GEOMETRY_BYTES: '0',
  CELLPORT_TABLE: database.tables.entities,
  ...engineSettings(),
});
const outcome = (...args: string[]) => runCliHere(args, settings());

test('a file of areas and lines is detected as zones, and --no-zones imports its points as markers', async () => {
  const path = join(folder, 'mixed.geojson');
  const feature = (id: string, type: string, coordinates: unknown) => ({
    type: 'Feature',
    id,
    geometry: { type, coordinates },
    properties: { name: id.toUpperCase() },
  });
  const ring = box(170, 0, 190, 10);
  const features = [
    feature('area', 'Polygon', [ring]),
    feature('line', 'LineString', positions('0 0, 1 1')),
    feature('point', 'Point', [5, 5]),
  ];
  await writeFile(path, JSON.stringify({ type: 'FeatureCollection', features }));
  const first = await outcome('import', path, '--collection', 'mixed', '--name', 'Mixed');
  expect(first.code).toBe(0);
  expect(first.output).toContain('zones for collection mixed (created)');
  expect(first.output).toMatch(/3 rows in .*: 2 created, 0 updated, 0 unchanged, 1 rejected/);
  expect(await readFile(`${path}.rejects.ndjson`, 'utf8')).toContain('--no-zones');
  const points = await outcome('import', path, '--collection', 'mixed', '--no-zones');
  expect(points.output).toMatch(/3 rows in .*: 1 created, 0 updated, 0 unchanged, 2 rejected/);

  const out = join(folder, 'out.geojson');
  const written = await outcome('export', '--collection', 'mixed', '--zones', '--out', out);
  expect(written).toMatchObject({ code: 0, output: expect.stringContaining('2 zones of mixed written to') });
  const text = await readFile(out, 'utf8');
  expectRfc7946(text);
  expect((JSON.parse(text) as { features: { id: string }[] }).features.map(({ id }) => id)).toEqual(['area', 'line']);
  const again = await outcome('import', out, '--collection', 'mixed', '--zones');
  expect(again.output).toMatch(/2 rows in .*: 0 created, 0 updated, 2 unchanged, 0 rejected/);

  const none = join(folder, 'point.ndjson');
  await writeFile(none, `${JSON.stringify(features[2])}\n`);
  const refused = await outcome('import', none, '--collection', 'mixed', '--zones');
  expect(refused).toMatchObject({ code: 2, output: expect.stringContaining('no row of') });
});

test('a sweep that would delete more than half of the objects deletes none without --yes', async () => {
  const objects = join(folder, 'swept');
  const lost = join(objects, database.tables.entities, 'zones/lost');
  await mkdir(lost, { recursive: true });
  const long = new Date(Date.now() - 7_200_000);
  for (const name of ['a.json.gz', 'b.json.gz']) {
    await writeFile(join(lost, name), 'x');
    await utimes(join(lost, name), long, long);
  }
  const swept = (...args: string[]) => runCliHere(['sweep', ...args], { ...settings(), CELLPORT_OBJECTS: objects });
  expect(await swept()).toMatchObject({ code: 2, output: expect.stringContaining('2 of 2 objects') });
  expect(await readdir(lost)).toEqual(['a.json.gz', 'b.json.gz']);
  expect(await swept('--yes')).toMatchObject({ code: 0, output: expect.stringContaining('2 removed') });
  expect(await readdir(lost).catch(() => [])).toEqual([]);
});
