import { expect, test } from 'vitest';

import { encode } from '../../src/geo/geohash.js';
import type { TableKeyAttribute } from '../../src/model/collection.js';
import { readMapping, type Item } from '../../src/sources/mapping.js';
import { likePositions } from '../../src/sources/propose/position.js';
import { propose } from '../../src/sources/propose/propose.js';
import { shown } from './tables.js';

interface City {
  readonly name: string;
  readonly lng: number;
  readonly lat: number;
}

const WORLD: readonly City[] = [
  { name: 'Poznań', lng: 16.9252, lat: 52.4064 },
  { name: 'Berlin', lng: 13.405, lat: 52.52 },
  { name: 'New York', lng: -74.006, lat: 40.7128 },
  { name: 'Sydney', lng: 151.2093, lat: -33.8688 },
  { name: 'Tokyo', lng: 139.6917, lat: 35.6895 },
  { name: 'Lima', lng: -77.0428, lat: -12.0464 },
];
/** Of these, both orders are possible. */
const EUROPE = WORLD.slice(0, 2);
const TIME = 1_772_366_380_000;

type Key = readonly (readonly [string, TableKeyAttribute['type']])[];
const ID: Key = [['id', 'S']];
const KEYS: Key = [
  ['PK', 'S'],
  ['SK', 'S'],
];

interface Design {
  readonly items: readonly Item[];
  readonly cities?: readonly City[];
  readonly key?: Key;
  /** The key of the marker of each city. */
  readonly keyOf?: (index: number) => string;
  /** The cities with a marker. */
  readonly isShown?: (index: number) => boolean;
  /** Further markers, of which a note tells. */
  readonly others?: number;
  /** What the mapping has, among others. */
  readonly mapping?: object;
  /** What is in the notes; none if left out. */
  readonly note?: RegExp;
}

const of = (make: (city: City, index: number) => Item, cities = WORLD) =>
  cities.map((city, index) => ({ id: `p${index}`, ...make(city, index) }));
/** Three readings of each, of which the last is in its city. */
const readings = (make: (city: City, index: number, age: number) => Item) =>
  WORLD.flatMap((city, index) => [2, 1, 0].map((age) => make({ ...city, lat: city.lat - age / 100 }, index, age)));
const e = (factor: number) => (degrees: number) => Math.round(degrees * factor);
const [e6, e7] = [e(1e6), e(1e7)];

