import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';

import { writeMarkers } from '../../src/ingest/export/write-format.js';
import { openMarkers } from '../../src/ingest/markers/marker-reader.js';
import { FILE_FORMATS, type FileFormat } from '../../src/ingest/read/file-format.js';
import { isInvalid } from '../../src/ingest/read/row.js';
import type { Marker } from '../../src/model/marker.js';
import { expectRfc7946 } from '../support/rfc7946.js';
import { someOf } from '../support/rounds.js';
import { temporaryFolder } from '../support/temporary-folder.js';
import { awkwardMarkers, kept, type Kept } from './awkward-markers.js';

const folder = temporaryFolder();
let files = 0;

const whole = (marker: Kept) => marker as Marker;

async function* pages(markers: readonly Kept[], size: number): AsyncGenerator<readonly Marker[]> {
  for (let from = 0; from < markers.length; from += size) yield markers.slice(from, from + size).map(whole);
}

async function written(format: FileFormat, markers: readonly Kept[], size = 3): Promise<string> {
  let text = '';
  for await (const piece of writeMarkers(format, pages(markers, size))) text += piece;
  return text;
}

/** The rows that `import` reads from a text; invalid rows as their reasons. */
async function read(format: FileFormat, text: string): Promise<unknown[]> {
  const path = join(folder, `${(files += 1)}`);
  await writeFile(path, text);
  const source = await openMarkers(path, format);
  const found: unknown[] = [];
  for await (const rows of source.scan()) {
    for (const { content } of rows) found.push(isInvalid(content) ? content.reason : content);
  }
  await source.close();
  return found;
}

const plain: Kept = {
  key: 'poz',
  position: { lng: 16.9, lat: 52.4 },
  name: 'Poznań',
  category: 'city',
  place: ['Poland'],
  properties: { population: 538_633 },
};

describe.each(FILE_FORMATS)('markers written as %s', (format) => {
  test('are read back unchanged, whatever they contain', async () => {
    await fc.assert(
      fc.asyncProperty(awkwardMarkers(8), async (markers) => {
        const text = await written(format, markers);
        // A marker without a place is one with an empty place.
        const found = (await read(format, text)).map((row) =>
          typeof row === 'string' ? row : kept({ ...(row as Kept), place: (row as Partial<Kept>).place ?? [] }),
        );
        expect(found).toEqual(markers.map(kept));
        if (format === 'geojson') expectRfc7946(text);
        if (format === 'ndjson') for (const line of text.split('\n').filter(Boolean)) expectRfc7946(line);
      }),
      { numRuns: someOf(150) },
    );
  });

  test('keep the digits of integers that a number cannot represent', async () => {
    const properties = { n: 12345678901234567890n, list: [{ m: -9007199254740993n }], text: '12345678901234567890' };
    expect(await read(format, await written(format, [{ ...plain, properties }]))).toMatchObject([
      { properties: { ...properties, n: '12345678901234567890', list: [{ m: '-9007199254740993' }] } },
    ]);
  });

  test('may be empty', async () => {
    const text = await written(format, []);
    expect(await read(format, text)).toEqual([]);
  });

  test('give the same file however they are paged', async () => {
    const markers = fc.sample(awkwardMarkers(10), 50).find(({ length }) => length > 3) ?? [];
    expect(markers.length).toBeGreaterThan(3);
    expect(await written(format, markers, 1)).toBe(await written(format, markers, 100));
  });

  test('of the largest possible size are read back', async () => {
    // In JSON and in a quoted cell, these characters take the most bytes: six and three.
    for (const character of ['\u0001', '"']) {
      const properties = { text: character.repeat(390_000) };
      expect(await read(format, await written(format, [{ ...plain, properties }]))).toEqual([{ ...plain, properties }]);
    }
  });
});

test('a simple marker is simple in every format', async () => {
  expect(await written('geojson', [plain])).toBe(
    '{"type":"FeatureCollection","features":[\n' +
      '{"type":"Feature","id":"poz","geometry":{"type":"Point","coordinates":[16.9,52.4]},"properties":{"name":"Poznań","category":"city","place":["Poland"],"population":538633}}\n' +
      ']}\n',
  );
  expect(await written('csv', [{ ...plain, name: null }])).toBe(
    'key,lng,lat,name,category,place,properties\n' + 'poz,16.9,52.4,,city,"[""Poland""]","{""population"":538633}"\n',
  );
  const lines = (await written('ndjson', [plain, { ...plain, key: 'b' }])).split('\n');
  expect(lines.map((line) => line && (JSON.parse(line) as { id: string }).id)).toEqual(['poz', 'b', '']);
});

test('properties named like an attribute of a marker stay properties, and the attribute is written separately', async () => {
  const text = await written('ndjson', [{ ...plain, properties: { name: 'not its name' } }]);
  expect(JSON.parse(text)).toMatchObject({
    properties: { name: 'not its name' },
    cellport: { name: 'Poznań', category: 'city', place: ['Poland'] },
  });
});

describe('a table with the columns of an export', () => {
  const header = 'key,lng,lat,name,category,place,properties';

  test('is still recognized after a spreadsheet has saved it with semicolons and decimal commas', async () => {
    const text = `\ufeff${header.replaceAll(',', ';')}\r\npoz;16,9;52,4;Poznań;city;"[""Poland""]";"{""population"":538633}"\r\n`;
    expect(await read('csv', text)).toEqual([plain]);
  });

  test('may have quoted names', async () => {
    expect(await read('csv', `${header}\na,1,2,"""Bob"" Bar",,,\n`)).toMatchObject([{ name: '"Bob" Bar' }]);
  });

  test('has an error that explains why a cell is not valid JSON', async () => {
    const rows = ['a,1,2,,,here,', 'a,1,2,,,,{', 'a,1,2,,,,5', ',1,2,,,,'];
    expect(await read('csv', [header, ...rows].join('\n'))).toEqual([
      'place is not a JSON list',
      'properties is not a JSON object',
      'properties is not a JSON object',
      expect.stringContaining('no key'),
    ]);
  });
});
