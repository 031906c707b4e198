import { describe, expect, test } from 'vitest';

import { center } from '../../src/geo/geohash.js';
import { itemKey } from '../../src/sources/entries.js';
import { readMapping, type Item, type MappingJson } from '../../src/sources/mapping.js';
import { compareNewest, detailsOf, markersOf } from '../../src/sources/marker.js';
import { markerOf } from './marker-of.js';

const NOW = Date.parse('2026-03-01T12:00:00Z');
const SHOPS = { table: 'shops', key: '{id}', position: { lng: 'lng', lat: 'lat' } };
const SHOP = { id: 'a', lng: 16.9, lat: 52.4 };
const read = (mapping: Partial<MappingJson>, item: Item) => markerOf(readMapping({ ...SHOPS, ...mapping }), item, NOW);
const isMarker = (mapping: Partial<MappingJson>, item: Item) => read(mapping, item).kind === 'marker';

describe('a position', () => {
  const POINT = { lng: 16.9, lat: 52.4 };
  const geojson = { type: 'Point', coordinates: [16.9, 52.4, 80] };
  test.each<[string, unknown]>([
    ['geojson', geojson],
    ['geojson', { type: 'POINT', coordinates: ['16.9', '52.4'] }],
    ['geojson', ` ${JSON.stringify(geojson)}`],
    ['geojson', { type: 'Feature', properties: {}, geometry: geojson }],
    ['geojson', { type: 'GeometryCollection', geometries: [{ type: 'MultiPoint', coordinates: [[16.9, 52.4]] }] }],
    ['wkt', 'POINT(16.9 52.4)'],
    ['wkt', ' SRID=4326;Point Z (16.9 52.4 80)'],
    ['lat,lng', '52.4,16.9'],
    ['lat,lng', '(52.4; 16.9)'],
    ['lat,lng', ' 52.4 16.9 '],
    ['lat,lng', [52.4, '16.9', 80]],
    ['lat,lng', '{"type":"POINT","coordinates":[52.4,16.9]}'],
    ['lng,lat', '16.9, +5.24e1'],
    ['lng,lat', [16.9, 52.4]],
    ['lng,lat', geojson],
    ['lat,lng', 'POINT (52.4 16.9)'],
  ])('is read as %s from %j', (as, value) => {
    const position = { path: 'at', as } as MappingJson['position'];
    expect(read({ position }, { id: 'a', at: value })).toMatchObject({ kind: 'marker', position: POINT });
  });

  test.each<[string, unknown, string]>([
    ['geojson', [16.9, 52.4], 'invalid'],
    ['geojson', { type: 'Polygon', coordinates: [] }, 'invalid'],
    ['geojson', '{"type":"Point"', 'invalid'],
    ['wkt', 'LINESTRING (1 2, 3 4)', 'invalid'],
    ['lat,lng', '52.4,16.9,80', 'invalid'],
    ['lat,lng', '52,4,16,9', 'invalid'],
    ['lat,lng', '52.4N 16.9E', 'invalid'],
    ['lat,lng', `52.4${' '.repeat(200)}16.9`, 'invalid'],
    ['lat,lng', [52.4], 'invalid'],
    ['lat,lng', [null, null], 'no'],
    ['lat,lng', new Set([1, 2]), 'invalid'],
    ['lat,lng', 52.4, 'invalid'],
    ['lat,lng', '91,0', 'invalid'],
    ['lat,lng', '0,181', 'invalid'],
    ['geohash', 'u3m', 'invalid'],
    ['geohash', 'ailo99', 'invalid'],
    ['geohash', ' ', 'no'],
    ['wkt', {}, 'no'],
    ['wkt', null, 'no'],
    ['wkt', undefined, 'no'],
  ])('is none as %s in %j', (as, value, reason) => {
    const position = { path: 'at', as } as MappingJson['position'];
    expect(read({ position }, { id: 'a', at: value })).toMatchObject({
      kind: 'rejected',
      reason: `${reason} position`,
      message: expect.stringMatching(/^at must be .*; got /) as string,
      key: 'a',
    });
  });

  test.each<[string, unknown, string]>([
    ['lat,lng', new Set(['2', '1']), 'a list, or a Point; got ["2","1"]'],
    ['lat,lng', Buffer.from('2,1'), `a list, or a Point; got "${Buffer.from('2,1').toString('base64')}"`],
    ['lat,lng', '{"lat":2,"lng":1}', 'a list, or a Point; got "{\\"lat\\":2,\\"lng\\":1}"'],
    ['lat,lng', 'N2 E1', 'a list, or a Point; got "N2 E1"'],
    ['lat,lng', [120, 30], 'from -90 to 90 (are longitude and latitude swapped?); got 120'],
    ['geojson', { type: 'Point', coordinates: [120, 200] }, 'from -90 to 90; got 200'],
  ])('as %s in %j is a fault that names the whole value as it is stored, and what may be meant', (as, value, end) => {
    const { message } = read({ position: { path: 'at', as } as never }, { id: 'a', at: value }) as { message: string };
    expect(message.slice(-end.length)).toBe(end);
  });

  test('is none in JSON nested too deeply for the stack', () => {
    const at = '{"geometry":'.repeat(50_000) + '1' + '}'.repeat(50_000);
    expect(read({ position: { path: 'at', as: 'geojson' } }, { id: 'a', at })).toMatchObject({
      reason: 'invalid position',
    });
  });

  test('is the center of a geohash, in any case', () => {
    const position = { path: 'at', as: 'geohash' } as const;
    expect(read({ position }, { id: 'a', at: 'S0000' })).toMatchObject({ position: center('s0000') });
  });

  test.each<[unknown, boolean]>([
    ['16.9', true],
    [' 16.9 ', true],
    ['1e1', true],
    [17n, true],
    ['16.9E', false],
    ['16,9', false],
    ['0x10', false],
    ['Infinity', false],
    [Number.NaN, false],
    [true, false],
    [[16.9], false],
  ])('has a coordinate %s: %s', (lng, holds) => {
    expect(isMarker({}, { ...SHOP, lng })).toBe(holds);
  });

  test('is given in other units, if the mapping says so', () => {
    const perDegree = { position: { ...SHOPS.position, perDegree: 1e7 } };
    expect(read(perDegree, { id: 'a', lng: 169_000_001, lat: '524000000' })).toMatchObject({
      position: { lng: 16.9000001, lat: 52.4 },
    });
    expect(read(perDegree, { id: 'a', lng: 1_810_000_000, lat: 0 })).toMatchObject({ reason: 'invalid position' });
    expect(read({}, { id: 'a', lng: 169_000_001, lat: 524_000_000 })).toMatchObject({
      message: expect.stringMatching(
        /^lat must be .* 90, or in other units with "perDegree", .*; got 524000000$/,
      ) as string,
    });
  });

  test('beyond 180 degrees is wrapped, if the mapping says so; beyond a pole never', () => {
    const wrap = { position: { ...SHOPS.position, wrap: true } };
    expect(read({}, { ...SHOP, lng: 190 })).toMatchObject({ reason: 'invalid position' });
    expect(read(wrap, { ...SHOP, lng: 190 })).toMatchObject({ position: { lng: -170, lat: 52.4 } });
    expect(read(wrap, { ...SHOP, lng: -180 })).toMatchObject({ position: { lng: -180, lat: 52.4 } });
    expect(read(wrap, { ...SHOP, lat: 90.5 })).toMatchObject({ reason: 'invalid position' });
    expect(read(wrap, { ...SHOP, lat: -90 })).toMatchObject({ kind: 'marker' });
  });

  test('0, 0 is a place, unless the mapping says otherwise; a single 0 always is one', () => {
    const zero = { position: { ...SHOPS.position, zero: 'missing' as const } };
    expect(isMarker({}, { id: 'a', lng: 0, lat: 0 })).toBe(true);
    expect(read(zero, { id: 'a', lng: '0.0', lat: -0 })).toMatchObject({ reason: 'no position' });
    expect(isMarker(zero, { id: 'a', lng: 0, lat: 1 })).toBe(true);
  });

  test('is the fallback where the first is absent, not where it is invalid', () => {
    const fallback = { path: 'shop.at', as: 'lat,lng' as const };
    const position = { ...SHOPS.position, zero: 'missing' as const, fallback };
    const shop = { at: '52.4,16.9' };
    for (const first of [{}, { lng: null, lat: null }, { lng: 16.9 }, { lng: '', lat: ' ' }, { lng: 0, lat: 0 }]) {
      expect(read({ position }, { id: 'a', ...first, shop })).toMatchObject({ position: { lng: 16.9, lat: 52.4 } });
    }
    expect(read({ position }, { id: 'a', lng: 'x', lat: 2, shop })).toMatchObject({ reason: 'invalid position' });
    expect(read({ position }, { id: 'a', shop: { at: '0,0' } })).toMatchObject({ reason: 'no position' });
  });

  test.each<[unknown, 'wkt' | 'geojson']>([
    ['POINT EMPTY', 'wkt'],
    [' SRID=4326; point z empty ', 'wkt'],
    [{ type: 'Point', coordinates: [] }, 'geojson'],
    [{ type: 'Point', coordinates: null }, 'geojson'],
    [{ type: 'GeometryCollection', geometries: [{ type: 'Point', coordinates: [] }] }, 'geojson'],
    [{ type: 'Feature', geometry: null, properties: {} }, 'geojson'],
  ])('is absent in an empty geometry: %j', (at, as) => {
    const fallback = { path: 'other', as: 'geohash' as const };
    const place = { path: 'at', as };
    expect(read({ position: place }, { id: 'a', at })).toMatchObject({ reason: 'no position' });
    expect(read({ position: { ...place, fallback } }, { id: 'a', at, other: 'u37cp' })).toMatchObject({
      kind: 'marker',
    });
  });
});

