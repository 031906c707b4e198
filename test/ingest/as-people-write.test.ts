import { gzipSync } from 'node:zlib';
import { describe, expect, test } from 'vitest';

import { positions } from '../support/shapes.js';
import { readRows } from './read-rows.js';

const csv = (...lines: string[]) => `${lines.join('\n')}\n`;
const valuesOf = async (name: string, text: string, options?: Parameters<typeof readRows>[2]) =>
  (await readRows(name, text, options)).markers.map(({ properties }) => properties);

describe('a CSV column', () => {
  /** The values of a column `v` beside coordinates that tell the notation. */
  const column = async (
    cells: readonly string[],
    coordinates = '16.9;52.4',
    options?: Parameters<typeof readRows>[2],
  ) =>
    (await valuesOf('a.csv', csv('lng;lat;v', ...cells.map((cell) => `${coordinates};${cell}`)), options)).map(
      (each) => each['v'],
    );

  test.each([
    [
      ['4.0', '4.5', '5', '+4.2', '-0', '.5', '1e1', ''],
      [4, 4.5, 5, 4.2, 0, 0.5, 10, undefined],
    ],
    [
      ['1500.0', '', '10.00'],
      [1500, undefined, 10],
    ],
    [
      ['0.30000000000000004', '0.10000000000000001'],
      [0.30000000000000004, 0.1],
    ],
    [
      ['1,234,567', '12'],
      [1_234_567, 12],
    ],
    [
      ["1'234.50", '12’345'],
      [1234.5, 12_345],
    ],
    [
      ['1 200', '345 000', '−5'],
      [1200, 345_000, -5],
    ],
    [
      ['True', 'FALSE', 'true'],
      [true, false, true],
    ],
  ])('of %j is %j', async (cells, values) => {
    expect(await column(cells)).toEqual(values);
  });

  test.each([
    [['01569', '10001']],
    [['12', '12a', '7']],
    [['1', '12345678901234567890']],
    [['1', '0.1234567890123456789']],
    [['+48600100200', '+48600100201']],
    [['600 100 200', '600 100 201']],
    [['110 001', '5']],
    [['1', '1e400']],
    [['1', 'NaN']],
    [['true', '1']],
    [['1,5', '2,25']],
    [['1.2.3', '1']],
  ])('of %j is text, as one cell would be changed', async (cells) => {
    expect(await column(cells)).toEqual(cells);
  });

  test.each([
    [
      ['1.234,50', '12', ',5', '1e1'],
      [1234.5, 12, 0.5, 10],
    ],
    [
      ['47.1', '12,5'],
      [47.1, 12.5],
    ],
    [
      ['12 345,5', '600 100'],
      [12_345.5, 600_100],
    ],
    [
      ['47.1', '47.123'],
      [47.1, 47.123],
    ],
    [
      ['1.500', '2,5'],
      [1500, 2.5],
    ],
    [
      ['01067', '1'],
      ['01067', '1'],
    ],
  ])('beside decimal commas, of %j is %j', async (cells, values) => {
    expect(await column(cells, '16,9;52,4')).toEqual(values);
  });

  test.each([
    [';', '1,5', '1.234', 1.5, 1234],
    [';', '1,5', '3', 1.5, 3],
    ['\t', '2.5', '3.25', 2.5, 3.25],
    ['\t', '2,5', '1.234', 2.5, 1234],
    // They may be lists.
    [',', '"1,5"', '"12,13"', '1,5', '12,13'],
  ])(
    'has the notation of most numbers if coordinates do not tell: %j %s %s',
    async (delimiter, v, w, first, second) => {
      const text = csv(['WKT', 'v', 'w'].join(delimiter), ['POINT (1 2)', v, w].join(delimiter));
      expect(await valuesOf('a.csv', text)).toEqual([{ v: first, w: second }]);
    },
  );

  test('is what options say, and what was decided of mixed cells is said', async () => {
    const text = csv('id,lat,lng,zip,n', '1,1,2,01569,4', '2,1,2,10001,n/a', '3,1,2,2,5');
    const { said } = await readRows('a.csv', text);
    expect(said).toEqual([
      expect.stringMatching(/^column "zip" is text, as "01569" is no number/),
      expect.stringMatching(/^column "n" is text, as "n\/a" is no number/),
      'no names found; pass --name-column',
    ]);
    const options = { textColumn: ['zip'], numberColumn: ['n'] };
    expect(await valuesOf('a.csv', text, options)).toMatchObject([{ n: 4 }, { zip: '10001', n: 'n/a' }, { zip: '2' }]);
    expect((await readRows('a.csv', text, options)).said[0]).toBe('column "n" has numbers, but "n/a" stays text');
    await expect(readRows('a.csv', text, { textColumn: ['zap'] })).rejects.toThrow(/no column zap.*--text-column/);
    await expect(readRows('a.json', '[]', { numberColumn: ['n'] })).rejects.toThrow(/--number-column must be for CSV/);
  });

  test('of numbers by option has decimal commas, and codes', async () => {
    const text = csv('lat,lng,n,m', '1,2,"1,5",007', '1,2,"2,25",+48600100200');
    expect(await valuesOf('a.csv', text, { numberColumn: ['n', 'm'] })).toEqual([
      { n: 1.5, m: 7 },
      { n: 2.25, m: 48_600_100_200 },
    ]);
  });

  test('of 20 mixed ones is named only among the first eight', async () => {
    const names = Array.from({ length: 20 }, (_, at) => `c${at}`);
    const row = (cell: string) => ['1', '2', ...names.map(() => cell)].join(',');
    const { said } = await readRows('a.csv', csv(`lat,lng,${names.join(',')}`, row('1'), row('x')));
    expect(said.slice(8, 9)).toEqual(['12 more columns are mixed']);
  });

  test('has values without the blanks around them', async () => {
    const text = csv('id , "name" , Lat, Lon , a, b', ' 1 , "a, b" , 1 , 2 , 12 ," x "');
    const { markers } = await readRows('a.csv', text);
    expect(markers).toMatchObject([{ key: '1', name: 'a, b', properties: { a: 12, b: 'x' } }]);
  });

  test('of an export is read as such beside others, and in another order', async () => {
    const text = csv(
      'note,properties,place,category,lat,lng,key',
      'x,"{""a"":{""b"":""01""}}","[""Poland""]",c,1,2,k',
      'y,,,,1,2,l',
      'z,{a},,,1,2,m',
    );
    const { markers } = await readRows('a.csv', text);
    expect(markers).toMatchObject([
      { key: 'k', category: 'c', place: ['Poland'], properties: { note: 'x', a: { b: '01' } } },
      { key: 'l', properties: { note: 'y' } },
      { key: 'm', properties: { note: 'z', properties: '{a}' } },
    ]);
    expect(markers[0]?.properties).not.toHaveProperty('properties');
  });

  test('without a name is empty in each row, or left out in some', async () => {
    const text = csv('id,lat,lng', '1,2,1', '2,2,1, ,', '3,2,1,,x');
    const { markers, rejects } = await readRows('a.csv', text);
    expect(markers.map(({ key, properties }) => [key, properties])).toEqual([
      ['1', {}],
      ['2', {}],
    ]);
    expect(rejects).toEqual([[4, '5 fields, but the header has 3']]);
  });

  test('with a name that others have gets a number', async () => {
    const text = csv('id,note,note,note_2,note,lat,lng', '1,a,b,c,d,1,2');
    expect(await valuesOf('a.csv', text)).toEqual([{ note: 'a', note_3: 'b', note_2: 'c', note_4: 'd' }]);
    // Spreadsheets have thousands of empty columns beside a table.
    const wide = csv(`lat,lng${','.repeat(20_000)}`, `1,2${','.repeat(19_999)},x`);
    expect(await valuesOf('a.csv', wide)).toEqual([{ _20000: 'x' }]);
  });
});

