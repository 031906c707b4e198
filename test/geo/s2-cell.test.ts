import fc from 'fast-check';
import { expect, test } from 'vitest';

import { distance } from '../../src/geo/distance.js';
import { leafCellCenter } from '../../src/geo/s2-cell.js';
import { centerOf, idAt } from '../../src/geolibrary/s2.js';
import { aPoint } from './arbitraries.js';

test('the center of a leaf cell is where another library has it, a centimeter from the position', () => {
  fc.assert(
    fc.property(aPoint, (at) => {
      const id = idAt(at);
      const center = leafCellCenter(id);
      expect(center && distance(center, centerOf(id))).toBeLessThan(1e-6);
      expect(center && distance(center, at)).toBeLessThan(0.02);
      expect(leafCellCenter(BigInt.asUintN(64, id))).toEqual(center);
      expect(leafCellCenter(id + 1n)).toBeUndefined();
    }),
  );
  expect(leafCellCenter(2n ** 64n + 1n)).toBeUndefined();
  expect(leafCellCenter(BigInt.asIntN(64, (7n << 61n) + 1n))).toBeUndefined();
});