describe('an item matches', () => {
  const item = {
    ...SHOP,
    type: 'shop',
    stars: 4,
    open: false,
    gone: null,
    tags: new Set(['x']),
    big: 2n ** 60n,
    m: { a: 'z' },
  };
  test.each<[object, boolean]>([
    [{ path: 'type', eq: 'shop' }, true],
    [{ path: 'stars', eq: '4' }, false],
    [{ path: 'big', eq: '1152921504606846976' }, true],
    [{ path: 'gone', eq: null }, true],
    [{ path: 'none', eq: null }, true],
    [{ path: 'type', eq: null }, false],
    [{ path: 'open', ne: true }, true],
    [{ path: 'open', ne: false }, false],
    [{ path: 'gone', ne: true }, true],
    [{ path: 'none', ne: 'x' }, true],
    [{ path: 'gone', ne: null }, false],
    [{ path: 'none', ne: null }, false],
    [{ path: 'm.a', in: ['y', 'z'] }, true],
    [{ path: 'none', in: ['y', null] }, true],
    [{ path: 'type', in: [] }, false],
    [{ path: 'stars', gt: 3 }, true],
    [{ path: 'stars', gt: 4 }, false],
    [{ path: 'stars', gte: 4 }, true],
    [{ path: 'stars', lt: 4 }, false],
    [{ path: 'stars', lte: 4 }, true],
    [{ path: 'stars', lt: 'a' }, false],
    [{ path: 'none', lt: 4 }, false],
    [{ path: 'type', gt: 'shoe' }, true],
    [{ path: 'type', contains: 'ho' }, true],
    [{ path: 'tags', contains: 'x' }, true],
    [{ path: 'tags', contains: 'y' }, false],
    [{ path: 'stars', contains: '4' }, false],
    [{ path: 'gone', exists: true }, true],
    [{ path: 'none', exists: true }, false],
    [{ path: 'none', exists: false }, true],
  ])('%j: %j', (test, holds) => {
    const where = [test] as MappingJson['where'];
    expect(read({ where }, item).kind).toBe(holds ? 'marker' : 'other');
  });

  test('if all tests hold, and all templates of its key', () => {
    const where = [
      { path: 'type', eq: 'shop' },
      { path: 'stars', gt: 4 },
    ];
    expect(isMarker({ where }, item)).toBe(false);
    const items = { id: 'a{x}', number: '{y}' };
    expect(read({ items }, { ...SHOP, id: 'ab', number: 7 })).toMatchObject({ key: 'ab' });
    expect(read({ items, key: undefined }, { ...SHOP, id: 'a::b', number: 7 })).toMatchObject({ key: '%3A%3Ab::7' });
    expect(read({ items: { id: '{key}' }, key: undefined }, { ...SHOP, id: 'a::b' })).toMatchObject({ key: 'a::b' });
    for (const other of [{ id: 'b', number: 7 }, { id: 'ab' }, { id: 'a', number: 7 }, { id: 'ab', number: true }]) {
      expect(read({ items }, { ...SHOP, ...other }).kind).toBe('other');
    }
    const twice = { a: 'A#{key}', b: 'B#{key}' };
    expect(isMarker({ items: twice }, { ...SHOP, a: 'A#1', b: 'B#1' })).toBe(true);
    expect(isMarker({ items: twice }, { ...SHOP, a: 'A#1', b: 'B#2' })).toBe(false);
  });

  test('until it expires: at seconds, milliseconds or an RFC 3339 instant', () => {
    const seconds = NOW / 1_000;
    for (const ttl of [seconds + 1, String(seconds + 1), NOW + 1, BigInt(NOW + 1), '2026-03-01T13:00:01+01:00']) {
      const expiresAt = String(ttl).length === 10 || typeof ttl === 'string' ? NOW + 1_000 : NOW + 1;
      expect(read({ ttl: 'ttl' }, { ...SHOP, ttl })).toMatchObject({ kind: 'marker', expiresAt });
    }
    for (const ttl of [seconds, NOW, '2026-03-01T12:00:00Z'])
      expect(isMarker({ ttl: 'ttl' }, { ...SHOP, ttl })).toBe(false);
    for (const ttl of [undefined, null, 0, 'never', '']) {
      expect(read({ ttl: 'ttl' }, { ...SHOP, ttl })).toMatchObject({ kind: 'marker', expiresAt: undefined });
    }
  });
});

