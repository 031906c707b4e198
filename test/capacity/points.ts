import fc from 'fast-check';

import { Distribution } from '../../src/capacity/distribution.js';
import type { Point } from '../../src/geo/bounds.js';
import { encode, LONGEST_Z, toZ } from '../../src/geo/geohash.js';

const degrees = (span: number) => fc.double({ min: -span, max: span, noNaN: true });

/** Points around a few places, and anywhere else. */
export const points: fc.Arbitrary<Point[]> = fc
  .array(
    fc.record({ lng: degrees(179), lat: degrees(85), count: fc.integer({ min: 1, max: 60 }), apart: degrees(0.5) }),
    {
      minLength: 1,
      maxLength: 12,
    },
  )
  .map((places) =>
    places.flatMap(({ lng, lat, count, apart }) =>
      Array.from({ length: count }, (_, index) => ({
        lng: lng + (apart * ((index * 7) % 60)) / 60,
        lat: lat + (apart * index) / 60,
      })),
    ),
  );

/** The exact distribution of these points. */
export function distributionOf(some: readonly Point[]): Distribution {
  const counts = new Map<number, number>();
  for (const point of some) {
    const z = toZ(encode(point, LONGEST_Z));
    counts.set(z, (counts.get(z) ?? 0) + 1);
  }
  return new Distribution(Array.from(counts, ([from, markers]) => ({ from, to: from + 1, markers })));
}
