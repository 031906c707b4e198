import fc from 'fast-check';
import { describe, expect, test } from 'vitest';

import { featuresOf } from '../../web/map/import/features.js';
import { linesOf, readText, textForm, type Lines } from '../../web/map/import/lines.js';
import type { ImportRow } from '../../web/map/import/row.js';
import { readRows } from '../../web/map/import/rows.js';
import { readRows as readFromFile } from '../ingest/read-rows.js';

/** The text in pieces that end at these positions. */
async function* inPieces(text: string, ends: readonly number[]): AsyncGenerator<string> {
  const at = [...new Set(ends.map((end) => end % (text.length + 1)))].toSorted((a, b) => a - b);
  for (const [index, end] of [...at, text.length].entries()) yield text.slice(at[index - 1] ?? 0, end);
}

async function all(batches: AsyncIterable<readonly Lines[]>): Promise<Lines[]> {
  const found: Lines[] = [];
  for await (const batch of batches) found.push(...batch);
  return found;
}

const ends = fc.array(fc.nat(2_000), { maxLength: 8 });
const name = fc.oneof(fc.string({ unit: 'binary' }), fc.constantFrom('a\\', '"features": [', ',]}', '\\"', '\n'));

test('the features of a file are found with their lines, wherever its pieces end', async () => {
  await fc.assert(
    fc.asyncProperty(
      fc.array(fc.record({ name, list: fc.array(fc.nat()) })),
      name,
      ends,
      async (features, title, cuts) => {
        const texts = features.map((each, at) => JSON.stringify(each, undefined, at % 2));
        const text = `{"title": ${JSON.stringify(title)},\n "features" : [\n${texts.join(' ,\n')}\n], "end": [1, {}]}`;
        let line = 3;
        const expected = texts.map((each) => {
          const found = { line, text: each };
          line += each.split('\n').length;
          return found;
        });
        expect(await all(featuresOf(inPieces(text, cuts)))).toEqual(expected);
      },
    ),
  );
});

test('a file that ends within its features is rejected', async () => {
  const text = '{"features": [\n{"a": 1},\n{"a": 2}';
  await expect(all(featuresOf(inPieces(text, [])))).rejects.toThrow('after line 3');
});

test('a file with projected coordinates is refused by their reference system, as imports do', async () => {
  const text = (name: unknown) =>
    `{"type": "FeatureCollection", "crs": {"type": "name", "properties": {"name": ${JSON.stringify(name)}}},\n"features": [{}]}`;
  const elements = (name: unknown) => all(featuresOf(inPieces(text(name), [40, 90])));
  for (const name of ['urn:ogc:def:crs:OGC:1.3:CRS84', 'EPSG:4326', 'urn:ogc:def:crs:EPSG:9.8:4326', 'WGS84']) {
    expect(await elements(name)).toHaveLength(1);
  }
  for (const name of ['urn:ogc:def:crs:EPSG::3857', 'EPSG:43260', 'WGS 84 / UTM zone 33N', 'CRS:840', null]) {
    await expect(elements(name)).rejects.toThrow(`its crs is ${JSON.stringify(name)}.`);
    await expect(readFromFile('a.geojson', text(name))).rejects.toThrow(`its crs is ${JSON.stringify(name)}`);
  }
});

test.each([
  ['utf-8', Buffer.from('\ufeffMalmö €\n')],
  ['windows-1252', Buffer.from('Malm\xf6 \x80\n', 'latin1')],
  ['utf-16le', Buffer.from('\ufeffMalmö €\n', 'utf16le')],
] as const)('a table in %s, as spreadsheets write it, is read', async (encoding, bytes) => {
  const file = new Blob([bytes]);
  const form = await textForm(file, true);
  expect(form.encoding).toBe(encoding);
  const text = readText(file, form);
  // Node 20 does not map the bytes from 0x80 to 0x9f, browsers do.
  expect((await all(linesOf(text)))[0]?.text.replace('\x80', '€')).toBe('Malmö €');
});

test('lines are found wherever the pieces of a file end', async () => {
  await fc.assert(
    fc.asyncProperty(
      fc.array(fc.stringMatching(/^[^\r\n]*$/)),
      fc.constantFrom('\n', '\r\n'),
      ends,
      async (lines, end, cuts) => {
        const text = lines.map((each) => each + end).join('');
        const expected = lines.map((each, at) => ({ line: at + 1, text: each }));
        expect(await all(linesOf(inPieces(text, cuts)))).toEqual(expected);
      },
    ),
  );
});