test('paths lead into JSON text, unless it is nested more deeply than items can be', () => {
  const mapping = {
    key: '{data.id}',
    each: 'data.stops',
    position: { path: 'data.stops.at', as: 'geojson' as const },
    name: 'data.stops.name',
    properties: ['data.more', 'data.stops.name[0]'],
  };
  const stop = { at: JSON.stringify({ type: 'Point', coordinates: [16.9, 52.4] }), name: '[A' };
  const data = JSON.stringify({ id: 7, stops: JSON.stringify([stop]), more: [1] });
  expect(markersOf(readMapping({ table: 'shops', ...mapping }), { data }, NOW)).toMatchObject([
    { key: '7/0', position: { lng: 16.9, lat: 52.4 }, name: '[A', properties: { 'data.more': [1] } },
  ]);
  // Integers of 64 bits are not rounded, so that two items do not become one marker.
  for (const id of ['9007199254740993', '-12345678901234567890']) {
    const exact = `{"id":${id},"stops":[{"at":{"type":"Point","coordinates":[16.9,52.4]},"name":"A"}],"more":[${id}]}`;
    expect(markersOf(readMapping({ table: 'shops', ...mapping }), { data: exact }, NOW)).toMatchObject([
      { key: `${id}/0`, properties: { 'data.more': [id] } },
    ]);
  }
  const deep = (levels: number) => ({ ...SHOP, data: `{"more":${'['.repeat(levels)}1${']'.repeat(levels)}}` });
  const hasMore = (item: Item) => isMarker({ where: [{ path: 'data.more', exists: true }] }, item);
  expect([31, 32, 100_000].map((levels) => hasMore(deep(levels)))).toEqual([true, false, false]);
});

