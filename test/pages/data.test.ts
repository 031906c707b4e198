import { expect, test } from 'vitest';

import { orderedMarker } from '../../src/pages/ordered-marker.js';
import { decodePage, encodePage } from '../../src/store/page/page-data.js';
import { markerAt, SCOPE } from './support.js';

const entryWith = (mapProperties: Record<string, unknown>) =>
  orderedMarker({ ...markerAt('a', 10.5, 50.25, 3), mapProperties });

test('pages store any JSON with any names, and round integers that JavaScript cannot represent', () => {
  const odd = JSON.parse('{"__proto__": {"constructor": 1}, "": [null, true, "ł"], "n": -0.1}') as Record<
    string,
    unknown
  >;
  const entries = [entryWith(odd), entryWith({}), entryWith({ n: 1, m: 'x' }), entryWith({ m: 'y', n: 2 })];
  const back = decodePage(encodePage(entries), SCOPE);
  expect(back).toEqual(entries);
  expect(Object.keys(back?.[0]?.marker.mapProperties ?? {})).toEqual(Object.keys(odd));
  const large = decodePage(encodePage([entryWith({ id: 2n ** 60n })]), SCOPE);
  expect(large?.[0]?.marker.mapProperties).toEqual({ id: 2 ** 60 });
  expect(decodePage(Uint8Array.of(200, 1, 2), SCOPE)).toBeUndefined();
});