describe('the page reads what the command line reads', () => {
  const read = async (fileName: string, text: string | Buffer) => {
    const rows: ImportRow[] = [];
    const notes: string[] = [];
    const file = new File([text as BlobPart], fileName);
    for await (const some of readRows(file, {}, { onNote: (note) => void notes.push(note) })) rows.push(...some);
    return { rows, notes };
  };
  const feature = (id: number) => ({ type: 'Feature', id, geometry: { type: 'Point', coordinates: [id + 360, 2] } });
  const lines = [1, 2].map((id) => JSON.stringify(feature(id)));

  test.each([
    ['array.json', JSON.stringify([feature(1), feature(2)])],
    ['lines.json', lines.join('\n')],
    ['lines.ndjson', lines.join('\r')],
    ['pretty.json', [1, 2].map((id) => JSON.stringify(feature(id), null, 2)).join('\n')],
    ['glued.json', lines.join('')],
    ['sequence.geojsons', lines.map((line) => `\x1e${line}\n`).join('')],
    ['collection.ndjson', `{"type":"FeatureCollection","features":[${lines.join(',')}]}`],
    ['rows.json', JSON.stringify([1, 2].map((id) => ({ id, location: { lat: '2', lon: id } })))],
    ['table.csv', 'id,Breite,Länge\r1,"2,0","1,0"\r2,2°N,2°0\'0"E\r'],
  ])('%s', async (fileName, text) => {
    const { rows } = await read(fileName, text);
    expect(rows).toMatchObject([1, 2].map((id) => ({ marker: { key: String(id), position: { lng: id, lat: 2 } } })));
  });

  test('with numbers of rows where a file has one line', async () => {
    const { rows } = await read('a.json', JSON.stringify([feature(1), { id: 2 }, feature(3)]));
    expect(rows.map(({ line }) => line)).toEqual([1, 2, 3]);
  });

  test('with numbers of lines where carriage returns alone end them', async () => {
    const { rows } = await read('a.json', JSON.stringify([feature(1), { id: 2 }], null, 1).replaceAll('\n', '\r'));
    expect(rows).toMatchObject([{ line: 2 }, { line: 13, reason: expect.any(String) }]);
  });

  test.each([
    [
      'a stray quote',
      'id,name,lat,lng\n1,a,2,1\n2,5" pipe,2,1\n3,b,2,1\n4,3" pipe,2,1\n5,c,2,1\n',
      ['1', '3', '5'],
      [3, 5],
    ],
    ['a missing quote', 'id,name,lat,lng\n1,"a,2,1\n2,b,2,1\n3,"c\nd",2,1\n', ['2', '3'], [2]],
    ['a line for Excel', '\ufeffsep=;\r\nid;lat;lng\r\n1;2;1\r\n', ['1'], []],
    ['empty rows', '\n\nid,lat,lng\n1,2,1\n,,\n\n2,2,1,,\n3,2\n', ['1', '2'], [8]],
  ])('with %s in a table', async (_what, text, keys, lines) => {
    const { rows } = await read('a.csv', text);
    expect(rows.flatMap((row) => ('marker' in row ? [row.marker.key] : []))).toEqual(keys);
    expect(rows.flatMap((row) => ('reason' in row ? [row.line] : []))).toEqual(lines);
    const told = await readFromFile('a.csv', text);
    expect(told.markers.map(({ key }) => key)).toEqual(keys);
    expect(told.rejects.map(([line]) => line)).toEqual(lines);
  });

  test('with one type a column, and says what it guessed', async () => {
    const table = 'id;lat;lng;zip;rating\n1;52,4;16,9;01569;4,0\n2;52,4;16,9; 10001 ;4,5\n';
    const { rows, notes } = await read('a.csv', Buffer.from(`${table}3;1,5;2,5;Stra\xdfe;1\n`, 'latin1'));
    const properties = rows.map((row) => 'marker' in row && row.marker.properties);
    expect(properties.slice(0, 2)).toEqual([
      { zip: '01569', rating: 4 },
      { zip: '10001', rating: 4.5 },
    ]);
    expect(notes).toEqual(['read as windows-1252', expect.stringMatching(/^column "zip" is text/)]);
  });
});
