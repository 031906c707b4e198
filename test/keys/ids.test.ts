import fc from 'fast-check';
import { expect, test } from 'vitest';

import { collectionId, markerId, parseId, zoneId } from '../../src/keys/ids.js';
import { nasty } from './nasty.js';

test('IDs of markers, zones and collections survive a round trip, for any names', () => {
  fc.assert(
    fc.property(nasty, nasty, (collection, key) => {
      expect(parseId(markerId(collection, key))).toEqual({ type: 'marker', collection, key });
      expect(parseId(zoneId(collection, key))).toEqual({ type: 'zone', collection, key });
      expect(parseId(collectionId(key))).toEqual({ type: 'collection', key });
    }),
  );
  expect(markerId('parks', 'Golden Ears')).toBe('marker::parks::Golden Ears');
  expect(zoneId('countries', '616')).toBe('zone::countries::616');
  expect(collectionId('parks')).toBe('collection::parks');
});

test.each([
  '',
  'parks',
  'marker',
  'marker::',
  'marker::parks',
  'marker::parks::',
  'marker::parks::a::b',
  'Marker::parks::a',
  'collection::',
  'collection::a::b',
  'zone::parks',
  'zone::parks::',
  'zone::parks::a::b',
  'cover::parks::a',
  'marker::parks::%61',
  'marker::parks::a%23b',
  ' marker::parks::a',
  `collection::${'x'.repeat(3000)}`,
])('%j is not an ID', (id) => {
  expect(parseId(id)).toBeUndefined();
});
