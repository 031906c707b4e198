import fc from 'fast-check';
import { expect, test } from 'vitest';

import { encodeTile } from '../../src/map/tiles/encode.js';
import { markerFeatures } from '../../src/map/tiles/features.js';
import { decodeLayer } from '../support/decode-tile.js';

const marker = { collection: 'parks', key: 'a', name: null, category: null, position: { lng: 0, lat: 0 } };
const whole = { geohash: '7zzzzzzzzz', mapVersion: 1, mapProperties: {}, complete: true };

const decoded = (properties: Readonly<Record<string, unknown>>) => {
  const features = markerFeatures({ z: 0, x: 0, y: 0 }, { ...marker, ...whole }, properties);
  return decodeLayer(encodeTile({ markers: features }, 4_096), 'markers')[0]?.properties ?? {};
};

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
