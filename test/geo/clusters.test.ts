import fc from 'fast-check';
import { describe, expect, test } from 'vitest';

import { areaOverlapsCell, normalizeBounds, type Area } from '../../src/geo/bounds.js';
import { addSums, NO_SUMS, sumsOf, type Cell } from '../../src/geo/cell-sums.js';
import { clusterArea } from '../../src/geo/cluster-windows.js';
import { clusterCells as clustersInSteps } from '../../src/geo/clusters.js';
import { cellBounds, encode } from '../../src/geo/geohash.js';
import { latToY, lngToX, xToLng, yToLat, type Pixel } from '../../src/geo/mercator.js';
import { atOnce } from '../../src/geo/steps.js';
import { precisionForZoom } from '../../src/plan/precision.js';
import { randomFrom } from '../support/random.js';
import { someOf } from '../support/rounds.js';
import { aPoint } from './arbitraries.js';

const clusterCells = (...args: Parameters<typeof clustersInSteps>) => atOnce(clustersInSteps(...args));

function cellsOf(points: readonly { lng: number; lat: number }[], precision: number): Cell[] {
  const cells = new Map<string, Cell>();
  for (const point of points) {
    const geohash = encode(point, precision);
    cells.set(geohash, { geohash, ...addSums(cells.get(geohash) ?? NO_SUMS, sumsOf(point)) });
  }
  return [...cells.values()];
}

function viewport({ x, y }: Pixel, zoom: number): Area {
  return normalizeBounds('b', {
    west: xToLng(x - 640, zoom),
    east: xToLng(x + 640, zoom),
    north: yToLat(y - 400, zoom),
    south: yToLat(y + 400, zoom),
  });
}

const WORLD = normalizeBounds('b', { west: -180, south: -90, east: 180, north: 90 });

const overlapping = (area: Area, cells: readonly Cell[]) =>
  cells.filter(({ geohash }) => areaOverlapsCell(area, cellBounds(geohash)));

/** Towns, denser towards the center, up to this many degrees away from it. */
function townsAround(at: { readonly lng: number; readonly lat: number }, count: number, seed: number, degrees = 25) {
  const random = randomFrom(seed);
  const scatter = () => (random() + random() - 1) * degrees;
  return Array.from({ length: count }, () => ({
    lng: ((((at.lng + 180 + scatter()) % 360) + 360) % 360) - 180,
    lat: Math.max(-90, Math.min(90, at.lat + 0.6 * scatter())),
  }));
}

const aPlace = fc.oneof(aPoint, fc.constantFrom({ lng: 180, lat: 0 }, { lng: -179, lat: 84 }, { lng: 0, lat: -88 }));
const aView = fc
  .record({
    points: fc.array(aPoint, { maxLength: 40 }),
    towns: fc.constantFrom(0, 100, 1_500, 1_500),
    seed: fc.integer(),
    center: aPlace,
    // In px from the center.
    pan: fc.record({ x: fc.integer({ min: -500, max: 500 }), y: fc.integer({ min: -500, max: 500 }) }),
    zoom: fc.double({ min: 0, max: 6, noNaN: true }),
    distance: fc.oneof(fc.integer({ min: 20, max: 256 }), fc.constantFrom(40, 60)),
    finer: fc.constantFrom(-1, 0, 1, 1),
  })
  .map(({ points, towns, seed, finer, ...view }) => ({
    ...view,
    precision: Math.max(1, precisionForZoom(view.zoom) + finer),
    points: [...points, ...townsAround(view.center, towns, seed, 1_000 / 2 ** view.zoom)],
  }));

