import fc from 'fast-check';
import { expect, it } from 'vitest';

import { KeyLines } from '../../src/ingest/read/key-lines.js';

it('returns the first line of each key, as a Map would', () => {
  fc.assert(
    fc.property(fc.array(fc.oneof(fc.nat(3000).map(String), fc.string())), fc.nat(5000), (keys, more) => {
      const seen = new KeyLines();
      const known = new Map<string, number>();
      const all = [...keys, ...Array.from({ length: more }, (_, at) => `k${at % 3100}`)];
      const wanted = all.map((key, at) => {
        const before = known.get(key);
        if (before === undefined) known.set(key, at + 1);
        return before;
      });
      expect(all.map((key, at) => seen.add(key, at + 1))).toEqual(wanted);
    }),
    { numRuns: 50 },
  );
});
