import fc from 'fast-check';
import { describe, expect, test } from 'vitest';

import { type Area, areaOverlapsCell, normalizeBounds } from '../../src/geo/bounds.js';
import type { Cell } from '../../src/geo/cell-sums.js';
import { clusterCells as clustersInSteps, gridArea } from '../../src/geo/clusters.js';
import { atOnce } from '../../src/geo/steps.js';
import { cellBounds, encode } from '../../src/geo/geohash.js';
import { type Pixel, latToY, lngToX, xToLng, yToLat } from '../../src/geo/mercator.js';
import { aPoint } from './arbitraries.js';

const clusterCells = (...args: Parameters<typeof clustersInSteps>) => atOnce(clustersInSteps(...args));

function cellsOf(points: readonly { lng: number; lat: number }[], precision: number): Cell[] {
  const cells = new Map<string, { geohash: string; count: number; sumLng: number; sumLat: number }>();
  for (const point of points) {
    const geohash = encode(point, precision);
    const cell = cells.get(geohash) ?? { geohash, count: 0, sumLng: 0, sumLat: 0 };
    cell.count++;
    cell.sumLng += Math.round(point.lng * 1e6);
    cell.sumLat += Math.round(point.lat * 1e6);
    cells.set(geohash, cell);
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

const overlapping = (area: Area, cells: readonly Cell[]) =>
  cells.filter(({ geohash }) => areaOverlapsCell(area, cellBounds(geohash)));

const aView = fc.record({
  points: fc.array(
    fc.oneof(
      aPoint,
      fc.record({ lng: fc.double({ min: -5, max: 5, noNaN: true }), lat: fc.double({ min: -5, max: 5, noNaN: true }) }),
    ),
    { maxLength: 60 },
  ),
  center: fc.oneof(aPoint, fc.constantFrom({ lng: 180, lat: 0 }, { lng: -179, lat: 84 }, { lng: 0, lat: -85 })),
  pan: fc.record({ x: fc.integer({ min: -300, max: 300 }), y: fc.integer({ min: -300, max: 300 }) }),
  zoom: fc.double({ min: 0, max: 7, noNaN: true }),
  size: fc.integer({ min: 20, max: 256 }),
  precision: fc.integer({ min: 1, max: 4 }),
});

describe('clusters', () => {
  test('the cells of gridArea form the same clusters as all cells of the world', () => {
    fc.assert(
      fc.property(aView, ({ points, center, zoom, size, precision }) => {
        const cells = cellsOf(points, precision);
        const area = viewport({ x: lngToX(center.lng, zoom), y: latToY(center.lat, zoom) }, zoom);
        const grid = { zoom, size };
        const needed = overlapping(gridArea(area, precision, grid), cells);
        expect(clusterCells(area, needed, grid)).toEqual(clusterCells(area, cells, grid));
      }),
      { numRuns: 500 },
    );
  });

  test('every cell that overlaps the viewport is in exactly one cluster, and counts add up', () => {
    fc.assert(
      fc.property(aView, ({ points, center, zoom, size, precision }) => {
        const cells = cellsOf(points, precision);
        const area = viewport({ x: lngToX(center.lng, zoom), y: latToY(center.lat, zoom) }, zoom);
        const clusters = clusterCells(area, cells, { zoom, size });
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
      fc.property(aView, ({ points, center, pan, zoom, size, precision }) => {
        const cells = cellsOf(points, precision);
        const [x, y] = [lngToX(center.lng, zoom), latToY(center.lat, zoom)];
        const seen = [viewport({ x, y }, zoom), viewport({ x: x + pan.x, y: y + pan.y }, zoom)].map((area) =>
          clusterCells(area, overlapping(gridArea(area, precision, { zoom, size }), cells), { zoom, size }),
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
    const world = normalizeBounds('b', { west: -180, south: -90, east: 180, north: 90 });
    const [cluster, ...others] = clusterCells(world, cells, { zoom: 0, size: 512 });
    expect(others).toEqual([]);
    expect(cluster).toMatchObject({ position: { lng: 11, lat: 21 }, count: 4 });
  });
});