const DESIGNS: Readonly<Record<string, Design>> = {
  'JSON text in an attribute': {
    items: of(({ lng, lat, name }) => ({ data: JSON.stringify({ name, address: { geo: { lat, lng } } }) })),
    mapping: { position: { lng: 'data.address.geo.lng', lat: 'data.address.geo.lat' }, name: 'data.name' },
  },
  'a GeoJSON Feature with a name, as text': {
    items: of(({ lng, lat, name }) => {
      const geometry = { type: 'Point', coordinates: [lng, lat] };
      return { feature: JSON.stringify({ type: 'Feature', geometry, properties: { name } }) };
    }),
    mapping: { position: { path: 'feature', as: 'geojson' }, name: 'feature.properties.name' },
  },
  'entries of a list in JSON text': {
    items: of(({ lng, lat }) => ({ route: JSON.stringify({ stops: [{ lat, lng }] }) })),
    keyOf: (index) => `p${index}/0`,
    mapping: { each: 'route.stops' },
  },
  'coordinates that are maps with a value': {
    items: of(({ lng, lat }) => ({ Position: { Latitude: { Value: lat, Unit: 'deg' }, Longitude: { Value: lng } } })),
    mapping: { position: { lng: 'Position.Longitude.Value', lat: 'Position.Latitude.Value' } },
  },
  'values in the format of the DynamoDB API': {
    items: of(({ lng, lat }) => ({ at: { M: { lat: { N: String(lat) }, lng: { N: String(lng) } } } })),
  },
  'ten-millionths of a degree by name, the newest of each user': {
    key: [
      ['userId', 'S'],
      ['ts', 'N'],
    ],
    items: readings(({ lng, lat }, index, age) => {
      return { userId: `p${index}`, ts: TIME - age, latitudeE7: e7(lat), longitudeE7: e7(lng) };
    }),
    mapping: { position: { lng: 'longitudeE7', lat: 'latitudeE7', perDegree: 1e7 } },
    note: /10000000 are taken for a degree/,
  },
  'millionths of a degree': {
    items: of(({ lng, lat }) => ({ lat: e6(lat), lon: e6(lng) })),
    note: /1000000 are taken for a degree/,
  },
  'coordinates under exchanged names': {
    items: of(({ lng, lat }) => ({ lat: lng, lng: lat })),
    mapping: { position: { lng: 'lat', lat: 'lng' } },
    note: /are exchanged/,
  },
  'WKT with the latitude first': {
    items: of(({ lng, lat }) => ({ geom: `POINT (${lat} ${lng})` })),
    mapping: { position: { path: 'geom', as: 'lat,lng' } },
  },
  'an order that its name says': {
    cities: EUROPE,
    items: of(({ lng, lat }) => ({ position_latlon: [lat, lng] }), EUROPE),
    mapping: { position: { path: 'position_latlon', as: 'lat,lng' } },
  },
  'another order that its name says': {
    cities: EUROPE,
    items: of(({ lng, lat }) => ({ lonLat: `${lng},${lat}` }), EUROPE),
    mapping: { position: { path: 'lonLat', as: 'lng,lat' } },
  },
  'an order that a wrong item does not change': {
    items: [
      ...of(({ lng, lat }) => ({ location: `${lat},${lng}` }), Array.from({ length: 60 }, () => EUROPE).flat()),
      { id: 'wrong', location: '152.4,16.9' },
    ],
    cities: Array.from({ length: 60 }, () => EUROPE).flat(),
    note: /^Which coordinate comes first in location\? Both are possible for 120 of 121 items/,
  },
  'geohashes under a short name': {
    items: of((city) => ({ gh: encode(city, 11) })),
    note: /taken for a geohash/,
  },
  'geohashes under the name of positions, but no names of cities': {
    items: of((city, index) => ({ geo: encode(city, 11), location: index === 0 ? 'Bremen' : '60313' })),
    mapping: { position: { path: 'geo', as: 'geohash' } },
    note: /taken for a geohash/,
  },
  'a place between the corners of its area': {
    items: of(({ lng, lat }) => {
      const corner = (add: number) => ({ lat: lat + add, lng: lng + add });
      return { geometry: { bounds: { ne: corner(1), sw: corner(-1) }, location: { lat, lng } } };
    }),
  },
  'coordinates under a name of geohashes': {
    items: of(({ lng, lat }) => ({ geo: `${lat}, ${lng}` })),
    mapping: { position: { path: 'geo', as: 'lat,lng' } },
  },
  'the first of two places, in whatever order they are': {
    items: of(({ lng, lat }) => ({ home: { lat, lng }, work: { lat, lng: lng + 1 } })),
    note: /another position in work\.lng/,
  },
  'the beginning of a ride, and its name': {
    items: of(({ lng, lat, name }) => {
      return {
        destination: { lat: lat + 0.1, lng },
        origin: { lat, lng },
        end_station_name: 'End',
        start_station_name: name,
      };
    }),
    mapping: { position: { lng: 'origin.lng', lat: 'origin.lat' }, name: 'start_station_name' },
    note: /another position in destination\.lng/,
  },
  'readings by time, the newest of each device': {
    key: [
      ['sample_time', 'N'],
      ['device_id', 'N'],
    ],
    items: readings(({ lng, lat }, index, age) => {
      return { sample_time: TIME - age, device_id: index, device_data: { latitude: lat, longitude: lng } };
    }),
    keyOf: String,
    mapping: { key: '{device_id}', newest: 'sample_time' },
  },
  'events that may be readings': {
    key: [['eventId', 'S']],
    items: readings(({ lng, lat }, index, age) => ({ eventId: `e${index}${age}`, deviceId: `d${index}`, lng, lat })),
    keyOf: (index) => `e${index}0`,
    others: 2 * WORLD.length,
    note: /^Several have the same deviceId\. If they are readings/,
  },
  'orders of tenants, by day': {
    key: KEYS,
    items: WORLD.map(({ lng, lat }, i) => ({ PK: `TENANT#${i % 2}`, SK: `ORDER#2026-01-0${1 + i}#o${i}`, lng, lat })),
    keyOf: (index) => `TENANT#${index % 2}/ORDER#2026-01-0${1 + index}#o${index}`,
    mapping: { key: '{PK}/{SK}' },
    note: /^Several have the same PK\. If they are readings/,
  },
  'orders of users, by time': {
    key: KEYS,
    items: WORLD.map(({ lng, lat }, i) => ({ PK: `USER#${i % 2}`, SK: `ORDER#2026-01-0${1 + i}T00:00Z`, lng, lat })),
    keyOf: (index) => `USER#${index % 2}/ORDER#2026-01-0${1 + index}T00:00Z`,
    note: /^Several have the same PK\. If they are readings/,
  },
  'earthquakes of regions, by time': {
    key: [
      ['region', 'S'],
      ['time', 'N'],
    ],
    items: WORLD.map(({ lng, lat }, index) => ({ region: `r${index % 2}`, time: TIME + index, lng, lat })),
    keyOf: (index) => `r${index % 2}/${TIME + index}`,
    note: /^Several have the same region\. If they are readings/,
  },
  'photos by time, each with a title': {
    key: [
      ['album', 'S'],
      ['takenAt', 'N'],
    ],
    items: WORLD.map(({ lng, lat, name }, i) => ({ album: `a${i % 2}`, takenAt: TIME + i, title: name, lng, lat })),
    keyOf: (index) => `a${index % 2}/${TIME + index}`,
    note: /^Several have the same album\. If they are readings/,
  },
  'the weather of cities, by time': {
    key: [
      ['city', 'S'],
      ['time', 'N'],
    ],
    items: WORLD.flatMap(({ lng, lat }, i) => [0, 1].map((age) => ({ city: `c${i}`, time: TIME - age, lng, lat }))),
    keyOf: (index) => `c${index}`,
    mapping: { key: '{city}', newest: 'time' },
  },
  'numbered versions': {
    key: [
      ['id', 'S'],
      ['version', 'S'],
    ],
    items: readings(({ lng, lat }, i, age) => ({ id: `p${i}`, version: String(11 - age), lng, lat })),
    mapping: { key: '{id}', newest: 'version' },
  },
  'readings with an ID behind their time': {
    key: KEYS,
    items: readings(({ lng, lat }, i, age) => ({ PK: `DEVICE#${i}`, SK: `LOC#2026-01-0${9 - age}#x${age}`, lng, lat })),
    keyOf: (index) => `DEVICE#${index}`,
    mapping: { key: '{PK}', newest: 'SK' },
  },
  'positions of users, by time': {
    key: KEYS,
    items: readings(({ lng, lat }, i, age) => ({ PK: `USER#${i}`, SK: `LOCATION#2026-01-0${9 - age}`, lng, lat })),
    keyOf: (index) => `USER#${index}`,
    mapping: { key: '{PK}', newest: 'SK' },
  },
  'sort keys that begin with a sign': {
    key: KEYS,
    items: WORLD.flatMap(({ lng, lat }, index) => [
      { PK: `VENUE#${index}`, SK: `#METADATA#${index}`, lng, lat },
      { PK: `VENUE#${index}`, SK: `EVENT#${index}` },
    ]),
    keyOf: (index) => `VENUE#${index}`,
    mapping: { items: { PK: 'VENUE#{key}', SK: '#METADATA#{key}' } },
  },
  'classes of one table': {
    items: of(({ lng, lat }, index) => (index % 2 === 0 ? { _class: 'com.Shop', lng, lat } : { _class: 'com.User' })),
    isShown: (index) => index % 2 === 0,
    mapping: { where: [{ path: '_class', eq: 'com.Shop' }] },
  },
  'Amplify, which marks only what is deleted': {
    items: of(({ lng, lat }) => ({ lng, lat, _version: 1, _lastChangedAt: TIME })),
    mapping: { where: [{ path: '_deleted', ne: true }] },
  },
  'tombstones that are numbers': {
    items: of(({ lng, lat }, index) => ({ lng, lat, isDeleted: Number(index === 1) })),
    isShown: (index) => index !== 1,
    note: /^1 of 6 items are left out, as isDeleted must be \{"ne":1\}\.$/,
  },
  'what is active': {
    items: of(({ lng, lat }, index) => ({ lng, lat, active: index !== 1 })),
    isShown: (index) => index !== 1,
    note: /left out, as active must be/,
  },
  'a status of what is gone': {
    items: of(({ lng, lat }, index) => ({ lng, lat, status: index === 1 ? 'DELETED' : index === 2 ? 'NEW' : 'OPEN' })),
    isShown: (index) => index !== 1,
    note: /left out, as status must be/,
  },
};

