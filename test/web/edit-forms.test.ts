import fc from 'fast-check';
import { expect, test } from 'vitest';

import { changesBetween, differences, merge } from '../../web/map/edit/merge.js';
import { textFor, valueFrom } from '../../web/map/edit/property-text.js';
import { readsKeysOf } from '../support/json-keys.js';

test('the text of any JSON value stands for the same value', () => {
  const value = fc.oneof(fc.jsonValue(), fc.constantFrom('12', 'true', '"quoted"', ' 5 ', '0123', '12345678901234567890', 1e21, '1e999')); // prettier-ignore
  fc.assert(
    fc.property(value.filter(readsKeysOf), (each) => {
      // JSON has no negative zero.
      expect(valueFrom(textFor(each))).toEqual(JSON.parse(JSON.stringify(each)));
    }),
  );
  expect(['12', 'yes', '[1', '0123', '12345678901234567890'].map(valueFrom)).toEqual([12, 'yes', '[1', '0123', '12345678901234567890']); // prettier-ignore
});

const fields = fc.record({
  name: fc.option(fc.constantFrom('a', 'b')),
  category: fc.option(fc.constantFrom('a', 'b')),
  properties: fc.dictionary(
    fc.constantFrom('x', 'y', '__proto__', 'constructor'),
    fc.constantFrom(1, 2, null, { deep: [1] }),
  ),
});

test('changes are merged with those of someone else; if both changed a field, mine wins', () => {
  fc.assert(
    fc.property(fields, fields, (mine, theirs) => {
      expect(merge(theirs, mine, theirs)).toEqual(mine);
      expect(merge(mine, mine, theirs)).toEqual(theirs);
    }),
  );
  const base = { name: 'A', category: null, properties: { x: 1, y: 1, z: 1 } };
  const mine = { name: 'A', category: 'town', properties: { x: 2, z: 1 } };
  const theirs = { name: 'B', category: null, properties: { x: 3, y: 1, z: 4, w: 5 } };
  const merged = { name: 'B', category: 'town', properties: { x: 2, z: 4, w: 5 } };
  expect(merge(base, mine, theirs)).toEqual(merged);
  expect(changesBetween(theirs, merged)).toEqual({ category: 'town', properties: merged.properties });
  expect(changesBetween(base, { ...base })).toEqual({});
  expect(differences(base, theirs)).toEqual(['name: A → B', 'x: 1 → 3', 'z: 1 → 4', 'w: none → 5']);
});