test('a key may be any text that fits; otherwise, the item is rejected', () => {
  expect(read({ key: '{a}/{b.c}' }, { ...SHOP, a: 1.5, b: { c: new Uint8Array([1, 2]) } })).toMatchObject({
    key: '1.5/AQI=',
  });
  for (const id of ['', null, undefined, true, ['a']]) {
    expect(read({}, { ...SHOP, id })).toEqual({
      kind: 'rejected',
      reason: 'no key',
      message: expect.stringContaining('id must be non-empty text, a number or bytes; got ') as string,
    });
  }
  expect(read({}, { ...SHOP, id: 'x'.repeat(1_013) })).toMatchObject({ reason: 'invalid key' });
});

test('values become what a marker has', () => {
  const mapping = {
    name: 'n',
    category: 'c',
    place: ['p', 'q', 'r'],
    properties: ['set', 'bin', 'big', 'none', 'null', 'map', ['a.b']],
  };
  const item = {
    ...SHOP,
    n: 7,
    c: true,
    p: 'e\u0301',
    q: 2,
    r: '',
    set: new Set([1, 2n ** 60n]),
    bin: new Uint8Array([1]),
    big: -(2n ** 60n),
    null: null,
    map: { list: [new Set(['x'])] },
    'a.b': 1,
    other: 1,
  };
  expect(read({ ...mapping, newest: 'q' }, item)).toEqual({
    kind: 'marker',
    item,
    key: 'a',
    position: { lng: 16.9, lat: 52.4 },
    name: '7',
    category: 'true',
    place: ['é', '2'],
    properties: {
      set: [1, '1152921504606846976'],
      bin: 'AQ==',
      big: '-1152921504606846976',
      null: null,
      map: { list: [['x']] },
      'a.b': 1,
    },
    newest: 2,
    expiresAt: undefined,
  });
  const bare = { name: null, category: null, place: [], properties: {}, newest: undefined };
  expect(read({ ...mapping, newest: 'map' }, SHOP)).toMatchObject(bare);
  expect(read({ name: 'n' }, { ...SHOP, n: '' })).toMatchObject({ name: '' });
  expect(read({ name: 'n', place: ['p'] }, { ...SHOP, n: new Uint8Array([1]), p: 'x'.repeat(201) })).toMatchObject(
    bare,
  );
});