/** With the attributes of all maps in another order. */
function turned(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(turned);
  if (Object.prototype.toString.call(value) !== '[object Object]') return value;
  const entries = Object.entries(value as Item).map(([name, part]) => [name, turned(part)] as const);
  return Object.fromEntries(entries.toReversed());
}

test.each(Object.entries(DESIGNS))('%s: the proposed mapping shows exactly the markers', (_, design) => {
  const { items, key = ID, cities = WORLD, keyOf = (index) => `p${index}`, isShown = () => true, others = 0 } = design;
  const table = { name: 'table', key: key.map(([name, type]) => ({ name, type })) };
  const wanted = cities.flatMap(({ lng, lat }, index) => {
    const near = (degrees: number) => expect.closeTo(degrees, 5) as number;
    return isShown(index) ? [{ key: keyOf(index), position: { lng: near(lng), lat: near(lat) } }] : [];
  });
  for (const some of [items, items.map(turned) as Item[]]) {
    const [first] = propose(table, some);
    const found = shown(readMapping(first?.mapping), some).map(({ key: own, position }) => ({ key: own, position }));
    expect(found).toEqual(expect.arrayContaining(wanted));
    expect(found).toHaveLength(wanted.length + others);
    if (design.mapping) expect(first?.mapping).toMatchObject(design.mapping);
    expect(first?.notes).toEqual(design.note === undefined ? [] : [expect.stringMatching(design.note)]);
  }
});

test('what is named like a position but not read is told, with an example', () => {
  const items = of(({ lng, lat, name }) => ({
    name,
    location: { gps: new Set([lng, lat]) },
    geo: `geo:${lat},${lng}`,
  }));
  expect(propose({ name: 'table', key: [{ name: 'id', type: 'S' }] }, items)).toEqual([]);
  expect(likePositions(items)).toEqual(['location.gps ([16.9252,52.4064])', 'geo ("geo:52.4064,16.9252")']);
});
