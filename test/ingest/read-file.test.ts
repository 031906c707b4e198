import { readdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { gzipSync } from 'node:zlib';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';

import { exportFormatOf } from '../../src/ingest/export/export-format.js';
import { openMarkers } from '../../src/ingest/markers/marker-reader.js';
import { formatOf, type FileFormat } from '../../src/ingest/read/file-format.js';
import { contentSize } from '../../src/ingest/read/file-source.js';
import { isInvalid, type Row } from '../../src/ingest/read/row.js';
import type { ReadOptions } from '../../src/ingest/rows/fields.js';
import type { MarkerRow } from '../../src/ingest/rows/marker-row.js';
import { readsKeysOf } from '../support/json-keys.js';
import { someOf } from '../support/rounds.js';
import { temporaryFolder } from '../support/temporary-folder.js';

const folder = temporaryFolder();
let files = 0;

/** The rows of a file; valid ones are read again by their offsets, from the last to the first. */
async function rowsOf(
  format: FileFormat,
  content: string | Uint8Array,
  options: ReadOptions = {},
): Promise<Row<MarkerRow>[]> {
  files += 1;
  const path = join(folder, `${files}.${format}`);
  await writeFile(path, content);
  const source = await openMarkers(path, format, options);
  try {
    const rows: Row<MarkerRow>[] = [];
    for await (const some of source.scan()) rows.push(...some);
    const again = rows.filter((row) => !isInvalid(row.content)).toReversed();
    expect(await source.read(again)).toEqual(again.map(({ content }) => content));
    return rows;
  } finally {
    await source.close();
  }
}

const markersOf = (rows: readonly Row<MarkerRow>[]): MarkerRow[] =>
  rows.flatMap(({ content }) => (isInvalid(content) ? [] : [content]));
const reasonsOf = (rows: readonly Row<MarkerRow>[]): [number, string][] =>
  rows.flatMap(({ line, content }) => (isInvalid(content) ? [[line, content.reason] as [number, string]] : []));

const feature = (id: unknown, rest: object = {}) => ({
  type: 'Feature',
  id,
  geometry: { type: 'Point', coordinates: [16.9, 52.4] },
  properties: { name: 'Poznań', category: 'city', population: 538_633 },
  ...rest,
});
const collection = (...features: unknown[]) => ({ type: 'FeatureCollection', features });

const UUID = /^[\da-f]{8}-[\da-f]{4}-5[\da-f]{3}-[\da-f]{4}-[\da-f]{12}$/;

describe('every format', () => {
  it('reads the same markers from GeoJSON, NDJSON of features, NDJSON of objects and CSV', async () => {
    const wanted = {
      key: 'poz',
      position: { lng: 16.9, lat: 52.4 },
      name: 'Poznań',
      category: 'city',
      properties: { population: 538_633 },
    };
    const flat = { id: 'poz', lng: 16.9, lat: 52.4, name: 'Poznań', category: 'city', population: 538_633 };
    const nested = { key: 'poz', position: { lng: 16.9, lat: 52.4 }, name: 'Poznań', category: 'city' };
    const texts: [FileFormat, string][] = [
      ['geojson', JSON.stringify(collection(feature('poz')), null, 2)],
      ['geojson', JSON.stringify(feature('poz'))],
      ['ndjson', JSON.stringify(feature('poz'))],
      ['ndjson', JSON.stringify(flat)],
      ['ndjson', JSON.stringify({ ...nested, properties: { population: 538_633 } })],
      ['csv', 'id,lng,lat,name,category,population\npoz,16.9,52.4,Poznań,city,538633\n'],
    ];
    for (const [format, text] of texts) {
      expect({ text, markers: markersOf(await rowsOf(format, text)) }).toEqual({ text, markers: [wanted] });
      expect({ text, markers: markersOf(await rowsOf(format, `\ufeff${text}`)) }).toEqual({ text, markers: [wanted] });
    }
  });

  it('accepts any name as a property name', async () => {
    const text = '{"key":"a","lng":1,"lat":2,"__proto__":{"x":1},"constructor":2,"toString":3,"":4}';
    const names = ['__proto__', 'constructor', 'toString', ''];
    const properties = Object.fromEntries(names.map((name, at) => [name, at === 0 ? { x: 1 } : at + 1]));
    const nested = `{"key":"a","position":{"lng":1,"lat":2},"properties":${text.replace('"key":"a","lng":1,"lat":2,', '')}}`;
    for (const line of [text, nested]) {
      const [marker] = markersOf(await rowsOf('ndjson', line));
      expect(Object.entries(marker?.properties ?? {})).toEqual(Object.entries(properties));
    }
    const [marker] = markersOf(await rowsOf('csv', 'key,lng,lat,__proto__,constructor,\na,1,2,x,y,z\n'));
    expect(Object.entries(marker?.properties ?? {})).toEqual([
      ['__proto__', 'x'],
      ['constructor', 'y'],
      ['', 'z'],
    ]);
  });

  it('reads `place` as the place if it is a list of names, and otherwise as a property', async () => {
    const place = ['Poznań', 'A', '2'];
    const says = (value: unknown) => ({ id: 'a', lng: 1, lat: 2, place: value });
    const geojson = (value: unknown) => JSON.stringify(collection(feature('a', { properties: { place: value } })));
    const csv = (value: string) => `id,lng,lat,place\na,1,2,${value}`;
    const hanging: [FileFormat, string][] = [
      ['geojson', geojson(place)],
      ['ndjson', JSON.stringify(says(place))],
      ['csv', csv('"[""Poznań"",""A"",""2""]"')],
    ];
    for (const [format, text] of hanging) {
      expect(markersOf(await rowsOf(format, text))).toMatchObject([{ place, properties: {} }]);
    }
    const other: [FileFormat, string][] = [
      ['geojson', geojson('town')],
      ['ndjson', JSON.stringify(says('town'))],
      ['csv', csv('town')],
    ];
    for (const [format, text] of other) {
      expect(markersOf(await rowsOf(format, text))).toMatchObject([
        { place: undefined, properties: { place: 'town' } },
      ]);
    }
    expect(markersOf(await rowsOf('ndjson', JSON.stringify(says(['A', 1]))))).toMatchObject([
      { place: undefined, properties: { place: ['A', 1] } },
    ]);
  });

  it('never changes a digit of a long ID, and keeps long numbers in properties as text', async () => {
    const long = '9007199254740993';
    const text = `{"type":"Feature","id":${long},"geometry":{"type":"Point","coordinates":[1,2]},"properties":{"n":${long},"text":"\\"1234567890123456789"}}`;
    for (const rows of [await rowsOf('ndjson', text), await rowsOf('geojson', text)]) {
      expect(markersOf(rows)).toMatchObject([{ key: long, properties: { n: long, text: '"1234567890123456789' } }]);
    }
    const fromTable = await rowsOf('csv', `id,lng,lat,n\n${long},1,2,${long}\n`);
    expect(markersOf(fromTable)).toMatchObject([{ key: long, properties: { n: long } }]);
  });

  it('rejects text that is not UTF-8 instead of inserting replacement characters', async () => {
    const latin1 = (text: string) => Buffer.from(text, 'latin1');
    const bad = JSON.stringify(feature('b', { properties: { name: 'Poznañ' } }));
    for (const rows of [
      await rowsOf('ndjson', latin1(`${JSON.stringify({ id: 'a', lng: 1, lat: 2 })}\n${bad}\n`)),
      await rowsOf('geojson', latin1(`{"type":"FeatureCollection","features":[{},\n${bad}]}`)),
      await rowsOf('csv', Buffer.concat([Buffer.from('id,lng,lat,ñ\nb,1,2,ñ\nb,1,2,'), latin1('Poznañ\n')])),
    ]) {
      expect(reasonsOf(rows).at(-1)?.[1]).toMatch(/not UTF-8/);
    }
  });

  it('reads CSV in Windows-1252 and UTF-16, at its offsets, also compressed and wherever chunks end', async () => {
    const names = Array.from({ length: 6_000 }, (_, at) => `${'x'.repeat(at % 7)}Köln – €${at}`);
    const text = ['id,lng,lat,name', ...names.map((name, at) => `${at},1,2,${name}`)].join('\n');
    const windows = Buffer.from(text.replaceAll('–', '\x96').replaceAll('€', '\x80'), 'latin1');
    const little = Buffer.from(`\ufeff${text}`, 'utf16le');
    const big = Buffer.from(little).swap16();
    for (const bytes of [windows, little, big]) {
      expect(markersOf(await rowsOf('csv', bytes)).map(({ name }) => name)).toEqual(names);
    }
    const path = join(folder, 'windows.csv.gz');
    await writeFile(path, gzipSync(windows));
    const source = await openMarkers(path, 'csv', {}, folder);
    const found: Row<MarkerRow>[] = [];
    for await (const rows of source.scan()) found.push(...rows);
    expect((await source.read(found.slice(-1)))[0]?.name).toBe(names.at(-1));
    await source.close();
  });

  it('uses another field as the key with keyColumn', async () => {
    const options = { keyColumn: 'code' };
    const withCode = feature('x', { properties: { code: 'PL-1' } });
    expect(markersOf(await rowsOf('geojson', JSON.stringify(collection(withCode)), options))).toMatchObject([
      { key: 'PL-1', properties: { code: 'PL-1' } },
    ]);
    expect(markersOf(await rowsOf('csv', 'id,code,lng,lat\n7,PL-1,1,2\n', options))).toMatchObject([
      { key: 'PL-1', properties: { id: 7, code: 'PL-1' } },
    ]);
    expect(reasonsOf(await rowsOf('ndjson', '{"id":1,"lng":1,"lat":2}', options))).toEqual([
      [1, expect.stringMatching(/no key in code/)],
    ]);
    await expect(rowsOf('csv', 'id,lng,lat\n7,1,2\n', options)).rejects.toThrow(/no column code/);
  });

  it('uses other fields as name and category, or none', async () => {
    const options = { nameColumn: 'title', categoryColumn: null };
    const expected = [{ name: 'Ink', category: null, properties: { name: 'n', category: 'shop' } }];
    const properties = { title: 'Ink', name: 'n', category: 'shop' };
    const text = JSON.stringify(collection(feature('x', { properties })));
    expect(markersOf(await rowsOf('geojson', text, options))).toMatchObject(expected);
    expect(markersOf(await rowsOf('csv', 'title,name,category,lng,lat\nInk,n,shop,1,2\n', options))).toMatchObject(
      expected,
    );
    const own = JSON.stringify({ ...feature('x', { properties }), cellport: { name: 'N', category: 'c' } });
    expect(markersOf(await rowsOf('ndjson', own, { nameColumn: 'title' }))).toMatchObject([
      { name: 'Ink', category: 'c', properties },
    ]);
    expect(reasonsOf(await rowsOf('ndjson', '{"key":"a","lng":1,"lat":2,"title":[]}', options))).toEqual([
      [1, 'title is not text'],
    ]);
    await expect(rowsOf('csv', 'id,lng,lat\n7,1,2\n', options)).rejects.toThrow(/no column title.*--name-column/);
  });
});

describe('a row without a key', () => {
  const properties = { name: 'Poznań', population: 538_633, area: 262 };
  const keysOf = async (format: FileFormat, content: string, options?: ReadOptions) =>
    markersOf(await rowsOf(format, content, options)).map(({ key }) => key);

  it('gets one derived from its content, the same for every format, order of rows and order of fields', async () => {
    const geometry = { type: 'Point', coordinates: [16.9, 52.4] };
    const [key, other] = await keysOf('csv', 'lng,lat,name,population,area\n16.9,52.4,Poznań,538633,262\n1,2,,,\n');
    // Another key would make every file that was imported before new.
    expect(key).toBe('95af7a0b-313d-586c-8455-1c47c96ece62');
    expect(await keysOf('csv', 'area;population;name;lat;lng\n;;;2;1\n262;538633;Poznań;52,4;16,9\n')).toEqual([
      other,
      key,
    ]);
    expect(await keysOf('ndjson', JSON.stringify({ ...properties, lat: 52.4, lng: 16.9, id: null }))).toEqual([key]);
    expect(await keysOf('geojson', JSON.stringify({ type: 'Feature', properties, geometry }))).toEqual([key]);
    expect(other).not.toBe(key);
  });

  it('gets another key if any of its content differs', async () => {
    const point = { position: { lng: 1, lat: 2 } };
    const rows = [
      point,
      { position: { lng: 1, lat: 2.000001 } },
      { ...point, name: 'a' },
      { ...point, category: 'a' },
      { ...point, place: ['a'] },
      { ...point, properties: { a: { b: 1 } } },
      { ...point, properties: { a: { b: '1' } } },
      { ...point, properties: { a: [{ b: 1 }] } },
    ];
    const found = await keysOf('ndjson', rows.map((row) => JSON.stringify(row)).join('\n'));
    expect(new Set(found).size).toBe(rows.length);
  });
});

describe('the position of a row', () => {
  const csv = async (header: string, row: string, options?: ReadOptions) =>
    (await rowsOf('csv', `${header}\n${row}\n`, options)).map(({ content }) =>
      isInvalid(content) ? content.reason : [content.position, content.properties],
    );

  it('is found in one column, as WKT or as latitude and longitude', async () => {
    const wkt = ['POINT (16.9 52.4)', 'Point(16.9 52.4)', 'POINT Z (16.9 52.4 83)', 'POINTZM(16.9 52.4 1 2)'];
    const more = ['SRID=4326;POINT(16.9 52.4)', 'MULTIPOINT ((16.9 52.4))', 'MultiPoint (16.9 52.4)'];
    for (const text of [...wkt, ...more])
      expect(await csv('WKT|a', `${text}|1`)).toEqual([[{ lng: 16.9, lat: 52.4 }, { a: 1 }]]);
    for (const text of ['52.4, 16.9', '52.4,16.9', '(52.4, 16.9)', '[52.4 16.9]', '52.4;16.9', 'POINT (16.9 52.4)']) {
      expect(await csv('Location|a', `${text}|1`)).toEqual([[{ lng: 16.9, lat: 52.4 }, { a: 1 }]]);
    }
    for (const text of ['Berlin', '52.4', '', 'POINT EMPTY', '0101000020E6100000', '1,2,3']) {
      expect(await csv('Location|a', `${text}|1`)).toEqual([expect.stringMatching(/^Location is neither WKT/)]);
    }
    const area = await csv('WKT|a', 'POLYGON ((1 2, 3 4, 5 6, 1 2))|1');
    expect(area).toEqual([expect.stringMatching(/WKT is POLYGON, but a marker needs a POINT/)]);
  });

  it('comes from the geometry before columns of degrees, and from these before x and y or a town name', async () => {
    expect(await csv('WKT,lat,lng', 'POINT (3 4),1,2')).toEqual([
      [
        { lng: 3, lat: 4 },
        { lat: 1, lng: 2 },
      ],
    ]);
    expect(await csv('x,y,Lat,Lon,location', '371000,5800000,2,1,Bonn')).toEqual([
      [
        { lng: 1, lat: 2 },
        { x: 371_000, y: 5_800_000, location: 'Bonn' },
      ],
    ]);
    expect(await csv('X,Y,location', '1,2,Bonn')).toEqual([[{ lng: 1, lat: 2 }, { location: 'Bonn' }]]);
  });

  it('must be chosen if several columns may contain it, and can be chosen if none does', async () => {
    const two = csv('lat,Latitude,lng', '1,2,3');
    await expect(two).rejects.toThrow(
      /the position may be in any of lat, Latitude; choose with --lat-column.*columns are/,
    );
    await expect(csv('lat,lon,long', '1,2,3')).rejects.toThrow(/lon, long.*--lng-column/);
    const [line] = await rowsOf('ndjson', '{"lat":1,"latitude":2,"lng":3}');
    expect(line?.content).toEqual({ reason: expect.stringMatching(/--lat-column/) as unknown });
    expect(await csv('lat,Latitude,lng', '1,2,3', { latColumn: 'Latitude' })).toEqual([
      [{ lng: 3, lat: 2 }, { lat: 1 }],
    ]);
    expect(await csv('hoch;quer', '52,4;16,9', { latColumn: 'hoch', lngColumn: 'quer' })).toEqual([
      [{ lng: 16.9, lat: 52.4 }, {}],
    ]);
    expect(await csv('Ort,lat,lng', '"52.4, 16.9",1,2', { latColumn: 'Ort', lngColumn: 'Ort' })).toEqual([
      [
        { lng: 16.9, lat: 52.4 },
        { lat: 1, lng: 2 },
      ],
    ]);
    await expect(csv('hoch,quer', '1,2')).rejects.toThrow(/no position.*--lat-column and --lng-column.*hoch, quer/);
    await expect(csv('lat,lng', '1,2', { latColumn: 'hoch' })).rejects.toThrow(/no column hoch/);
  });

  it('in an object called position is not searched for elsewhere', async () => {
    const [row] = markersOf(
      await rowsOf('ndjson', '{"position":{"lng":1,"lat":2},"properties":{"latitude":3,"wkt":"x"}}'),
    );
    expect(row).toMatchObject({ position: { lng: 1, lat: 2 }, properties: { latitude: 3, wkt: 'x' } });
  });
});

describe('a compressed file', () => {
  const text = JSON.stringify(collection(...Array.from({ length: 4_000 }, (_, n) => feature(n))));
  const readAll = async (name: string, bytes: Uint8Array) => {
    const path = join(folder, name);
    await writeFile(path, bytes);
    const source = await openMarkers(path, formatOf(path), {}, join(folder, 'unpacked'));
    try {
      const rows: Row<MarkerRow>[] = [];
      for await (const some of source.scan()) rows.push(...some);
      const last = rows.at(-1);
      return { rows, last: last && (await source.read([last])), size: source.size };
    } finally {
      await source.close();
    }
  };

  it('has the rows of its content at their offsets, even with a byte order mark or in several parts', async () => {
    const middle = Math.floor(text.length / 2);
    for (const plain of [text, `\ufeff${text}`]) {
      const wanted = await readAll('plain.geojson', Buffer.from(plain));
      const parts = [plain.slice(0, middle), plain.slice(middle)].map((part) => gzipSync(part));
      for (const bytes of [gzipSync(plain), Buffer.concat(parts)]) {
        expect(await readAll('zipped.geojson.gz', bytes)).toEqual(wanted);
      }
    }
    expect(await readdir(join(folder, 'unpacked'))).toEqual([]);
  });

  it('that is truncated, damaged or not compressed is rejected by its name', async () => {
    const whole = gzipSync(text);
    const damaged = Buffer.from(whole);
    damaged.fill(0xff, 1_000, 1_100);
    for (const bytes of [whole.subarray(0, -9), whole.subarray(0, 1_000), damaged, Buffer.from(text)]) {
      await expect(readAll('broken.geojson.gz', bytes)).rejects.toMatchObject({
        code: 'BAD_USER_INPUT',
        message: expect.stringMatching(/broken\.geojson\.gz/) as unknown,
      });
      await expect(contentSize(join(folder, 'broken.geojson.gz'))).rejects.toMatchObject({ code: 'BAD_USER_INPUT' });
    }
    await writeFile(join(folder, 'readings.csv.gz'), gzipSync(text));
    expect(await contentSize(join(folder, 'readings.csv.gz'))).toBe(Buffer.byteLength(text));
    expect(await readdir(join(folder, 'unpacked'))).toEqual([]);
  });
});

describe('GeoJSON', () => {
  it('gives the reason and the line of each invalid feature, and continues', async () => {
    const lines = [
      '{"type":"FeatureCollection",',
      '"features":[',
      `${JSON.stringify(feature('a'))},`,
      `${JSON.stringify(feature('b', { geometry: null }))},`,
      `${JSON.stringify(feature('c', { geometry: { type: 'Polygon', coordinates: [] } }))},`,
      `${JSON.stringify({ ...feature('d'), id: undefined })},`,
      '{"type":"Feature","id":"e",,},',
      'null,',
      ',',
      `${JSON.stringify(feature({}))},`,
      `${JSON.stringify(feature('f', { geometry: { type: 'Point', coordinates: [] } }))},`,
      `${JSON.stringify(feature('g'))}`,
      ']}',
    ];
    const rows = await rowsOf('geojson', lines.join('\n'));
    expect(markersOf(rows).map(({ key }) => key)).toEqual(['a', expect.stringMatching(UUID), 'g']);
    const patterns = [
      [4, /no geometry/],
      [5, /Polygon/],
      [7, /invalid JSON/],
      [8, /not a GeoJSON Feature/],
      [9, /invalid JSON/],
      [10, /neither text nor a number/],
      [11, /no coordinates/],
    ] as const;
    expect(reasonsOf(rows)).toEqual(patterns.map(([line, pattern]) => [line, expect.stringMatching(pattern)]));
  });

  it('reads what JSON.parse reads, wherever chunks end and whatever strings contain', async () => {
    const property = fc.oneof(
      fc.string({ unit: 'binary' }),
      fc.constantFrom('"features":[', ']}', '\\"', '{', '\\'),
      fc.integer(),
    );
    await fc.assert(
      fc.asyncProperty(
        fc.array(fc.dictionary(fc.string().filter(readsKeysOf), property), { maxLength: 5 }),
        fc.boolean(),
        async (list, pretty) => {
          const features = list.map((properties, at) =>
            feature(at, { properties: { ...properties, pad: ' ['.repeat(40_000) } }),
          );
          const text = JSON.stringify(
            { name: '"features":[{', ...collection(...features), note: [[{}]] },
            null,
            pretty ? 1 : 0,
          );
          const rows = await rowsOf('geojson', text);
          expect(rows.map(({ text: own }) => JSON.parse(own) as unknown)).toEqual(JSON.parse(JSON.stringify(features)));
        },
      ),
      { numRuns: someOf(40) },
    );
  });

  it('rejects a file that is truncated, of another kind, or not in degrees', async () => {
    const whole = JSON.stringify(collection(feature('a'), feature('b')));
    for (const cut of [
      whole.slice(0, -1),
      whole.slice(0, -2),
      whole.slice(0, -20),
      whole.slice(0, 20),
      '',
      '{"type":"Topology"}',
      '{"features":[]}',
      '{"type":"FeatureCollection"}',
    ]) {
      await expect(rowsOf('geojson', cut)).rejects.toMatchObject({ code: 'BAD_USER_INPUT' });
    }
    const crs = (name: string) => ({
      type: 'FeatureCollection',
      crs: { type: 'name', properties: { name } },
      features: [feature('a')],
    });
    await expect(rowsOf('geojson', JSON.stringify(crs('urn:ogc:def:crs:EPSG::3857')))).rejects.toThrow(/WGS 84/);
    expect(markersOf(await rowsOf('geojson', JSON.stringify(crs('urn:ogc:def:crs:OGC:1.3:CRS84'))))).toHaveLength(1);
    for (const empty of [JSON.stringify(collection()), '[]', '[ ]\n'])
      expect(await rowsOf('geojson', empty)).toEqual([]);
  });

  it('knows all forms of a crs, also of a feature or its geometry', async () => {
    const link = (href: string) => ({ type: 'link', properties: { href } });
    const number = (code: number) => ({ type: 'EPSG', properties: { code } });
    const { geometry, ...rest } = feature('a') as { geometry: object };
    for (const [crs, isWgs84] of [
      [link('http://spatialreference.org/ref/epsg/26912/'), false],
      [link('http://www.opengis.net/def/crs/EPSG/0/4326'), true],
      [link('http://www.opengis.net/def/crs/OGC/1.3/CRS84'), true],
      [number(3857), false],
      [number(4326), true],
    ] as const) {
      const whole = rowsOf('geojson', JSON.stringify({ ...collection(feature('a')), crs }));
      if (isWgs84) expect(markersOf(await whole)).toHaveLength(1);
      else await expect(whole).rejects.toThrow(/WGS 84/);
      for (const own of [
        { ...feature('a'), crs },
        { ...rest, geometry: { ...geometry, crs } },
      ]) {
        const rows = await rowsOf('geojson', JSON.stringify(collection(own)));
        if (isWgs84) expect(markersOf(rows)).toHaveLength(1);
        else expect(rows).toMatchObject([{ content: { reason: expect.stringContaining('WGS 84') as string } }]);
      }
    }
  });
});

describe('NDJSON', () => {
  it('gives the reason and the line of invalid rows, skips blank lines and needs no final line feed', async () => {
    const lines = [
      '{"id":1,"lng":1,"lat":2}',
      '',
      'no json',
      '[1]',
      '{"lng":1,"lat":2}',
      '{"id":3,"lng":1,"lat":2,"position":{"lng":3}}',
      '{"id":2,"lon":1,"latitude":2}',
    ];
    const rows = await rowsOf('ndjson', lines.join('\r\n'));
    expect(markersOf(rows).map(({ key }) => key)).toEqual(['1', expect.stringMatching(UUID), '2']);
    expect(reasonsOf(rows).map(([line]) => line)).toEqual([3, 4, 6]);
  });

  it('does not split lines at the line separators of Unicode', async () => {
    const rows = await rowsOf('ndjson', '{"id":"a","lng":1,"lat":2,"name":"x\u2028y\u2029z"}\n');
    expect(markersOf(rows)).toMatchObject([{ name: 'x\u2028y\u2029z' }]);
  });

  it('rejects a line longer than any item, without keeping it in memory', async () => {
    const rows = await rowsOf('ndjson', `{"id":"${'x'.repeat(9_000_000)}"}\n{"id":"b","lng":1,"lat":2}\n`);
    expect(reasonsOf(rows)).toEqual([[1, expect.stringMatching(/longer than/)]]);
    expect(markersOf(rows)).toHaveLength(1);
  });
});

describe('CSV', () => {
  it('takes decimal numbers for coordinates, and no others', async () => {
    const cells = ['16.9', '+16.9', '1.69e1', '16.', '.5', '007'];
    const others = ['0x10', '0b11', '0o17', 'Infinity', 'NaN', '1_6', '1e', '--1', ''];
    const lines = [...cells, ...others].map((cell, at) => `k${at},${cell},1`);
    const rows = await rowsOf('csv', ['key,lng,lat', ...lines].join('\n'));
    expect(markersOf(rows).map(({ position: { lng } }) => typeof lng)).toEqual([
      ...cells.map(() => 'number'),
      ...others.map((cell) => (cell === '' ? 'undefined' : 'string')),
    ]);
    const properties = await rowsOf('csv', 'key,lng,lat,a,b,c,d\nk,1,2,0x10,1e3,Infinity,1.5\n');
    expect(markersOf(properties)[0]?.properties).toEqual({ a: '0x10', b: 1000, c: 'Infinity', d: 1.5 });
  });

  it('matches columns by any of their usual names, in any order and case', async () => {
    for (const [lng, lat] of [
      ['lng', 'lat'],
      ['lon', 'lat'],
      [' Longitude', 'LATITUDE '],
      ['x', 'y'],
      ['long', 'lat'],
    ]) {
      const rows = await rowsOf('csv', `${lat},name,ID,${lng}\n52.4,Poznań,poz,16.9\n`);
      expect(markersOf(rows)).toMatchObject([{ key: 'poz', position: { lng: 16.9, lat: 52.4 }, name: 'Poznań' }]);
    }
    for (const header of ['id,lat', 'id,lng', 'lat,x', '']) {
      await expect(rowsOf('csv', `${header}\n1,2\n`)).rejects.toMatchObject({ code: 'BAD_USER_INPUT' });
    }
  });

  it('reads semicolons with decimal commas, tabs, quotes, both line endings and line feeds inside quotes', async () => {
    const texts = [
      'id;lng;lat;note\r\na;16,9;52,4;"say ""x"";\r\nand more"\r\n\r\nb;1;2;\r\n',
      'id\tlng\tlat\tnote\na\t16.9\t52.4\t"say ""x"";\r\nand more"\nb\t1\t2\t\n',
      '"id","lng","lat","note"\na,16.9,52.4,"say ""x"";\r\nand more"\r\nb,1,2,""',
    ];
    for (const text of texts) {
      const markers = markersOf(await rowsOf('csv', text));
      expect(markers).toMatchObject([
        { key: 'a', position: { lng: 16.9, lat: 52.4 }, properties: { note: 'say "x";\r\nand more' } },
        { key: 'b', properties: {} },
      ]);
    }
  });

  it('reads a cell as a number or boolean only if no digit is lost', async () => {
    const [marker] = markersOf(
      await rowsOf('csv', 'id,lng,lat,a,b,c,d,e,f\n007,1,2,12,007,1e3,-0.5,12345678901234567890,true\n'),
    );
    expect(marker).toMatchObject({
      key: '007',
      properties: { a: 12, b: '007', c: 1000, d: -0.5, e: '12345678901234567890', f: true },
    });
  });

  it('rejects only the line with a misplaced quote, and names it', async () => {
    const lines = [
      'id,lng,lat,note',
      'a,1,2,"fine"',
      'b,1,2,"x"y',
      'c,1,2,',
      'd,1,2,"unclosed',
      'e,1,2,5" pipe',
      'f,1,2',
      'g,1,2,z,z',
      'h,1,2,"two',
      'lines"',
      'i,1,2,"open',
    ];
    const rows = await rowsOf('csv', lines.join('\n'));
    expect(markersOf(rows).map(({ key }) => key)).toEqual(['a', 'c', 'h']);
    expect(reasonsOf(rows).map(([line]) => line)).toEqual([3, 5, 6, 7, 8, 11]);
  });

  it('reads any well-formed table, each row with the line on which it begins', async () => {
    const cell = fc
      .string({ unit: fc.constantFrom('a', '"', ',', ';', '\n', '\r\n', ' ', 'ż', '1') })
      // Thousands in groups are numbers.
      .filter((text) => !text.includes('\r\n\n') && !/^\s*1+(?:,111)+\s*$/.test(text));
    await fc.assert(
      fc.asyncProperty(fc.array(fc.tuple(cell, cell), { maxLength: 700 }), async (table) => {
        const quoted = (text: string) => `"${text.replaceAll('"', '""')}"`;
        let line = 2;
        const starts: number[] = [];
        const lines = table.map(([a, b], at) => {
          const text = `k${at},1,2,${quoted(a)},${quoted(b)}`;
          starts.push(line);
          line += text.split('\n').length;
          return text;
        });
        const rows = await rowsOf('csv', ['key,lng,lat,a,b', ...lines].join('\n'));
        expect(rows.map(({ line: at }) => at)).toEqual(starts);
        const shown = markersOf(rows).map(({ properties }) => [properties['a'] ?? '', properties['b'] ?? '']);
        // One type a column.
        const isNumbers = [0, 1].map((at) => table.every((cells) => /^(?:1{1,15})?$/.test((cells[at] ?? '').trim())));
        expect(shown).toEqual(
          table.map((cells) =>
            cells.map((text, at) => (isNumbers[at] && text.trim() !== '' ? Number(text) : text.trim())),
          ),
        );
      }),
      { numRuns: someOf(40) },
    );
  });
});

it('detects the format by the extension of the file', () => {
  expect(['a.GeoJSON', 'a.json', 'a.ndjson', 'a.jsonl', 'x/a.csv', 'a.csv.GZ', 'a.tsv'].map(formatOf)).toEqual([
    'geojson',
    'geojson',
    'ndjson',
    'ndjson',
    'csv',
    'csv',
    'csv',
  ]);
  expect(() => formatOf('a.txt')).toThrow(/--format/);
  expect(() => formatOf('a.KML')).toThrow(/export as CSV.*ogr2ogr/);
  expect(() => formatOf('a.gz')).toThrow(/--format/);
});

it('tells the format of a file by its beginning when it is read, but not when it is written', async () => {
  const path = join(folder, 'places.txt');
  await writeFile(path, '{"key":"a"}');
  expect(formatOf(path)).toBe('geojson');
  expect(() => exportFormatOf(path)).toThrow(/--format/);
  expect(['a.FGB', 'a.geoparquet', 'a.csv.gz'].map(exportFormatOf)).toEqual(['flatgeobuf', 'geoparquet', 'csv']);
});
