import fc from 'fast-check';
import { expect, test } from 'vitest';

import { readHash, writeHash } from '../../web/map/address/url-hash.js';
import { NO_RULES } from '../../web/map/rules/rules.js';

const key = fc.stringMatching(/^[a-z0-9][a-z0-9_-]{0,8}$/);
const state = fc.record({
  at: fc.record({
    zoom: fc.double({ min: -2, max: 22, noNaN: true }),
    lat: fc.double({ min: -85, max: 85, noNaN: true }),
    lng: fc.double({ min: -180, max: 180, noNaN: true }),
  }),
  on: fc.uniqueArray(key),
  heat: fc.uniqueArray(key, { minLength: 1 }),
  place: fc.string({ minLength: 1, unit: 'binary' }).map((text) => `marker::cities::${text}`),
});

const number = fc.double({ noNaN: true, noDefaultInfinity: true }).map((each) => each + 0);
const interval = fc.tuple(number, number).map(([a, b]) => ({ from: Math.min(a, b), to: Math.max(a, b) }));
const text = fc.oneof(fc.string({ unit: 'binary' }), fc.constantFrom('a/b', ',', '%2C', '1..2', '', '&=#', '%'));
const range = fc.record({ field: text, interval }).map(({ field, interval: ends }) => ({ field, ...ends }));
const choice = fc.record({ field: fc.option(text), values: fc.array(text, { minLength: 1 }) });
const rules = fc.record({
  conditions: fc.array(fc.oneof(range, choice), { maxLength: 3 }),
  color: fc.option(fc.oneof(range, choice), { nil: undefined }),
  size: fc.option(range, { nil: undefined }),
});

test('an address restores filters, colors and sizes by properties of any name and values', () => {
  fc.assert(
    fc.property(fc.dictionary(key, rules, { minKeys: 1, maxKeys: 3 }), (byKey) => {
      const given = new Map(Object.entries(byKey).filter(([, each]) => JSON.stringify(each) !== '{"conditions":[]}'));
      expect(readHash(writeHash({ rules: given })).rules ?? new Map()).toEqual(given);
    }),
  );
  const open = { ...NO_RULES, conditions: [{ field: 'population', from: 1_000, to: Infinity }] };
  expect(writeHash({ rules: new Map([['cities', open]]) })).toBe('#range=cities/population/1000..');
  expect(readHash('#range=cities/population/1000..').rules?.get('cities')).toEqual(open);
});

test('invalid rules in an address are ignored', () => {
  const invalid = ['range=', 'range=a/b', 'range=a/b/x..1', 'range=a/b/2..1', 'range=a/b/1..2..3', 'shade=a/b/1..', 'only=a', 'only=a/b/c/d', 'only=/b/c']; // prettier-ignore
  for (const part of invalid) expect([part, readHash(`#${part}`)]).toEqual([part, {}]);
});

test('an address restores the view it was written from, to within a pixel', () => {
  fc.assert(
    fc.property(state, ({ at, on, heat, place }) => {
      const back = readHash(writeHash({ at, on, heat, place }));
      expect([back.on, back.heat, back.place]).toEqual([on, heat, place]);
      const pxPerDegree = (512 * 2 ** at.zoom) / 360;
      expect(Math.abs((back.at?.lat ?? 99) - at.lat) * pxPerDegree).toBeLessThan(1);
      // 179.5 may be written as 180, which is read as -180.
      const degrees = Math.abs((back.at?.lng ?? Number.NaN) - at.lng);
      expect(Math.min(degrees, 360 - degrees) * pxPerDegree).toBeLessThan(1);
    }),
  );
});

test('an invalid address is never an error, and a view outside the map is moved inside', () => {
  fc.assert(fc.property(fc.string({ unit: 'binary' }), (text) => void readHash(`#${text}`)));
  for (const at of ['', '1/2', '1/2/3/4', 'a/b/c', '3//0', 'Infinity/0/0']) expect(readHash(`#at=${at}`)).toEqual({});
  for (const pin of ['', '1', 'a/b', '86/0', '0/181']) expect(readHash(`#pin=${pin}`)).toEqual({});
  // A link that an import of polar stations prints.
  expect(readHash('#at=8/85.0511/10.5').at).toEqual({ zoom: 8, lat: 85, lng: 10.5 });
  expect(readHash('#at=99/-95/400').at).toEqual({ zoom: 22, lat: -85, lng: 40 });
  expect(readHash('#at=-3/0/-181').at).toEqual({ zoom: -2, lat: 0, lng: 179 });
  expect(readHash('#at=3/50/10&on=a,,b')).toEqual({ at: { zoom: 3, lat: 50, lng: 10 }, on: ['a', 'b'] });
});