test('the newest is told by numbers, also as text, before other texts, and those before nothing', () => {
  const times = [undefined, '2026-01-01', '2026-01-02', 5, '17', '1152921504606846975', 2n ** 60n].map((time) => {
    const marker = read({ newest: 'at' }, { ...SHOP, at: time });
    return marker.kind === 'marker' ? marker.newest : 'no marker';
  });
  for (const [at, time] of times.entries()) {
    for (const [other, late] of times.entries()) {
      expect(Math.sign(compareNewest(time, late))).toBe(Math.sign(at - other));
    }
  }
});

test('details are the properties that maps draw, those that are read when asked for, the version and the times', () => {
  const item = {
    ...SHOP,
    name: 'A',
    kind: 'x',
    phone: '1',
    mail: 'm',
    address: { city: 'P', street: 'S' },
    v: 3,
    made: 1_772_366_400,
    changed: NOW + 1,
  };
  const mapping = {
    ...SHOPS,
    name: 'name',
    properties: ['kind', 'address.city'],
    version: 'v',
    createdAt: 'made',
    updatedAt: 'changed',
  };
  const properties = { kind: 'x', 'address.city': 'P' };
  const times = { version: 3, createdAt: '2026-03-01T12:00:00.000Z', updatedAt: '2026-03-01T12:00:00.001Z' };
  expect(detailsOf(readMapping(mapping), item)).toEqual({ properties, ...times });
  expect(detailsOf(readMapping({ ...mapping, details: ['phone', 'none'] }), item).properties).toEqual({
    ...properties,
    phone: '1',
  });
  const { lng: _lng, lat: _lat, name: _name, ...rest } = item;
  expect(detailsOf(readMapping({ ...mapping, details: '*' }), item).properties).toEqual({ ...rest, ...properties });
  const other = { ...mapping, position: { ...SHOPS.position, fallback: { path: 'phone', as: 'wkt' as const } } };
  expect(detailsOf(readMapping({ ...other, details: '*' }), item).properties).not.toHaveProperty('phone');
  const unknown = { version: undefined, createdAt: undefined, updatedAt: undefined };
  expect(detailsOf(readMapping(mapping), { ...item, v: 1.5, made: 'x', changed: 9e15 })).toMatchObject(unknown);
});

test('with each, every entry of a list is a marker, and stands for the list in all other fields', () => {
  const mapping = readMapping({
    table: 'lines',
    items: { PK: 'LINE#{id}' },
    each: 'route.stops',
    where: [{ path: 'route.stops.shut', ne: true }],
    position: { lng: 'route.stops.at[0]', lat: 'route.stops.at[1]' },
    name: 'route.stops.name',
    properties: ['label'],
    details: '*',
  });
  const [market, shut, lost] = [{ name: 'Market', at: [16.9, 52.4] }, { shut: true, at: [1, 2] }, { name: 'Lost' }];
  const item = { PK: 'LINE#5', label: 'five', route: { stops: [market, shut, lost, market], other: 1 } };
  const found = markersOf(mapping, item, NOW);
  expect(found).toMatchObject([
    { kind: 'marker', key: '5/0', position: { lng: 16.9, lat: 52.4 }, name: 'Market', properties: { label: 'five' } },
    { kind: 'other' },
    { kind: 'rejected', key: '5/2', reason: 'no position' },
    { kind: 'marker', key: '5/3' },
  ]);
  const [first] = found;
  expect(first?.kind === 'marker' && detailsOf(mapping, first.item).properties).toEqual({
    PK: 'LINE#5',
    label: 'five',
    route: { stops: market, other: 1 },
  });
  expect(item.route.stops).toHaveLength(4);
  for (const stops of [[], null, undefined]) expect(markersOf(mapping, { ...item, route: { stops } }, NOW)).toEqual([]);
  expect(markersOf(mapping, { PK: 'LINE#5' }, NOW)).toEqual([]);
  expect(markersOf(mapping, { ...item, route: { stops: market } }, NOW)).toMatchObject([{ key: '5/0' }]);
  const many = Array.from({ length: 2_000 }, () => market);
  expect(markersOf(mapping, { ...item, route: { stops: many } }, NOW)).toHaveLength(1_000);
  expect(['5/0', '5/999', 'a/b/7'].map((key) => itemKey(mapping, key))).toEqual(['5', '5', 'a/b']);
  expect(['5', '5/', '5/01', '5/1000', '5/-1'].map((key) => itemKey(mapping, key))).toEqual(Array(5).fill(undefined));
});
