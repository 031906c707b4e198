import fc from 'fast-check';
import { describe, expect, test } from 'vitest';

import { encode } from '../../src/geo/geohash.js';
import type { TableKeyAttribute } from '../../src/model/collection.js';
import { readMapping, type Item } from '../../src/sources/mapping.js';
import { propose } from '../../src/sources/propose/propose.js';
import { shown, TABLES } from './tables.js';

describe.each(TABLES)('of table $id, $name', ({ id, name, key, items, markers }) => {
  test('the mappings that are proposed show exactly the markers that a map must have', () => {
    const proposals = propose({ name, key }, items);
    // The commonest; or both kinds that are no cache.
    const chosen = id === '18' ? proposals.filter(({ kind }) => kind !== 'GEOCACHE') : proposals.slice(0, 1);
    const found = chosen.flatMap(({ mapping }) => shown(readMapping(mapping), items));
    const isNamed = id !== '16';
    const near = (degrees: number) => expect.closeTo(degrees, id === '08' ? 5 : 12) as number;
    const wanted = markers.map((marker) => ({
      // The text between the parts of the key is ours.
      key: id === '04' ? marker.key.replace('#', '/') : marker.key,
      position: { lng: near(marker.lng), lat: near(marker.lat) },
      name: isNamed ? marker.name : null,
    }));
    expect(found).toEqual(expect.arrayContaining(wanted.map((marker) => expect.objectContaining(marker) as object)));
    expect(found).toHaveLength(markers.length);
  });
});

test('kinds that differ in nothing but their type are proposed together and apart, those of most markers first', () => {
  const [parks] = TABLES.filter(({ id }) => id === '04');
  const kinds = parks && propose(parks, parks.items).map(({ kind, items, markers }) => ({ kind, items, markers }));
  expect(kinds).toEqual([
    { kind: 'geozone + facility', items: 8, markers: 5 },
    { kind: 'geozone', items: 4, markers: 3 },
    { kind: 'facility', items: 4, markers: 2 },
  ]);
});

test('items without a type are named in a kind of several', () => {
  const items = ['car', undefined].flatMap((type) =>
    Array.from({ length: 5 }, (_, at) => ({ id: `${type}${at}`, type, lat: 50 + at, lng: at, other: 1 })),
  );
  const table = { name: 'things', key: [{ name: 'id', type: 'S' }] as const };
  expect(propose(table, items)[0]?.kind).toBe('car + (no kind)');
});

test('a type of items that are all alike is a category', () => {
  const [sites] = TABLES.filter(({ id }) => id === '09');
  const proposals = sites && propose(sites, sites.items);
  expect(proposals).toHaveLength(1);
  expect(proposals?.[0]).toMatchObject({ kind: 'Launch + LZ + Tow', items: 8, mapping: { category: 'type' } });
});

const S = (name: string): TableKeyAttribute => ({ name, type: 'S' });
const N = (name: string): TableKeyAttribute => ({ name, type: 'N' });
const CITIES = [
  { lng: 16.92, lat: 52.41 },
  { lng: 17.03, lat: 51.11 },
  { lng: 21.01, lat: 52.23 },
  { lng: 19.94, lat: 50.06 },
];
/** Their S2 cells. */
const CELLS = [5117315364558232435n, 5120525109567624037n, 5124758770452383553n, 5122381759979286559n];
const FAR = [
  { lng: -104.99, lat: 39.73 },
  { lng: 151.2, lat: -33.87 },
];
type City = (typeof CITIES)[number];
const each = (make: (city: City, at: number) => Item, cities: readonly City[] = CITIES) => cities.map(make);
/** Three items at different times for each city. */
const history = (make: (city: City, at: number, time: number) => Item) =>
  CITIES.flatMap((city, at) => [0, 1, 2].map((time) => make({ ...city, lng: city.lng + time / 100 }, at, time)));
