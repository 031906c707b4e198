import fc from 'fast-check';
import { expect, test } from 'vitest';

import { readHash, writeHash } from '../../web/map/url-hash.js';

const key = fc.stringMatching(/^[a-z0-9][a-z0-9_-]{0,8}$/);
const state = fc.record({
  at: fc.record({
    zoom: fc.double({ min: 0, max: 22, noNaN: true }),
    lat: fc.double({ min: -85, max: 85, noNaN: true }),
    lng: fc.double({ min: -180, max: 179.9, noNaN: true }),
  }),
  on: fc.uniqueArray(key),
  heat: fc.uniqueArray(key, { minLength: 1 }),
  place: fc.string({ minLength: 1, unit: 'binary' }).map((text) => `marker::cities::${text}`),
});

test('an address restores the view it was written from, to within a pixel', () => {
  fc.assert(
    fc.property(state, ({ at, on, heat, place }) => {
      const back = readHash(writeHash({ at, on, heat, place }));
      expect([back.on, back.heat, back.place]).toEqual([on, heat, place]);
      const pxPerDegree = (512 * 2 ** at.zoom) / 360;
      expect(Math.abs((back.at?.lat ?? 99) - at.lat) * pxPerDegree).toBeLessThan(1);
      expect(Math.abs((back.at?.lng ?? 99) - at.lng) * pxPerDegree).toBeLessThan(1);
    }),
  );
});

test('an invalid address is never an error, and a place outside the map is ignored', () => {
  fc.assert(fc.property(fc.string({ unit: 'binary' }), (text) => void readHash(`#${text}`)));
  for (const at of ['', '1/2', '1/2/3/4', 'a/b/c', '23/0/0', '-1/0/0', '3/86/0', '3/0/181', '3//0', 'Infinity/0/0']) {
    expect(readHash(`#at=${at}`)).toEqual({});
  }
  expect(readHash('#at=3/50/10&on=a,,b')).toEqual({ at: { zoom: 3, lat: 50, lng: 10 }, on: ['a', 'b'] });
});
