import fc from 'fast-check';
import { expect, test } from 'vitest';

import { distance } from '../../src/geo/distance.js';
import { encode, fromZ, LONGEST_Z } from '../../src/geo/geohash.js';
import { groupBy } from '../../src/loaders/group.js';
import { afterPartition, pagesOfParts, partsOfHints, type DirectoryPart } from '../../src/pages/directory.js';
import { orderedMarker } from '../../src/pages/ordered-marker.js';
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
  .map((some) =>
    some.map((position, index) =>
      orderedMarker({ ...MARKER, key: String(index), position, geohash: encode(position, LONGEST_Z) }),
    ),
  );

test('pages are ordered by minimum distance, each once, as the directory becomes known, and none that may have a marker beyond `from` is omitted', () => {
  fc.assert(
    fc.property(
      positions,
      // From a pole, all cells of a parallel are equally near.
      fc.oneof({ weight: 4, arbitrary: anywhere }, fc.constantFrom({ lng: 0, lat: 90 }, { lng: 180, lat: -90 })),
      fc.constantFrom(0, 1_000, 5_000_000),
      fc.constantFrom(1, 2, 3, 99),
      (entries, center, from, size) => {
        const outward = new PagesOutward(center, from);
        entries.sort((a, b) => (a.position < b.position ? -1 : 1));
        const encode = (some: readonly unknown[]) => new Uint8Array(some.length);
        const left = new Map<string, number[]>();
        const parts = new Map<string, DirectoryPart[]>();
        const known = new Map<string, DirectoryPart[]>();
        const learn = (partition: string, part: DirectoryPart | undefined) => {
          const some = new Set([...(known.get(partition) ?? []), ...(part ? [part] : [])]);
          known.set(partition, parts.get(partition)?.filter((each) => some.has(each)) ?? []);
          outward.add(partition, pagesOfParts(partition, known.get(partition) ?? []));
        };
        for (const [partition, members] of groupBy(entries, ({ position }) => position.charAt(0))) {
          const pages = [...packPages(partition, members, { encode, mostBytes: 3 })];
          const hints = pages.map(({ begin, entries: some }) => ({ begin, markers: some.length, bytes: some.length }));
          parts.set(partition, partsOfHints(hints, afterPartition(partition), size));
          // Without any part, all of the partition is a gap.
          learn(partition, size > 2 ? parts.get(partition)?.[0] : undefined);
          for (const page of pages) {
            left.set(
              page.begin,
              page.entries.map(({ marker }) => distance(center, marker.position)),
            );
          }
        }
        let least = 0;
        for (let next = outward.peek(); next; next = outward.peek()) {
          expect(next.distance).toBeGreaterThanOrEqual(least - 1);
          least = next.distance;
          if (next.gap) {
            const [z, end] = [fromZ(next.gap.from, LONGEST_Z), fromZ(next.gap.to, LONGEST_Z)];
            const missing =
              parts.get(next.partition)?.filter((part) => !known.get(next.partition)?.includes(part)) ?? [];
            const part = missing.find((each) => z < each.end && end > each.begin);
            expect(part).toBeDefined();
            learn(next.partition, part);
            continue;
          }
          for (const far of left.get(next.page.begin) ?? []) if (far > from + 1) expect(far).toBeGreaterThan(least - 1);
          expect(left.delete(next.page.begin)).toBe(true);
          outward.take(next);
        }
        for (const far of [...left.values()].flat()) expect(far).toBeLessThan(from + 1);
      },
    ),
    { numRuns: 200 },
  );
});
