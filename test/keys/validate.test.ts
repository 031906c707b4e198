import fc from 'fast-check';
import { expect, test } from 'vitest';

import { markerId } from '../../src/keys/ids.js';
import { createKeyspace } from '../../src/keys/keyspace.js';
import { readCode, readCollectionKey, readMarkerKey } from '../../src/keys/validate.js';
import { nasty } from './nasty.js';

const badInput = (field: string) =>
  expect.objectContaining({ code: 'BAD_USER_INPUT', details: expect.objectContaining({ field }) });

test.each([
  '',
  'Parks',
  '-parks',
  '_parks',
  'a::b',
  'a#b',
  'pärks',
  'a b',
  'a\n',
  'x'.repeat(64),
  'x'.repeat(3072),
  7,
  null,
  undefined,
  {},
])('the collection key %j is rejected', (value) => {
  expect(() => readCollectionKey('input.key', value)).toThrow(badInput('input.key'));
});

test.each(['a', '0', 'bc-parks_1', 'x'.repeat(63)])('the collection key %j is accepted', (value) => {
  expect(readCollectionKey('key', value)).toBe(value);
});

test.each(['', '\uDC00', 'x'.repeat(3072), 'é'.repeat(507), '#'.repeat(338), 7, null, undefined, []])(
  'the marker key %j is rejected',
  (value) => {
    expect(() => readMarkerKey('markers[3].key', value)).toThrow(badInput('markers[3].key'));
  },
);

test('an accepted marker key fits into every key that contains it, at every prefix length and in both styles', () => {
  const longest = fc.constantFrom(
    'x'.repeat(1012),
    'é'.repeat(506),
    '#'.repeat(337),
    '::'.repeat(168),
    ' ',
    '😀'.repeat(253),
  );
  fc.assert(
    fc.property(fc.oneof(longest, nasty), fc.integer({ min: 0, max: 6 }), (value, prefixLength) => {
      const key = readMarkerKey('key', value);
      expect(key).toBe(value);
      for (const style of ['readable', 'compact'] as const) {
        const keys = createKeyspace(style);
        const scope = keys.scope({ key: 'x'.repeat(63), code: 'Sh' });
        const entry = { scope, key, geohash: '0123456789', prefixLength, writeShards: 1000, geoSlot: 'A' as const };
        expect(keys.parseMarker(keys.marker(scope, key))).toEqual({ scope, key });
        expect(keys.parseGeoSort(keys.geoEntry(entry)['gskA'] ?? '')?.key).toBe(key);
        expect(markerId('x'.repeat(63), key)).toContain('marker::');
      }
    }),
  );
});

test.each(['', 'S', 'Shh', '--', 'S:', 'é1', 'S\n', 7, null])('the code %j is rejected', (value) => {
  expect(() => readCode('input.code', value)).toThrow(badInput('input.code'));
});

test('a code is two letters or digits, case-sensitive', () => {
  expect(readCode('code', 'Sh')).toBe('Sh');
  expect(readCode('code', '07')).toBe('07');
});
