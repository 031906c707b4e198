import { describe, expect, test } from 'vitest';

import { proposeGeoLibrary } from '../../src/sources/propose/geo-library.js';
import { exactItemOf } from '../../src/store/request/wire.js';
import { LIBRARY, LIBRARY_KEY, libraryItems, ORDERS, POSITIONS, type Written } from './geo-library/library.js';

const table = { name: 'Points', key: LIBRARY_KEY };
const items = (written: Written) => libraryItems(written).map(exactItemOf);
const java = items({ length: 5, order: 'latitude first' });
const javaScript = items({ length: 5, order: 'longitude first' });

describe('the preset of the Geo Library', () => {
  test.each(LIBRARY.lengths.flatMap((length) => ORDERS.map((order) => ({ length, order }))))(
    'tells the mapping of a table with hash keys of $length digits, $order',
    (written) => {
      const { mapping, markers, notes } = proposeGeoLibrary(table, items(written));
      const as = written.order === 'latitude first' ? 'lat,lng' : 'geojson';
      expect(mapping).toEqual({
        table: 'Points',
        key: '{rangeKey}',
        position: { path: 'geoJson', as },
        name: 'name',
        category: 'category',
      });
      expect(markers).toBe(POSITIONS.length);
      expect(notes).toEqual([expect.stringContaining(`geoJson has the ${written.order}, as the Java`)]);
    },
  );

  test('finds attributes with other names', () => {
    const names: Readonly<Record<string, string>> = { hashKey: 'h', rangeKey: 'r.x', geohash: 'g', geoJson: 'where' };
    const renamed = java.map((item) =>
      Object.fromEntries(Object.entries(item).map(([name, value]) => [names[name] ?? name, value])),
    );
    const key = LIBRARY_KEY.map(({ name, type }) => ({ name: names[name] ?? name, type }));
    expect(proposeGeoLibrary({ name: 'Points', key }, renamed).mapping).toMatchObject({
      key: '{["r.x"]}',
      position: { path: 'where', as: 'lat,lng' },
    });
  });

  test('takes either order if all coordinates are equal', () => {
    const [, equal] = java.toReversed();
    expect(equal && proposeGeoLibrary(table, [equal]).mapping.position).toEqual({ path: 'geoJson', as: 'geojson' });
  });

  test('says which items are elsewhere than their cell, and which would be the same marker', () => {
    const [first = {}, second = {}] = java;
    const moved = { ...first, rangeKey: 'moved', geoJson: '{"type":"POINT","coordinates":[1,2]}' };
    const { notes } = proposeGeoLibrary(table, [first, second, moved, { ...second, rangeKey: '0' }]);
    expect(notes.slice(1)).toEqual([
      'geoJson has the position of the S2 cell in geohash in neither order of its coordinates, in 1 of 4 items, e.g. hashKey "51173", rangeKey "moved".',
      '1 items have the rangeKey of another; "key": "{hashKey}/{rangeKey}" tells them apart.',
    ]);
  });

  test.each([
    [
      'both orders',
      [...java.slice(0, 3), ...javaScript.slice(3, 5)],
      'geoJson has the latitude first, as the Java library writes it, in 3 of 5 items, e.g. hashKey "51173", rangeKey "0"; but the longitude first, as the JavaScript library writes it, in 2 of 5 items, e.g. hashKey "51173", rangeKey "3"',
    ],
    [
      'neither order',
      java.map((item) => ({ ...item, geoJson: '{"type":"POINT","coordinates":[1,2]}' })),
      'no attribute has the position of the S2 cell in geohash in either order of its coordinates, in 320 of 320 items, e.g. hashKey "51173", rangeKey "0"',
    ],
    [
      'hash keys of something else',
      java.slice(0, 50).map((item) => ({ ...item, hashKey: 99 })),
      'no S2 cell begins with the digits of hashKey, in 50 of 50 items, e.g. hashKey "99", rangeKey "0"',
    ],
  ])('refuses a table with %s', (_name, some, message) => {
    expect(() => proposeGeoLibrary(table, some)).toThrow(message);
  });

  test('refuses a table with other keys', () => {
    const key = [{ name: 'PK', type: 'S' } as const];
    expect(() => proposeGeoLibrary({ name: 'Points', key }, java)).toThrow('its partition key PK is not a number');
    expect(() => proposeGeoLibrary({ name: 'Points', key: LIBRARY_KEY.slice(0, 1) }, java)).toThrow(
      'it has no sort key',
    );
  });
});
