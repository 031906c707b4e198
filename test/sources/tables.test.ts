import { describe, expect, test } from 'vitest';

import { readMapping } from '../../src/sources/mapping.js';
import { primaryKeyOf } from '../../src/sources/primary-key.js';
import { markerOf } from './marker-of.js';
import { NOW, shown, TABLES } from './tables.js';

const LNG = 'must be a longitude in degrees';

/** The reasons why items that match are no markers. */
const REJECTED: Readonly<Record<string, readonly string[]>> = {
  '02': ['longitude must be a position other than 0, 0; got 0'],
  '03': [`Address.Longitude ${LNG}; got ""`, `Address.Longitude ${LNG}; got "-84.758875E"`],
  '04': [
    'location must be a GeoJSON Point, as a map or as text; got {}',
    'location must be a GeoJSON Point, as a map or as text; got null',
  ],
  '08': ['"u09aliv"', 'undefined', '"u"'].map(
    (value) => `geohash_cell must be a geohash of 5 to 12 characters; got ${value}`,
  ),
  '09': [`lon ${LNG}; got undefined`],
  '10': [`geo.long ${LNG}; got undefined`, `geo.long ${LNG}; got undefined`],
  '12': [`lon ${LNG}; got null`],
  '13': [
    `longitude ${LNG}; got null`,
    `longitude ${LNG} from -180 to 180, unless its mapping has "wrap": true; got -200.25`,
  ],
  '16': ['Longitude must be a position other than 0, 0; got 0', `Longitude ${LNG}; got undefined`],
  '18': [`shopLongitude ${LNG}; got undefined`, `shopLongitude ${LNG}; got null`, `shopLongitude ${LNG}; got null`],
  '20': ['"46,9480,7,4474"', '"unknown"', 'undefined'].map(
    (value) =>
      `coordinates must be a latitude and a longitude, as text such as "52.4, 16.9", a list, or a Point; got ${value}`,
  ),
  '23': [
    'meter.location must be a latitude and a longitude, as text such as "52.4, 16.9", a list, or a Point; got []',
    'meter.location must be a latitude in degrees from -90 to 90 (are longitude and latitude swapped?); got "-130.5355"',
    'meter.location must be a latitude and a longitude, as text such as "52.4, 16.9", a list, or a Point; got undefined',
  ],
};

describe.each(TABLES)('the mapping of table $id, $name', ({ id, key, items, markers, mapping: json }) => {
  const mapping = readMapping(json);

  test('shows exactly the markers that a map of it must have', () => {
    const found = shown(mapping, items).map((marker) => ({ key: marker.key, ...marker.position, name: marker.name }));
    const near = (degrees: number) => expect.closeTo(degrees, id === '08' ? 5 : 12) as number;
    const wanted = markers.map(({ lng, lat, ...rest }) => ({ ...rest, lng: near(lng), lat: near(lat) }));
    expect(found).toEqual(expect.arrayContaining(wanted));
    expect(found).toHaveLength(markers.length);
  });

  test('rejects the others, with a reason, or ignores them', () => {
    const read = items.map((item) => markerOf(mapping, item, NOW));
    expect(read.flatMap((each) => (each.kind === 'rejected' ? [each.message] : []))).toEqual(REJECTED[id]);
  });

  test('tells the primary key by the key of a marker, where that determines it', () => {
    const told = items.flatMap((item) => {
      const read = markerOf(mapping, item, NOW);
      if (read.kind !== 'marker') return [];
      const primaryKey = primaryKeyOf(mapping, key, read.key);
      if (primaryKey) expect(item).toMatchObject(primaryKey);
      return [primaryKey !== undefined];
    });
    expect(new Set(told)).toEqual(new Set([!['02', '03', '12', '20'].includes(id)]));
  });
});
