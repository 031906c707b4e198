import { expect, test } from 'vitest';

import { readPoint } from '../../src/geo/bounds.js';

test.each([
  [180, 180],
  [-180, -180],
  [190, -170],
  [-190, 170],
  [540, 180],
  [-540, -180],
  [720, 0],
  [-0, 0],
  [1e308, -64],
])('longitude %d is read as %d', (given, expected) => {
  expect(readPoint('p', given, 1)).toEqual({ lng: expected, lat: 1 });
});

test.each([NaN, Infinity, null, undefined, '12', [12]])('%j is no longitude', (given) => {
  expect(() => readPoint('p', given, 1)).toThrow(/^p\.lng must be a finite number of degrees/);
});
