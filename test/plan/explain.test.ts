import fc from 'fast-check';
import { expect, test } from 'vitest';

import { areaOverlapsCell } from '../../src/geo/bounds.js';
import { cellBounds, encode, fromZ, toZ } from '../../src/geo/geohash.js';
import { rangeBounds } from '../../src/plan/explain.js';
import { aPoint } from '../geo/arbitraries.js';

test('the bounds of a range contain exactly its cells', () => {
  fc.assert(
    fc.property(aPoint, aPoint, (a, b) => {
      const [from, last] = [toZ(encode(a, 10)), toZ(encode(b, 10))].sort((x, y) => x - y) as [number, number];
      const bounds = rangeBounds({ from, to: last + 1 });
      const area = { bounds, parts: [bounds] };
      for (const z of [from, last, Math.floor((from + last) / 2)]) {
        const cell = cellBounds(fromZ(z, 10));
        expect(areaOverlapsCell(area, cell)).toBe(true);
      }
    }),
  );
  expect(rangeBounds({ from: 0, to: 2 ** 50 })).toEqual({ west: -180, south: -90, east: 180, north: 90 });
  expect(rangeBounds({ from: toZ('u400000000'), to: toZ('u400000000') + 32 ** 8 })).toEqual(cellBounds('u4'));
});
