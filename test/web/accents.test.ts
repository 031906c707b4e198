import { expect, test } from 'vitest';

import { accentsOf } from '../../web/map/layers/accents.js';

const collection = (key: string, day: number) => ({ key, createdAt: `2026-11-${10 + day}T00:00:00.000Z` });
const KEYS = ['cities', 'countries', 'parks', 'shops', 'sensors', 'trees', 'bins', 'benches', 'aaa'];

test('a collection keeps its color when others are created, wherever they are in the list', () => {
  const all = KEYS.map(collection);
  for (let count = 1; count < all.length; count += 1) {
    const [before, after] = [accentsOf(all.slice(0, count)), accentsOf(all.slice(0, count + 1).toReversed())];
    for (const [key, accent] of before) expect([key, after.get(key)]).toEqual([key, accent]);
  }
  expect(accentsOf(all.slice(4), accentsOf(all))).toEqual(accentsOf(all));
});

test('six collections have six colors', () => {
  expect(new Set(accentsOf(KEYS.slice(0, 6).map(collection)).values()).size).toBe(6);
});
