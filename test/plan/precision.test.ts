import { expect, test } from 'vitest';

import { lngBits } from '../../src/geo/geohash.js';
import { precisionForZoom } from '../../src/plan/precision.js';

test('cells are 24 to 192 px wide where lengths 1 to 12 allow it, and never get coarser when zooming in', () => {
  let last = 1;
  for (let zoom = -2; zoom <= 30; zoom += 0.01) {
    const precision = precisionForZoom(zoom);
    const px = (512 * 2 ** zoom) / 2 ** lngBits(precision);
    if (px < 24) expect(precision).toBe(1);
    if (px >= 192) expect(precision).toBe(12);
    expect(precision).toBeGreaterThanOrEqual(last);
    last = precision;
  }
  expect([precisionForZoom(-2), precisionForZoom(2), precisionForZoom(30)]).toEqual([1, 2, 12]);
});
