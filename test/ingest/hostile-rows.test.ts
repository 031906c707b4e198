import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import fc from 'fast-check';
import { expect, test } from 'vitest';

import { checkRows } from '../../src/ingest/check-rows.js';
import { openMarkers } from '../../src/ingest/markers/marker-reader.js';
import { openFile } from '../../src/ingest/read/file-source.js';
import { RejectsFile } from '../../src/ingest/read/rejects.js';
import type { RowSource } from '../../src/ingest/read/row.js';
import { readingReader } from '../../src/ingest/readings/reading-row.js';
import { isZoneFile, openZones } from '../../src/ingest/zones/zone-row.js';
import { newCollection } from '../../src/store/collection/collection-item.js';
import { newCall } from '../../src/store/database.js';
import { newMarkerItem } from '../../src/store/marker/marker-item.js';
import { draftZone } from '../../src/store/zone/zones.js';
import { memoryDatabase } from '../support/memory-store.js';
import { someOf } from '../support/rounds.js';
import { temporaryFolder } from '../support/temporary-folder.js';

const folder = temporaryFolder();

const database = memoryDatabase();
const collection = newCollection({ key: 'a', name: 'A' }, '2026-11-22T10:00:00.000Z');

/** Rows with a placeholder for a value at each `$`. */
const ROWS = [
  '{"type":$,"id":$,"geometry":$,"properties":$,"cellport":$}',
  '{"type":"Feature","id":$,"geometry":{"type":$,"coordinates":$},"properties":{"name":$,"category":$,"place":$,$:$}}',
  '{"type":"Feature","id":$,"geometry":{"type":"Point","coordinates":[$,$]},"properties":{},"cellport":{"name":$,"place":$}}',
  '{"type":"Feature","id":$,"geometry":{"type":"Polygon","coordinates":[[$,[1,0],[1,1],[0,0]]]},"properties":null}',
  '{"key":$,"lng":$,"lat":$,"name":$,"category":$,"place":$,$:$}',
  '{"key":$,"position":{"lng":$,"lat":$},"properties":{$:$}}',
  '{"marker":$,"at":$,"values":{$:$}}',
  '{"marker":$,"at":$,$:$}',
];
const deep = (open: string, close: string, inside: string) => `${open.repeat(5_000)}${inside}${close.repeat(5_000)}`;
const DEEP = deep('[', ']', '');
const VALUES = [
  DEEP,
  deep('{"a":', '}', '123456789012345678901234567890'),
  deep('{"type":"Feature","geometry":', '}', '1'),
  '{"toString":1,"valueOf":2}',
  '{"constructor":{"name":"Set"}}',
  '{"__proto__":null,"toJSON":1}',
  '"Feature"',
  '"Point"',
  '"Polygon"',
  '"\\ud800"',
  '"2026-11-22T10:00:00Z"',
  '[0,0]',
  '{"type":"Polygon","coordinates":[[[0,0],[1,0],[1,1],[0,0]]]}',
  '1e309',
  '-0',
  '123456789012345678901234567890',
  '0x10',
  'null',
  'true',
  '{}',
  '[]',
  '""',
  '1',
];
const NAMES = ['"__proto__"', '"constructor"', '"toString"', '""', '"a"', `"${'n'.repeat(60_000)}"`];

const hostileRow = fc
  .tuple(
    fc.constantFrom(...ROWS),
    fc.infiniteStream(fc.constantFrom(...VALUES)),
    fc.infiniteStream(fc.constantFrom(...NAMES)),
  )
  .map(([row, values, names]) =>
    row.replace(/\$:?/g, (place) => (place === '$' ? String(values.next().value) : `${String(names.next().value)}:`)),
  );

/** Checks a source like an import; returns the number of rows. */
async function checked<C extends { readonly key: string }>(source: RowSource<C>, check: (content: C) => unknown) {
  const rejects = new RejectsFile(join(folder, 'rejects.ndjson'));
  try {
    const { offsets, rejected } = await checkRows(
      { collection, source, rejects, call: newCall(database), onChecked: () => undefined },
      check,
    );
    if (rejected > 0) {
      const lines = (await readFile(rejects.path, 'utf8')).trim().split('\n');
      expect(lines.every((line) => /^\{"line":\d+,"reason":".+","row":.+\}$/.test(line))).toBe(true);
      expect(lines).toHaveLength(rejected);
    }
    return offsets.count + rejected;
  } finally {
    await source.close();
  }
}

test('no row stops an import: each is imported or rejected', async () => {
  await fc.assert(
    fc.asyncProperty(fc.array(hostileRow, { minLength: 1, maxLength: 6 }), async (rows) => {
      const path = join(folder, 'rows.ndjson');
      await writeFile(path, rows.join('\n'));
      const count = rows.length;
      await isZoneFile(path, 'ndjson');
      const marker = (row: object) => newMarkerItem(database, collection, row as never, '');
      expect(await checked(await openMarkers(path, 'ndjson'), marker)).toBe(count);
      const zone = ({ key, ...row }: { key: string }) => draftZone(database, collection, key, row as never);
      expect(await checked(await openZones(path, 'ndjson'), zone)).toBe(count);
      expect(await checked(await openFile(path, readingReader(path, 'ndjson', {})), () => undefined)).toBe(count);

      const collected = join(folder, 'rows.geojson');
      await writeFile(collected, `{"type":"FeatureCollection","features":[${rows.join(',\n')}],"more":${DEEP}}`);
      await isZoneFile(collected, 'geojson');
      expect(await checked(await openMarkers(collected, 'geojson'), marker)).toBe(count);
    }),
    { numRuns: someOf(100) },
  );
});
