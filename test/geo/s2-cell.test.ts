import { expect, test } from 'vitest';

import { distance } from '../../src/geo/distance.js';
import { leafCellCenter } from '../../src/geo/s2-cell.js';
import { LIBRARY, POSITIONS } from '../sources/geo-library/library.js';

test.each([
  [1152921504606846977n, { lng: 0, lat: 0 }],
  [3458948544400286165n, { lng: 90, lat: 1 }],
  [4998470995550047311n, { lng: 10, lat: 85 }],
  [8078617949461837131n, { lng: -179.5, lat: -3 }],
  [-8826857112717923375n, { lng: -90.25, lat: 12 }],
  [-5777087538473603355n, { lng: 100, lat: -80 }],
])('the center of leaf cell %i, on each face, is %j', (id, at) => {
  const center = leafCellCenter(id);
  expect(center && distance(center, at)).toBeLessThan(0.02);
});

test('the center of a leaf cell is a centimeter from the positions for which another library computed it', () => {
  for (const [index, { geohash }] of LIBRARY.points.entries()) {
    const [id, at] = [BigInt(geohash), POSITIONS[index]];
    const center = leafCellCenter(id);
    expect(center && at && distance(center, at)).toBeLessThan(0.02);
    expect(leafCellCenter(BigInt.asUintN(64, id))).toEqual(center);
    expect(leafCellCenter(id + 1n)).toBeUndefined();
  }
  expect(leafCellCenter(2n ** 64n + 1n)).toBeUndefined();
  expect(leafCellCenter(BigInt.asIntN(64, (7n << 61n) + 1n))).toBeUndefined();
});