describe('a position', () => {
  const POZNAN = { lng: 16.9, lat: 52.4 };

  test.each([
    ['lat,lng', '"52,4","16,9"'],
    ['Breite;Länge', '52,4;16,9'],
    ['Geogr. Breite;Geogr. Länge', '52,4;16,9'],
    ['BREITENGRAD;LAENGENGRAD', '52.4;16.9'],
    ['decimalLatitude,decimalLongitude', '52.4,16.9'],
    ['gps_lat,gps_long', '52.4,16.9'],
    ['location.latitude,location.longitude', '52.4,16.9'],
    ['Latitud,Longitud', '52.4,16.9'],
    ['stop_lat,stop_lon', '52.4,16.9'],
    ['Latitude (N),Longitude (E)', '52.4,16.9'],
    ['纬度,经度', '52.4,16.9'],
    ['Географическая широта,Географическая долгота', '52.4,16.9'],
    ['Широта,Довгота', '52.4,16.9'],
    ['Географска ширина,Географска дължина', '52.4,16.9'],
    ['Zemepisná šírka,Zemepisná dĺžka', '52.4,16.9'],
    ['Lintang,Bujur', '52.4,16.9'],
    ['Vĩ độ,Kinh độ', '52.4,16.9'],
    ['Laiuskraad,Pikkuskraad', '52.4,16.9'],
    ['Platuma,Ilguma', '52.4,16.9'],
    ['خط العرض,خط الطول', '52.4,16.9'],
    ['קו רוחב,קו אורך', '52.4,16.9'],
    ['Szerokość geograficzna,Długość geograficzna', '52.4,16.9'],
    ['POINT_Y,POINT_X', '52.4,16.9'],
    ['lat,lng', '52°24′N,16° 54′ 0.0″ E'],
    ['lat,lng', `52°24'0"N,16°54'0" E`],
    ['lat,lng', '52 24 0 N,E 16 54'],
    ['lat,lng', '52:24:00,16:54'],
    ['lat,lng', `52°24'0",16°54'0"`],
    ['lat,lng', `52°24'0"n,16°54'0"e`],
    ['lat,lng', '52deg 24′ N,16˚54′E'],
    ['lat,lng', 'n 52.4,16.9 East'],
    ['lat,lng', '52°24′ Nord,16°54′ est'],
    ['Breite,Länge', '52°24min N,16°54′ O'],
    ['pickup_latitude,pickup_longitude', '52.4,16.9'],
    ['위도,경도', '52.4,16.9'],
    ['koordinaten', '"52°24′ N, 16°54′ O"'],
    ['anything', 'SRID=4326; POINT (16.9 52.4)'],
    ['lat,lng', '52.4N,376.9'],
    ['lat,lng', '52.4,-343.1'],
    ['koordinaten', '"52°24′N 16°54′E"'],
    ['coords', '"16.9E, 52.4N"'],
    ['coords', '"52,4; 16,9"'],
    ['coords', '"52,4 16,9"'],
    ['coords', '"[16.9, 52.4]"'],
    ['lng_lat', '"16.9, 52.4"'],
    ['anything', 'POINT (16.9 52.4)'],
    ['anything', '"{""type"":""Point"",""coordinates"":[16.9,52.4]}"'],
    ['anything', '"{""latitude"":52.4,""longitude"":16.9}"'],
  ])('in the columns %s is read from %s', async (header, cells) => {
    const separator = header.includes(';') ? ';' : ',';
    const text = csv(`id${separator}${header}`, `1${separator}${cells}`);
    const { markers, rejects } = await readRows('a.csv', text);
    expect({ rejects, position: markers[0]?.position.lat, properties: markers[0]?.properties }).toEqual({
      rejects: [],
      position: 52.4,
      properties: {},
    });
    expect(markers[0]?.position.lng).toBeCloseTo(16.9, 12);
  });

  test.each([
    ['latitud,longitud', '52°24´0´´ sur,16°54´ O'],
    ['lat,lng', '52.4S,16.9 ouest'],
    ['coords', '"−52.4, −16.9"'],
    ['coordenadas', '"52°24′ S, 16°54′ O"'],
  ])('south-west, in the columns %s, is read from %s', async (header, cells) => {
    const { markers } = await readRows('a.csv', csv(`id,${header}`, `1,${cells}`));
    expect(markers[0]?.position).toEqual({ lng: -16.9, lat: -52.4 });
  });

  test('is not guessed where O may be east or west', async () => {
    for (const [header, cells] of [
      ['lat,lng', '52°24′N,16°54′ O'],
      ['coords', '"52.4 N, 16.9 O"'],
    ]) {
      const { rejects } = await readRows('a.csv', csv(`id,${header}`, `1,${cells}`));
      expect(rejects).toEqual([[2, expect.stringMatching(/east \(Ost\) or west.*write E or W/)]]);
    }
  });

  test.each([
    { location: { lat: 52.4, lon: 16.9 } },
    { lat: null, lng: '', location: { lat: 52.4, lon: 16.9 } },
    { location: { latitude: '52.4', longitude: '16,9' } },
    { location: [16.9, 52.4] },
    { location: 'Poznań', geometry: { type: 'Point', coordinates: ['16.9', '52.4'] } },
    { where: 'POINT(16.9 52.4)' },
    { where: { type: 'MultiPoint', coordinates: [[16.9, 52.4]] } },
    { where: { lat: 52.4, lng: 16.9 } },
    { position: [376.9, 52.4] },
    { latlng: [52.4, 16.9] },
    { geometry: { location: { lat: 52.4, lng: 16.9 } } },
    { address: { geo: { lat: '52.4', lng: '16.9' } } },
    { loc: { $geometry: { type: 'Point', coordinates: [16.9, 52.4] } } },
    { geo: { coordinates: [16.9, 52.4] } },
    { center: [16.9, 52.4] },
    { geoJson: '{"type":"POINT","coordinates":[16.9,52.4]}' },
    { latitude: '52.4', longitude: '16.9' },
    { type: 'Feature', geometry: null, properties: { lat: 52.4, lng: 16.9 } },
    { type: 'Feature', geometry: { type: 'Point', coordinates: [-343.1, 52.4] } },
    {
      type: 'Feature',
      geometry: { type: 'GeometryCollection', geometries: [{ type: 'Point', coordinates: [16.9, 52.4] }] },
    },
  ])('is found in %j', async (row) => {
    const { markers } = await readRows('a.json', JSON.stringify([row]));
    expect(markers[0]?.position.lng).toBeCloseTo(POZNAN.lng, 12);
    expect(markers[0]?.position.lat).toBe(POZNAN.lat);
  });

  test.each([
    ['lat,lng', '16°E,52°N'],
    ['lat,lng', '52°61′N,16°E'],
    ['lat,lng', '1e,2e'],
    ['anything', '"52.4, 16.9"'],
    ['coords', '"1,2,3"'],
    ['coords', '"12:30 14:50"'],
    ['coords', `1${' 2'.repeat(200_000)}`],
  ])('is not guessed from %s: %.20s', async (header, cells) => {
    const read = readRows('a.csv', csv(header, cells));
    const outcome = await read.then(
      ({ markers, rejects }) => rejects.length === 1 || typeof markers[0]?.position.lat !== 'number',
      (error: Error) => /no position/.test(error.message),
    );
    expect(outcome).toBe(true);
  });

  test('must be chosen if several fields of no such name may have it', async () => {
    const row = { id: 1, from: { lat: 1, lng: 2 }, to: { lat: 3, lng: 4 } };
    const reason = expect.stringMatching(
      /may be in any of from, to; choose with --lat-column and --lng-column/,
    ) as unknown;
    expect((await readRows('a.json', JSON.stringify([row]))).rejects).toEqual([[1, reason]]);
    const options = { latColumn: 'to', lngColumn: 'to' };
    expect((await readRows('a.json', JSON.stringify([row]), options)).markers[0]?.position).toEqual({ lng: 4, lat: 3 });
    const text = csv('from,to', 'POINT (1 2),POINT (3 4)');
    await expect(readRows('a.csv', text)).rejects.toThrow(/may be in any of from, to/);
  });

  test.each([{ image: { shape: [16, 52] } }, { geo: { geo: { geo: { geo: { lat: 1, lng: 2 } } } } }])(
    'is not guessed from %j',
    async (row) => {
      const none = expect.stringMatching(/^no position|is neither WKT/) as unknown;
      expect((await readRows('a.json', JSON.stringify([row]))).rejects).toEqual([[1, none]]);
    },
  );

  test('leaves what is beside its coordinates, and says that an elevation is dropped', async () => {
    const rows = [
      { id: 1, location: { lat: 1, lon: 2, city: 'Poznań' } },
      { id: 2, geometry: { type: 'Point', coordinates: [1, 2, 80] } },
      { id: 3, geometry: { location: { lat: 1, lng: 2 }, viewport: 'x' } },
    ];
    const { markers, said } = await readRows('a.json', JSON.stringify(rows));
    expect(markers.map(({ properties }) => properties)).toEqual([
      { location: { city: 'Poznań' } },
      {},
      { geometry: { viewport: 'x' } },
    ]);
    expect(said).toContain('1 elevation dropped');
  });
});

