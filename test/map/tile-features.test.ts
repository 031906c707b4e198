import fc from 'fast-check';
import { expect, test } from 'vitest';

import { encodeTile } from '../../src/map/tiles/encode.js';
import { markerFeatures } from '../../src/map/tiles/features.js';
import { decodeLayer } from '../support/decode-tile.js';

const marker = { collection: 'parks', key: 'a', name: null, category: null, position: { lng: 0, lat: 0 } };
const whole = { geohash: '7zzzzzzzzz', mapVersion: 1, mapProperties: {}, complete: true };

const featuresOf = (properties: Readonly<Record<string, unknown>>, key = 'a') =>
  markerFeatures({ z: 0, x: 0, y: 0 }, { ...marker, ...whole, key }, properties);

const decoded = (properties: Readonly<Record<string, unknown>>) =>
  decodeLayer(encodeTile({ markers: featuresOf(properties) }, 4_096), 'markers')[0]?.properties ?? {};

test('a marker with any properties makes a tile that can be read, with the values that tiles can have', () => {
  const name = fc.oneof(
    fc.string({ unit: 'binary' }),
    fc.constantFrom('constructor', '__proto__', 'toString', 'n', 'id'),
  );
  const value = fc.oneof(
    fc.jsonValue({ stringUnit: 'binary' }),
    fc.bigInt(),
    fc.maxSafeInteger(),
    fc.double({ noNaN: true }),
  );
  // Those of the marker itself win.
  const OWN = ['__proto__', 'id', 'key', 'name', 'category'];
  fc.assert(
    fc.property(fc.dictionary(name, value), (properties) => {
      const { id, key, ...found } = decoded(properties);
      expect([id, key]).toEqual(['marker::parks::a', 'a']);
      for (const [each, is] of Object.entries(properties)) {
        if (OWN.includes(each) || is === null) continue;
        const isPlain = typeof is === 'string' || typeof is === 'boolean';
        if (isPlain || typeof is === 'number') {
          // Tiles have no negative zero.
          expect(found[each]).toEqual(typeof is === 'number' ? is + 0 : is);
        } else if (typeof is === 'object')
          expect(JSON.parse(String(found[each]))).toEqual(JSON.parse(JSON.stringify(is)));
        else expect(found[each]).toBe(String(is));
      }
    }),
  );
});

test('equal properties make equal bytes, whatever their order', () => {
  expect(Object.keys(decoded({ b: 1, a: 2 }))).toEqual(Object.keys(decoded({ a: 2, b: 1 })));
});

test('each feature has its own properties, and none of another one, or that all objects have', () => {
  const all: readonly Readonly<Record<string, unknown>>[] = [
    { n: 1, toString: 'own' },
    {},
    { constructor: 1, n: 1, m: 'x' },
  ];
  const features = all.flatMap((properties, n) => featuresOf(properties, `k${n}`));
  const found = decodeLayer(encodeTile({ markers: features }, 4_096), 'markers').map(({ properties }) => {
    const { id: _id, key: _key, ...others } = properties;
    return others;
  });
  expect(found).toEqual(all);
});

test('the number of a feature is its key, if that is a whole number, and otherwise one of its own', () => {
  const numbers = (...keys: readonly string[]) => keys.map((key) => featuresOf({}, key)[0]?.id);
  expect(numbers('0', '2821517', '999999999999999')).toEqual([0, 2_821_517, 999_999_999_999_999]);
  const others = numbers('007', '-1', '1.5', '1e3', '1000000000000000', '9007199254740993', '1 ', '1a', 'a');
  expect(new Set(others).size).toBe(9);
  expect(others.every((id) => Number.isSafeInteger(id) && Number(id) > 2 ** 32)).toBe(true);
});
