import fc from 'fast-check';
import { expect, test } from 'vitest';

import { GEOHASH_ALPHABET } from '../../src/geo/geohash.js';
import { PackedSums } from '../../src/geo/packed-cluster.js';

const sums = fc.record({
  count: fc.integer({ min: 0, max: 2 ** 40 }),
  sumLng: fc.integer({ min: -(2 ** 52), max: 2 ** 52 }),
  sumLat: fc.integer({ min: -(2 ** 52), max: 2 ** 52 }),
});
const children = fc.uniqueArray(fc.constantFrom(...GEOHASH_ALPHABET.split('')), { maxLength: 32 });

test('packed sums are those of the map that they were made of', () => {
  fc.assert(
    fc.property(children, fc.infiniteStream(sums), (names, stream) => {
      const map = new Map(names.map((name) => [name, stream.next().value] as const));
      const packed = new PackedSums(map);
      expect(packed.size).toBe(map.size);
      expect([...packed]).toEqual([...map]);
      expect([...packed.keys()]).toEqual([...map.keys()]);
      expect([...packed.values()]).toEqual([...map.values()]);
      const visited: unknown[] = [];
      packed.forEach((each, child) => visited.push([child, each]));
      expect(visited).toEqual([...map]);
      for (const child of ['', '0', 'z', '0z', 'a']) {
        expect(packed.get(child)).toEqual(map.get(child));
        expect(packed.has(child)).toBe(map.has(child));
      }
    }),
  );
});
