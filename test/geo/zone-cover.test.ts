import fc from 'fast-check';
import { describe, expect, test } from 'vitest';

import { canonicalLng, type Bounds } from '../../src/geo/bounds.js';
import { atOnce } from '../../src/geo/steps.js';
import { COVER_LENGTHS, coverBounds, coversOfPoint, coverZone, MOST_COVERS } from '../../src/geo/zone-cover.js';
import { readZoneGeometry } from '../../src/geo/zone-geometry.js';
import { someOf } from '../support/rounds.js';
import { rectangle } from '../support/shapes.js';
import { star } from './zone-shapes.js';

const coverOf = (geometry: unknown) => {
  const { shape, parts } = atOnce(readZoneGeometry('geometry', geometry));
  return { shape, covers: atOnce(coverZone(shape, parts)) };
};

const rectangleOf = ({ west, south, east, north }: Bounds) => rectangle(west, south, east, north);

const inBox = ({ west, south, east, north }: Bounds, lng: number, lat: number) =>
  west <= lng && lng <= east && south <= lat && lat <= north;

describe('the cover of a zone', () => {
  test('has at most 16 cells of three lengths, which together contain every position of the zone', () => {
    fc.assert(
      fc.property(
        fc.array(star, { minLength: 1, maxLength: 3 }),
        fc.array(fc.tuple(fc.nat(1000), fc.double({ min: 0, max: 1, noNaN: true })), { minLength: 10, maxLength: 20 }),
        (rings, picks) => {
          const { shape, covers } = coverOf({ type: 'MultiPolygon', coordinates: rings.map((ring) => [ring]) });
          expect(covers.length).toBeGreaterThan(0);
          expect(covers.length).toBeLessThanOrEqual(MOST_COVERS);
          expect(new Set(covers.map(({ geohash }) => geohash)).size).toBe(covers.length);
          const positions = picks.map(([nth, along]) => {
            const ring = rings[nth % rings.length]!;
            const [ax, ay] = ring[nth % ring.length]!;
            const [bx, by] = ring[(nth * 7) % ring.length]!;
            return [ax + along * (bx - ax), ay + along * (by - ay)] as const;
          });
          for (const [x, lat] of [...positions, ...rings.flat()]) {
            const lng = canonicalLng(((((x + 180) % 360) + 360) % 360) - 180);
            if (!shape.contains({ lng, lat })) continue;
            const cells = coversOfPoint({ lng, lat });
            expect(cells.map(({ length }) => length)).toEqual([...COVER_LENGTHS]);
            const found = covers.filter(({ geohash }) => cells.includes(geohash));
            expect(found.some(({ box }) => inBox(box, lng, lat))).toBe(true);
          }
        },
      ),
      { numRuns: someOf(300) },
    );
  });

  test('of the globe is its 16 largest cells', () => {
    const { covers } = coverOf(rectangleOf({ west: -180, south: -90, east: 180, north: 90 }));
    expect(covers.map(({ geohash }) => geohash).sort()).toEqual('02468bdfhknqsuwy'.split(''));
    const area = covers.reduce((sum, { geohash }) => {
      const { west, south, east, north } = coverBounds(geohash);
      return sum + (east - west) * (north - south);
    }, 0);
    expect(area).toBe(360 * 180);
  });

  test('of a zone that is exactly a cell is that cell alone, although it touches the neighbors', () => {
    for (const geohash of ['u', 'u3h', 'u3h5k']) {
      const bounds = coverBounds(geohash);
      const inner = { ...bounds, west: bounds.west + 1e-7, south: bounds.south + 1e-7 };
      expect(coverOf(rectangleOf(inner)).covers.map((cover) => cover.geohash)).toEqual([geohash]);
    }
  });

  test('finds zones on the antimeridian from both sides', () => {
    const { covers } = coverOf(rectangleOf({ west: 170, south: 10, east: 180, north: 11 }));
    for (const lng of [180, -180]) {
      const cells = coversOfPoint({ lng, lat: 10.5 });
      expect(covers.some(({ geohash, box }) => cells.includes(geohash) && inBox(box, -180, 10.5))).toBe(true);
    }
  });

  test('is finer for smaller zones', () => {
    const around = (size: number) =>
      coverOf(rectangleOf({ west: 16.9, south: 52.4, east: 16.9 + size, north: 52.4 + size })).covers;
    expect(new Set(around(0.01).map(({ geohash }) => geohash.length))).toEqual(new Set([5]));
    expect(new Set(around(2).map(({ geohash }) => geohash.length))).toEqual(new Set([3]));
    expect(new Set(around(20).map(({ geohash }) => geohash.length))).toEqual(new Set([1]));
  });
});