const geoLibrary = (coordinates: (city: City) => number[]) =>
  each((city, at) => ({
    hashKey: Number(String(CELLS[at]).slice(0, 5)),
    rangeKey: `uuid ${at}`,
    geohash: CELLS[at],
    geoJson: JSON.stringify({ type: 'POINT', coordinates: coordinates(city) }),
  }));
const LAT_LNG = { position: { lng: 'lng', lat: 'lat' } };

describe('proposes', () => {
  test.each<[string, readonly TableKeyAttribute[], Item[], object]>([
    [
      'a table of the Java Geo Library, which has the latitude first',
      [N('hashKey'), S('rangeKey')],
      geoLibrary(({ lng, lat }) => [lat, lng]),
      { key: '{rangeKey}', position: { path: 'geoJson', as: 'lat,lng' } },
    ],
    [
      'a table of its JavaScript port, which has the longitude first',
      [N('hashKey'), S('rangeKey')],
      geoLibrary(({ lng, lat }) => [lng, lat]),
      { key: '{rangeKey}', position: { path: 'geoJson', as: 'geojson' } },
    ],
    [
      'one kind of a single table, by its keys',
      [S('PK'), S('SK')],
      [
        ...each((location, at) => ({ PK: `SHOP#${at}`, SK: 'META', title: `Shop ${at}`, location })),
        ...each((_city, at) => ({ PK: `SHOP#${at}`, SK: `HOURS#${at}` })),
        { PK: 'USER#1', SK: 'META', title: 'User' },
      ],
      {
        items: { PK: 'SHOP#{key}', SK: 'META' },
        key: '{PK}',
        position: { lng: 'location.lng', lat: 'location.lat' },
        name: 'title',
      },
    ],
    [
      'one kind of a single table, by its type',
      [S('pk'), S('sk')],
      [
        ...each((city, at) => ({ pk: 'T', sk: `a${at}`, _et: 'Shop', ...city })),
        ...each((_city, at) => ({ pk: 'T', sk: `b${at}`, _et: 'User' })),
      ],
      { key: '{pk}/{sk}', where: [{ path: '_et', eq: 'Shop' }], ...LAT_LNG },
    ],
    [
      'no kinds by the base64 of bytes',
      [N('id'), { name: 'day', type: 'B' }],
      Array.from({ length: 12 }, (_, at) => ({ id: at, day: new Uint8Array([at, 255]), lng: at, lat: 50 })),
      { key: '{id}#{day}', position: { lng: 'lng', lat: 'lat' } },
    ],
    [
      'the newest reading of each device',
      [S('device'), N('ts')],
      history((city, at, time) => ({ device: `d${at}`, ts: 1_772_366_380 + time, ...city })),
      { key: '{device}', newest: 'ts', ...LAT_LNG },
    ],
    [
      'the newest reading by a sort key with a date',
      [S('pk'), S('sk')],
      history((city, at, time) => ({ pk: `DEVICE#${at}`, sk: `POS#2026-01-0${time + 1}T00:00Z`, ...city })),
      { key: '{pk}', newest: 'sk', ...LAT_LNG },
    ],
    [
      'the last written of several copies under random keys',
      [S('PK'), S('SK')],
      history((_city, at, time) => {
        const [created, updated] = ['2026-01-01', `2026-02-0${time + 1}`];
        return { PK: `${time}-${at}`, SK: `p${at}`, created_at: created, updated_at: updated, ...CITIES[at] };
      }),
      { key: '{SK}', newest: 'updated_at', ...LAT_LNG },
    ],
    [
      'items whose partition key is a cell, by their ID',
      [S('PK'), S('SK')],
      each((city, at) => ({ PK: `GEO#${encode(city, 4)}`, SK: `STORE#${at}`, hash: encode(city, 9), ...city })),
      { key: '{SK}', ...LAT_LNG },
    ],
    [
      'WKT',
      [S('id')],
      each(({ lng, lat }, at) => ({ id: `${at}`, geom: `SRID=4326;POINT(${lng} ${lat})` })),
      { key: '{id}', position: { path: 'geom', as: 'wkt' } },
    ],
    [
      'a list whose values tell which coordinate comes first',
      [S('id')],
      each(({ lng, lat }, at) => ({ id: `${at}`, loc: [lat, lng] }), [...CITIES, ...FAR]),
      { key: '{id}', position: { path: 'loc', as: 'lat,lng' } },
    ],
    [
      'the beginning of rides, under names with dots',
      [S('ride.id')],
      each(({ lng, lat }, at) => ({
        'ride.id': `${at}`,
        'start.lat': `${lat}`,
        'start.lng': `${lng}`,
        'end.lat': '1',
        'end.lng': '2',
      })),
      { key: '{["ride.id"]}', position: { lng: ['start.lng'], lat: ['start.lat'] } },
    ],
    [
      'only what is neither deleted nor hidden',
      [S('id')],
      each((city, at) => ({
        id: `${at}`,
        deletedAt: at === 0 ? '2026-01-01' : null,
        isPublic: at > 1,
        _deleted: at > 2,
        ...city,
      })),
      {
        key: '{id}',
        where: [
          { path: 'deletedAt', eq: null },
          { path: 'isPublic', eq: true },
          { path: '_deleted', ne: true },
        ],
        ...LAT_LNG,
      },
    ],
    [
      'the entries of a list, where only these have positions',
      [S('id')],
      each((city, at) => ({ id: `${at}`, route: { color: 'red', stops: [{ name: `Stop ${at}`, ...city }, city] } })),
      {
        key: '{id}',
        each: 'route.stops',
        position: { lng: 'route.stops.lng', lat: 'route.stops.lat' },
        name: 'route.stops.name',
      },
    ],
  ])('%s', (_name, key, items, mapping) => {
    const [first] = propose({ name: 'table', key }, items);
    expect(first?.mapping).toEqual({ table: 'table', ...mapping });
  });

  const notesOn = (items: readonly Item[], key = [S('id')]) => propose({ name: 'table', key }, items)[0]?.notes;

  test('with a question where nothing tells which coordinate comes first', () => {
    const asText = each(({ lng, lat }, at) => ({ id: `${at}`, position: `${lat}, ${lng}` }));
    expect(notesOn(asText)).toEqual([
      'Which coordinate comes first in position? Both are possible for all items. The latitude is taken; for the other order, write "as": "lng,lat".',
    ]);
    // A geohash beside it tells.
    const told = each((city, at) => ({ ...asText[at], geohash: encode(city, 7) }));
    expect(notesOn(told)).toEqual([]);
  });

  test('with a note on other positions, and on other items that match', () => {
    expect(notesOn(each((city, at) => ({ id: `${at}`, ...city, home: { lng: 1, lat: at } })))).toEqual([
      'The items have another position in home.lng and home.lat; a second collection can show it.',
    ]);
    const latest = each((city, at) => ({ PK: `V#${at}`, SK: 'LATEST', ...city }));
    const all = history((city, at, time) => ({ PK: `V#${at}`, SK: `2026-01-0${time + 1}`, ...city }));
    const [, second] = propose({ name: 'table', key: [S('PK'), S('SK')] }, [...latest, ...all]);
    expect(second?.notes).toEqual([
      '4 items of other kinds match, too, as nothing tells them apart; add a test to where.',
    ]);
  });

  test('a valid mapping for any items', () => {
    const aName = fc.oneof(
      fc.constantFrom(
        'type',
        'PK',
        '{a}',
        'a.b',
        '["x"]',
        '',
        'lat',
        'lng',
        'x',
        'y',
        'geohash',
        'location',
        'ttl',
        '__proto__',
      ),
      fc.string(),
    );
    const aKeyName = aName.filter((name) => name !== '' && name !== '__proto__');
    const { value: aValue } = fc.letrec((tie) => ({
      value: fc.oneof(
        { depthSize: 'small' },
        fc.constantFrom<unknown>(
          null,
          true,
          0,
          52.4,
          '16.9',
          'SHOP#1',
          'META',
          '1,2',
          'u3md0',
          2n ** 60n + 1n,
          [16.9, 52.4],
        ),
        fc.constantFrom<unknown>(
          new Set(['a']),
          new Uint8Array([1]),
          { type: 'Point', coordinates: [1, 2] },
          'POINT (1 2)',
        ),
        fc.string(),
        fc.array(tie('value'), { maxLength: 3 }),
        fc.dictionary(aName, tie('value'), { maxKeys: 4 }),
      ),
    }));
    const someItems = fc.array(fc.dictionary(aName, aValue, { maxKeys: 8 }), { maxLength: 5 });
    let proposed = 0;
    fc.assert(
      fc.property(someItems, fc.uniqueArray(aKeyName, { minLength: 1, maxLength: 2 }), (items, names) => {
        // Every item has its key, which is a text.
        const textOf = (value: unknown) => (typeof value === 'string' && value !== '' ? value : undefined);
        const keyOf = (item: Item, at: number) => names.map((name) => [name, textOf(item[name]) ?? `{SHOP#}${at}`]);
        const all = items.map((item, at) => ({
          lat: at,
          lng: at,
          ...item,
          ...(Object.fromEntries(keyOf(item, at)) as Item),
        }));
        for (const { mapping } of propose({ name: 'table', key: names.map(S) }, all)) {
          proposed++;
          expect(() => readMapping(JSON.parse(JSON.stringify(mapping)))).not.toThrow();
        }
      }),
      { numRuns: 50 },
    );
    expect(proposed).toBeGreaterThan(0);
  });

  test('by no more than 500 items', () => {
    const items = Array.from({ length: 600 }, (_, at) => ({ id: `${at}`, ...CITIES[0] }));
    expect(propose({ name: 'table', key: [S('id')] }, items)).toMatchObject([{ items: 500, markers: 500 }]);
  });

  test('nothing for items without a position, or for none', () => {
    expect(propose({ name: 'table', key: [S('id')] }, [])).toEqual([]);
    expect(
      propose({ name: 'table', key: [S('id')] }, [{ id: 'a', size: [1, 2], x: 1e6, y: 2e6, lat: 'north', lng: 1 }]),
    ).toEqual([]);
  });
});

