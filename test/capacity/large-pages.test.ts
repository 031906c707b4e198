import { expect, test } from 'vitest';

import { adviceFor } from '../../src/capacity/advice.js';
import { PRICE_LIST } from '../../src/capacity/prices.js';
import { distributionOf } from './points.js';

test('a page of more than 1 KB takes more than one write unit', () => {
  const distribution = distributionOf(
    Array.from({ length: 500 }, (_, index) => ({ lng: 16 + (index % 25) / 25, lat: 52 + index / 1_000 })),
  );
  const wcu = (bytes: number) =>
    adviceFor({
      distribution,
      sizes: {
        readable: { item: 8_000, entry: 8_000 },
        compact: { item: 8_000, entry: 8_000 },
        page: { markers: 1, bytes },
      },
      load: { viewsADay: 0, writes: 10, peak: 2 },
      prices: PRICE_LIST.prices,
    }).demand.wcu;
  // Markers with map properties of 8,000 bytes that do not compress: a page has one of them, and takes 8 units.
  expect(wcu(8_000)).toBeGreaterThan(wcu(900) + 10 * 6);
});