describe('names and keys', () => {
  test.each(['Name', 'NAME', 'title', 'Title'])('%s is the name', async (field) => {
    const feature = {
      type: 'Feature',
      id: 1,
      geometry: { type: 'Point', coordinates: [1, 2] },
      properties: { [field]: 'A' },
    };
    for (const row of [feature, { id: 1, lat: 2, lng: 1, [field]: 'A' }]) {
      expect((await readRows('a.json', JSON.stringify([row]))).markers).toMatchObject([{ name: 'A', properties: {} }]);
    }
  });

  test('what is no text is not taken for a name of another spelling', async () => {
    const title = { rendered: 'A' };
    const feature = { type: 'Feature', id: 1, geometry: { type: 'Point', coordinates: [1, 2] }, properties: { title } };
    for (const row of [feature, { id: 1, lat: 2, lng: 1, title }]) {
      const { markers } = await readRows('a.json', JSON.stringify([row]));
      expect(markers).toMatchObject([{ key: '1', name: null, properties: { title } }]);
    }
  });

  test('a feature without an id has the key of its properties, which may be any number', async () => {
    const feature = (id: unknown, properties: object) => ({
      type: 'Feature',
      ...(id === undefined ? {} : { id }),
      geometry: { type: 'Point', coordinates: [1, 2] },
      properties,
    });
    const features = [
      feature(undefined, { id: 7, name: 'a' }),
      feature(undefined, { key: 'x-8', id: 3 }),
      feature(1.5, { id: 9 }),
      feature(undefined, { id: null, OBJECTID: 9 }),
      feature(undefined, { key: null, id: 5 }),
      { key: '', id: 6, lat: 1, lng: 2 },
    ];
    const { markers, said } = await readRows('a.geojson', JSON.stringify({ type: 'FeatureCollection', features }));
    expect(markers.map(({ key, properties }) => [key, properties])).toEqual([
      ['7', {}],
      ['x-8', { id: 3 }],
      ['1.5', { id: 9 }],
      [expect.any(String), { id: null, OBJECTID: 9 }],
      ['5', { key: null }],
      ['6', { key: '' }],
    ]);
    expect(said).toContain('1 row has no key: it is made of the content; pass --key-column');
  });
});