describe('clusters', () => {
  test('the cells of clusterArea form the same clusters as all cells of the world', () => {
    fc.assert(
      fc.property(aView, ({ points, center, pan, zoom, distance, precision }) => {
        const cells = cellsOf(points, precision);
        const area = viewport({ x: lngToX(center.lng, zoom) + pan.x, y: latToY(center.lat, zoom) + pan.y }, zoom);
        const spacing = { zoom, distance };
        const needed = overlapping(clusterArea(area, precision, spacing), cells);
        expect(clusterCells(area, needed, spacing)).toEqual(clusterCells(area, cells, spacing));
      }),
      { numRuns: someOf(300) },
    );
  });

  test('every cell that overlaps the viewport is in exactly one cluster, and counts add up', () => {
    fc.assert(
      fc.property(aView, ({ points, center, zoom, distance, precision }) => {
        const cells = cellsOf(points, precision);
        const area = viewport({ x: lngToX(center.lng, zoom), y: latToY(center.lat, zoom) }, zoom);
        const clusters = clusterCells(area, cells, { zoom, distance });
        const clustered = clusters.flatMap((cluster) => cluster.cells.map(({ geohash }) => geohash));
        expect(new Set(clustered).size).toBe(clustered.length);
        expect(clustered).toEqual(expect.arrayContaining(overlapping(area, cells).map(({ geohash }) => geohash)));
        for (const cluster of clusters) {
          expect(cluster.count).toBe(cluster.cells.reduce((sum, { count }) => sum + count, 0));
        }
      }),
    );
  });

  test('panning never moves, splits or merges a cluster that stays in view', () => {
    fc.assert(
      fc.property(aView, ({ points, center, pan, zoom, distance, precision }) => {
        const cells = cellsOf(points, precision);
        const [x, y] = [lngToX(center.lng, zoom), latToY(center.lat, zoom)];
        const seen = [viewport({ x, y }, zoom), viewport({ x: x + pan.x, y: y + pan.y }, zoom)].map((area) =>
          clusterCells(area, overlapping(clusterArea(area, precision, { zoom, distance }), cells), { zoom, distance }),
        );
        for (const cluster of seen[0] ?? []) {
          const same = seen[1]?.find(({ cells: [first] }) =>
            cluster.cells.some(({ geohash }) => geohash === first?.geohash),
          );
          if (same) expect(same).toEqual(cluster);
        }
      }),
    );
  });

  test('a cluster is at the mean position of its markers', () => {
    const cells = cellsOf([...Array.from({ length: 3 }, () => ({ lng: 10, lat: 20 })), { lng: 14, lat: 24 }], 4);
    const [cluster, ...others] = clusterCells(WORLD, cells, { zoom: 0, distance: 512 });
    expect(others).toEqual([]);
    expect(cluster).toMatchObject({ position: { lng: 11, lat: 21 }, count: 4 });
  });

  const positions = (points: readonly { lng: number; lat: number }[], zoom: number, distance = 60) =>
    clusterCells(WORLD, cellsOf(points, 4), { zoom, distance }).map(({ position, count }) => [position, count]);

  test('are at least the distance apart, and a third of it if they have one marker', () => {
    // Four passes separate all of them, except in contrived patterns.
    const towns = townsAround({ lng: 10, lat: 50 }, 4_000, 3);
    for (const zoom of [2, 3, 4, 5, 6]) {
      const clusters = clusterCells(WORLD, cellsOf(towns, 4), { zoom, distance: 60 });
      const drawn = clusters.map(({ position: { lng, lat }, count }) => ({
        x: lngToX(lng, zoom),
        y: latToY(lat, zoom),
        radius: count === 1 ? 10 : 30,
      }));
      const overlaps = drawn.flatMap((one, index) =>
        drawn
          .slice(index + 1)
          .filter((other) => Math.hypot(one.x - other.x, one.y - other.y) < one.radius + other.radius - 1e-6),
      );
      expect(overlaps).toEqual([]);
    }
  });

  test('just beside the antimeridian are on it, not on the other side of the globe', () => {
    const random = randomFrom(3);
    const lngs = [180, -180, 179.999_999_9, -179.999_999_9, 179.5];
    for (let n = 0; n < 60; n++) {
      const points = Array.from({ length: 20 }, (_, at) => ({ lng: lngs[at % 5] ?? 0, lat: 20 * random() - 10 }));
      const clusters = clusterCells(WORLD, cellsOf(points, 3), { zoom: n % 8, distance: 60 });
      expect(clusters.reduce((sum, { count }) => sum + count, 0)).toBe(20);
      expect(clusters.filter(({ position: { lng } }) => Math.abs(lng) < 179)).toEqual([]);
    }
  });

  test('are one at last as one zooms out, wherever markers are', () => {
    const cells = cellsOf(
      [...townsAround({ lng: 10, lat: 60 }, 100, 1), { lng: 80, lat: -89 }, { lng: 0, lat: 90 }],
      1,
    );
    for (const zoom of [-4, -5.5, -20]) expect(clusterCells(WORLD, cells, { zoom, distance: 60 })).toHaveLength(1);
  });

  test('join across the antimeridian, with bounds that cross it', () => {
    const fiji = [
      { lng: 179.4, lat: -17 },
      { lng: -179.8, lat: -17 },
      { lng: 179.4, lat: -17.2 },
      { lng: -179.8, lat: -17.2 },
    ];
    const [cluster, ...others] = clusterCells(WORLD, cellsOf(fiji, 4), { zoom: 4, distance: 60 });
    expect(others).toEqual([]);
    expect(cluster).toMatchObject({ position: { lng: 179.8 }, count: 4 });
    expect(cluster?.bounds.west).toBeGreaterThan(179);
    expect(cluster?.bounds.east).toBeLessThan(-179);
  });

  test('of two or three markers are split if their markers fit', () => {
    // 60 px are 10.5 degrees at zoom 2, 40 are 7, and 20 are 3.5. A window begins at 10.6 east.
    const at = (lng: number, lat = 0) => ({ lng, lat });
    const crowdAt = (lng: number) => Array.from({ length: 9 }, (_, index) => at(lng, index / 100));
    const counts = (points: readonly { lng: number; lat: number }[]) => positions(points, 2).map(([, count]) => count);
    expect(positions([at(15), at(20)], 2)).toEqual([
      [at(15), 1],
      [at(20), 1],
    ]);
    expect(counts([at(15), at(18)])).toEqual([2]);
    expect(counts([at(15), at(20), ...crowdAt(28.5)])).toEqual([1, 1, 9]);
    // Too close to a crowd, though not merged with it.
    const three = [at(12), at(15.6), at(19.2)];
    expect(counts([...three, ...crowdAt(26.15)])).toEqual([3, 9]);
    expect(counts([...three, ...crowdAt(26.3)])).toEqual([1, 1, 1, 9]);
    expect(counts([15, 19, 23, 27].map((lng) => at(lng)))).not.toContain(1);
  });
});