describe('of versions, told by sort keys,', () => {
  const [PK, SK] = [S('PK'), S('SK')];
  const versionsOf = (sortKeys: readonly string[]): Item[] =>
    CITIES.flatMap(({ lng, lat }, shop) =>
      sortKeys.map((sort, age) => {
        return { PK: `SHOP#${shop}`, SK: sort, entity: 'Shop', lng: lng + (age === 0 ? 0 : age / 100), lat };
      }),
    );
  const order = { PK: 'SHOP#1', SK: 'ORDER#1', entity: 'Order' };

  test.each([
    ['a copy of the last one is the marker', ['v0_SHOP', 'v12_SHOP', 'v9_SHOP']],
    ['the greatest is the marker', ['ver#003', 'ver#001', 'ver#002']],
  ])('%s', (_, sortKeys) => {
    for (const others of [[], [order]]) {
      const items = [...versionsOf(sortKeys), ...others];
      const [first] = propose({ name: 'shops', key: [PK, SK] }, items);
      const found = first === undefined ? [] : shown(readMapping(first.mapping), items);
      const wanted = CITIES.map(
        (position, shop) => expect.objectContaining({ key: `SHOP#${shop}`, position }) as object,
      );
      expect(found).toEqual(expect.arrayContaining(wanted));
      expect(found).toHaveLength(CITIES.length);
    }
  });
});
