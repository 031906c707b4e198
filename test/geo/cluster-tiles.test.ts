import fc from 'fast-check';
import { expect, test } from 'vitest';

import { areaContains, normalizeBounds, wrapLng } from '../../src/geo/bounds.js';
import { ClusterTiles, tilesOf } from '../../src/geo/cluster-tiles.js';

const spacing = fc.record({
  zoom: fc.oneof(fc.integer({ min: -2, max: 5 }), fc.double({ min: -2, max: 5, noNaN: true })),
  // Some divide the world into an odd number of windows, so that the last tile is smaller.
  distance: fc.constantFrom(25, 60, 77, 200),
});
const lng = fc.oneof(fc.constantFrom(-180, 0, 180, 179.999), fc.double({ min: -180, max: 180, noNaN: true }));
const lat = fc.oneof(fc.constantFrom(-90, -85.06, 0, 85.06, 90), fc.double({ min: -90, max: 90, noNaN: true }));

test('a position in a bounding box is in one of its tiles, and in their bounds', () => {
  fc.assert(
    fc.property(
      spacing,
      lng,
      lat,
      fc.double({ min: 0, max: 400, noNaN: true }),
      lat,
      (given, west, south, width, high) => {
        const tiles = new ClusterTiles(given);
        const [low, top] = [Math.min(south, high), Math.max(south, high)];
        const area = normalizeBounds('bounds', { west, east: west + width, south: low, north: top });
        const span = tiles.spanOf(area.bounds);
        const named = new Set(tilesOf(span).map((tile) => tiles.nameOf(tile)));
        const around = normalizeBounds('bounds', tiles.boundsOf(span));
        for (const share of [0, 0.5, 1]) {
          // As cells do, the position names the antimeridian from the east.
          const at = { lng: wrapLng(west + share * width), lat: low + share * (top - low) };
          for (const point of [at, { ...at, lng: at.lng === 180 ? -180 : at.lng }]) {
            if (!areaContains(area, point)) continue;
            const [west, south] = [point.lng, at.lat];
            expect(named).toContain(tiles.nameOf(tiles.spanOf({ west, east: west, south, north: south })));
            expect(areaContains(around, point)).toBe(true);
          }
        }
      },
    ),
    { numRuns: 500 },
  );
});
