import fc from 'fast-check';
import { expect, test } from 'vitest';

import { distance } from '../../src/geo/distance.js';
import { groupBy } from '../../src/loaders/group.js';
import { PartitionPages } from '../../src/pages/directory.js';
import { pageEntry } from '../../src/pages/entry.js';
import { PagesOutward } from '../../src/pages/outward.js';
import { packPages } from '../../src/pages/pack.js';

const MARKER = { collection: '', name: null, category: null, mapVersion: 1, mapProperties: {}, complete: true };
const anywhere = fc.record({
  lng: fc.double({ min: -180, max: 180, noNaN: true }),
  lat: fc.double({ min: -90, max: 90, noNaN: true }),
});
/** Anywhere, in one town, or at one position. */
const positions = fc
  .array(
    fc
      .oneof(anywhere, fc.constant({ lng: 180, lat: 0 }), fc.constant({ lng: 16.9, lat: 52.4 }))
      .chain((position) =>
        fc
          .double({ min: 0, max: 0.01, noNaN: true })
          .map((aside) => ({ ...position, lat: position.lat * (1 - aside) })),
      ),
    { minLength: 1, maxLength: 60 },
  )
  .map((some) => some.map((position, index) => pageEntry({ ...MARKER, key: String(index), position })));

test('pages are ordered by minimum distance, each once, and none that may have a marker beyond `from` is omitted', () => {
  fc.assert(
    fc.property(positions, anywhere, fc.constantFrom(0, 1_000, 5_000_000), (entries, center, from) => {
      const outward = new PagesOutward(center, from);
      entries.sort((a, b) => (a.position < b.position ? -1 : 1));
      const encode = (some: readonly unknown[]) => new Uint8Array(some.length);
      const left = new Map<string, number[]>();
      for (const [partition, members] of groupBy(entries, ({ position }) => position.charAt(0))) {
        const pages = [...packPages(partition, members, { encode, mostBytes: 3 })];
        const hints = pages.map(({ begin, entries: some }) => ({ begin, markers: some.length, bytes: some.length }));
        outward.add(partition, new PartitionPages(hints));
        pages.forEach((page, index) => {
          left.set(
            `${partition} ${index}`,
            page.entries.map(({ marker }) => distance(center, marker.position)),
          );
        });
      }
      let least = 0;
      for (let next = outward.peek(); next; next = outward.peek()) {
        expect(next.distance).toBeGreaterThanOrEqual(least);
        least = next.distance;
        const page = `${next.partition} ${next.first}`;
        for (const far of left.get(page) ?? []) if (far > from + 1) expect(far).toBeGreaterThan(least - 1);
        expect(left.delete(page)).toBe(true);
        outward.take(next);
      }
      for (const far of [...left.values()].flat()) expect(far).toBeLessThan(from + 1);
    }),
    { numRuns: 200 },
  );
});