describe('a file', () => {
  const FEATURES = [1, 2, 3].map((id) => ({ type: 'Feature', id, geometry: { type: 'Point', coordinates: [id, 2] } }));
  const LINES = FEATURES.map((each) => JSON.stringify(each));
  const ITEM =
    '{"Item":{"id":{"N":"1"},"lat":{"N":"2"},"lng":{"N":"1"},"s":{"SS":["a"]},"big":{"N":"12345678901234567890"}}}';

  test.each([
    ['lines.json', LINES.join('\n')],
    ['lines.geojson', `${LINES.join('\n')}\n`],
    ['sequence.geojsons', LINES.map((line) => `\x1e${line}\n`).join('')],
    ['sequence.json', FEATURES.map((each) => `\x1e${JSON.stringify(each, null, 2)}\n`).join('')],
    ['pretty.json', FEATURES.map((each) => JSON.stringify(each, null, 2)).join('\n')],
    [
      'pretty.ndjson',
      `\ufeff${FEATURES.map((each) => `${JSON.stringify(each, null, 2)}\n`).join('\n')}`.replaceAll('\n', '\r\n'),
    ],
    ['glued.json', LINES.join('')],
    ['crs.ndjson', `{"meta":{"a":{}},"features":[${LINES.join()}],"type":"FeatureCollection"}`],
    ['array.json', JSON.stringify(FEATURES)],
    ['array.ndjson', JSON.stringify(FEATURES, null, 1)],
    ['rows.json', JSON.stringify([1, 2, 3].map((id) => ({ id, latitude: '2', longitude: String(id) })))],
    ['collection.ndjson', `{"type": "FeatureCollection",\n"features": [${LINES.join(',\n')}]}`],
    ['returns.ndjson', LINES.join('\r')],
    ['returns.csv', 'id,lat,lng\r1,2,1\r2,2,2\r3,2,3\r'],
    ['utf16-unmarked.json', Buffer.from(JSON.stringify(FEATURES), 'utf16le')],
    ['utf16.json', Buffer.from(`\ufeff${JSON.stringify(FEATURES)}`, 'utf16le')],
    [
      'scan.json',
      JSON.stringify({
        Items: [1, 2, 3].map((id) => ({ id: { N: `${id}` }, lat: { N: '2' }, lng: { S: `${id}` } })),
        Count: 3,
      }),
    ],
  ])('is read whatever its name and layout: %s', async (name, content) => {
    const { markers, rejects } = await readRows(name, content);
    expect({ rejects, found: markers.map(({ key, position }) => [key, position]) }).toEqual({
      rejects: [],
      found: [1, 2, 3].map((id) => [String(id), { lng: id, lat: 2 }]),
    });
  });

  test('that DynamoDB exported is read, to S3 as well', async () => {
    const wanted = [{ key: '1', position: { lng: 1, lat: 2 }, properties: { s: ['a'], big: '12345678901234567890' } }];
    expect((await readRows('a.ndjson', ITEM)).markers).toMatchObject(wanted);
    expect((await readRows('a.json.gz', gzipSync(`${ITEM}\n`))).markers).toMatchObject(wanted);
    const got = ITEM.replace(/}$/, ',"ConsumedCapacity":{"TableName":"a"}}');
    for (const text of [got, got.replace('Item', 'NewImage')])
      expect((await readRows('a.json', text)).markers).toMatchObject(wanted);
    const deep = `{"id":{"S":"1"},"m":${'{"M":{"a":'.repeat(5_000)}{"N":"1"}${'}}'.repeat(5_000)}}`;
    expect((await readRows('a.ndjson', deep)).rejects).toEqual([[1, 'it is nested too deeply']]);
  });

  test('of one line has rejects with the numbers of their rows, a file of lines with those of lines', async () => {
    const bad = { ...FEATURES[0], geometry: null };
    expect(
      (
        await readRows(
          'a.geojson',
          JSON.stringify({ type: 'FeatureCollection', features: [FEATURES[0], bad, FEATURES[1], bad] }),
        )
      ).rejects.map(([line]) => line),
    ).toEqual([2, 4]);
    const sequence = `\x1e${JSON.stringify(FEATURES[0], null, 1)}\n\x1e${JSON.stringify(bad)}\n`;
    expect((await readRows('a.geojsons', sequence)).rejects.map(([line]) => line)).toEqual([12]);
  });

  test('of lines that end with carriage returns alone has rejects with their lines', async () => {
    const pretty = JSON.stringify([FEATURES[0], { id: 2 }], null, 1).replaceAll('\n', '\r');
    const lines = pretty.split('\r');
    expect((await readRows('a.json', pretty)).rejects.map(([line]) => line)).toEqual([lines.length - 3]);
  });

  test('of values one after another has rejects with the numbers of their lines, and is refused if it ends within one', async () => {
    const pretty = FEATURES.map((each) => JSON.stringify({ ...each, properties: { s: '} {' } }, null, 1));
    const { markers, rejects } = await readRows('a.json', [pretty[0], '{\n"a": 1,,\n}', pretty[1]].join('\n'));
    expect({ keys: markers.map(({ key }) => key), lines: rejects.map(([line]) => line) }).toEqual({
      keys: ['1', '2'],
      lines: [15],
    });
    await expect(readRows('a.json', `${pretty.join('\n')}\n{ "id"`)).rejects.toThrow(/ends in the feature/);
    // Lines of which the first is damaged are no such values.
    expect((await readRows('a.ndjson', ['{"id":1', '', ...LINES].join('\n'))).rejects).toHaveLength(1);
  });

  test('keeps as text the numbers that JSON numbers cannot be, and says so', async () => {
    const values = [
      '12345678901234567890',
      '-3.4028234663852886e+38',
      '1e400',
      '1e-320',
      'NaN',
      'NODATA',
      '-Infinity',
      '1e+20',
      '9007199254740993',
    ];
    const row = `{"id":1,"lat":2,"lng":1,"text":"NaN 1e400","f":1.10,"e":1e3,${values.map((value, at) => `"v${at}":${value}`).join(',')}}`;
    const { markers, said } = await readRows('a.ndjson', row);
    expect(markers[0]?.properties).toEqual({
      text: 'NaN 1e400',
      f: 1.1,
      e: 1000,
      ...Object.fromEntries(values.map((value, at) => [`v${at}`, value])),
    });
    expect(said).toContain('9 numbers kept as text, so that no digit is lost');
    expect((await readRows('a.ndjson', '{"id":1,"lat":2,"lng":1,"a":1.2.3e99}')).rejects).toHaveLength(1);
  });

  test('in another encoding is read in the given one, else in one that is named', async () => {
    const bytes = Buffer.from('id;name;lat;lng\n1;Za\xbf\xf3\xb3\xe6 g\xea\x9cl\xb9;52,4;16,9\n', 'latin1');
    const given = await readRows('a.csv', bytes, { encoding: 'windows-1250' });
    expect({ names: given.markers.map(({ name }) => name), said: given.said }).toEqual({
      names: ['Zażółć gęślą'],
      said: [],
    });
    expect((await readRows('a.csv', bytes)).said).toEqual([expect.stringMatching(/^read as windows-1252.*--encoding/)]);
    const json = Buffer.from('[{"id":1,"lat":1,"lng":2,"name":"Malm\xf6"}]', 'latin1');
    expect((await readRows('a.json', json, { encoding: 'latin1' })).markers).toMatchObject([{ name: 'Malmö' }]);
    await expect(readRows('a.json', json, { encoding: 'klingon' })).rejects.toThrow(
      /--encoding must be .*got "klingon"/,
    );
  });

  test('with areas and lines says how to import them', async () => {
    const others = ['Polygon', 'MultiPolygon', 'LineString'].map((type) => ({
      ...FEATURES[0],
      geometry: { type, coordinates: [] },
    }));
    const { said } = await readRows('a.geojson', JSON.stringify([FEATURES[0], ...others]));
    expect(said[0]).toBe('2 areas and 1 line skipped: pass --zones');
  });

  test('with collections in place of features says what to do', async () => {
    const collection = JSON.stringify({ type: 'FeatureCollection', features: FEATURES });
    expect((await readRows('a.geojsons', `\x1e${collection}\n\x1e${collection}\n`)).rejects).toEqual(
      [1, 2].map((line) => [line, expect.stringMatching(/^a FeatureCollection in place of a Feature; `jq/)]),
    );
  });

  test('with several points in one feature says what to do', async () => {
    const feature = {
      ...FEATURES[0],
      geometry: {
        type: 'MultiPoint',
        coordinates: positions('1 2, 3 4'),
      },
    };
    expect((await readRows('a.json', JSON.stringify([feature]))).rejects).toEqual([
      [1, expect.stringMatching(/MultiPoint.*split it/)],
    ]);
  });
});
