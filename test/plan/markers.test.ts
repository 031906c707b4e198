import fc from 'fast-check';
import { describe, expect, test } from 'vitest';

import { areaContains, areaOverlapsCell, normalizeBounds } from '../../src/geo/bounds.js';
import { cellBounds, coverArea, encode, fromZ, lngBits, toZ } from '../../src/geo/geohash.js';
import { createKeyspace } from '../../src/keys/keyspace.js';
import { planBlocks } from '../../src/plan/blocks.js';
import { blockKeyRanges, explainMarkers, rangeBounds, rangeKeys } from '../../src/plan/explain.js';
import { coverForPlan, planMarkers, type MarkerPlan, type PlanPart } from '../../src/plan/markers.js';
import { precisionForZoom } from '../../src/plan/precision.js';
import { anArea, aPoint, pointsNear } from '../geo/arbitraries.js';
import { someOf } from '../support/rounds.js';

const CEILING = 64;
const MOST_PAGES = 5;
const aPrefixLength = fc.integer({ min: 0, max: 6 });
const world = normalizeBounds('b', { west: -180, south: -90, east: 180, north: 90 });

/** An area with markers in and around it. */
const aScene = anArea.chain((area) =>
  fc.tuple(fc.constant(area), fc.array(fc.oneof(pointsNear(area), aPoint), { maxLength: 40 })),
);

/** Plans page after page. Stops early if there are very many pages, for which the caller must allow. */
function pages(question: Omit<PlanPart, 'ceiling'>): MarkerPlan[] {
  const plans = [planMarkers({ ...question, ceiling: CEILING })];
  for (let next = plans[0]?.next; next !== undefined && plans.length < MOST_PAGES;) {
    const plan = planMarkers({ ...question, ceiling: CEILING, after: next });
    plans.push(plan);
    next = plan.next;
  }
  return plans;
}

describe('a plan of markers', () => {
  test('has every marker inside in some range, page after page', () => {
    fc.assert(
      fc.property(aScene, aPrefixLength, ([area, points], prefixLength) => {
        const plans = pages({ cover: coverForPlan(area), prefixLength });
        const ranges = plans.flatMap((plan) => plan.ranges);
        const end = plans.at(-1)?.next ?? Infinity;
        for (const point of points.filter((each) => areaContains(area, each))) {
          const z = toZ(encode(point, 10));
          if (z < end) expect(ranges.some(({ from, to }) => from <= z && z < to)).toBe(true);
        }
      }),
      { numRuns: someOf(1_000) },
    );
  });

  test('has sorted, disjoint ranges within its limit, each in one partition and none entirely outside', () => {
    fc.assert(
      fc.property(anArea, aPrefixLength, (area, prefixLength) => {
        const cover = coverArea(area, 10, 512);
        let end = 0;
        for (const { ranges, next } of pages({ cover: coverForPlan(area), prefixLength })) {
          expect(ranges.length).toBeLessThanOrEqual(CEILING);
          for (const { from, to, prefix } of ranges) {
            expect(from >= end && to > from).toBe(true);
            expect(fromZ(from, 10).slice(0, prefixLength)).toBe(prefix);
            expect(fromZ(to - 1, 10).slice(0, prefixLength)).toBe(prefix);
            expect(cover.some((piece) => piece.from <= from && from < piece.to)).toBe(true);
            end = to;
          }
          if (next !== undefined) expect(next).toBeGreaterThanOrEqual(end);
        }
      }),
      { numRuns: someOf(1_000) },
    );
  });

  test.each([0, 1, 2, 3, 4, 5, 6])(
    'covers the world, a strip and a polar ring at P=%i without enumerating partitions',
    (prefixLength) => {
      const strip = normalizeBounds('b', { west: -180, south: 12.1, east: 180, north: 12.9 });
      const ring = normalizeBounds('b', { west: -180, south: 80, east: 180, north: 85 });
      for (const area of [world, strip, ring]) {
        const { ranges, next } = planMarkers({ cover: coverForPlan(area), prefixLength, ceiling: CEILING });
        expect(ranges.length).toBeLessThanOrEqual(CEILING);
        if (next !== undefined) expect(ranges.length).toBe(CEILING);
      }
      const { ranges, next } = planMarkers({ cover: coverForPlan(world), prefixLength, ceiling: CEILING });
      expect(ranges.length).toBe(Math.min(CEILING, 32 ** prefixLength));
      expect(next).toBe(prefixLength < 2 ? undefined : CEILING * 32 ** (10 - prefixLength));
    },
  );
});

describe('a plan of blocks', () => {
  test('has the block of every cell that overlaps the area, with each range in one partition', () => {
    fc.assert(
      fc.property(aScene, fc.integer({ min: 1, max: 5 }), ([area, points], precision) => {
        const { length, ranges } = planBlocks(area, precision);
        expect(length).toBe(precision - 1);
        for (const point of points) {
          const cell = encode(point, precision);
          if (!areaOverlapsCell(area, cellBounds(cell))) continue;
          const z = toZ(cell.slice(0, -1));
          expect(ranges.some(({ from, to }) => from <= z && z < to)).toBe(true);
        }
        for (const style of ['readable', 'compact'] as const) {
          for (const keyRange of blockKeyRanges({ length, ranges }, 'Sh', createKeyspace(style))) {
            expect(keyRange.from <= keyRange.to).toBe(true);
          }
        }
      }),
    );
  });
});

test('a plan is explained as key ranges, one per shard, with the bounding box of their cells', () => {
  const keys = createKeyspace('readable');
  const collection = { key: 'parks', code: null, prefixLength: 2, writeShards: 2, geoSlot: 'B' } as const;
  const area = normalizeBounds('b', cellBounds('u4p'));
  const plan = planMarkers({ cover: coverForPlan(area), prefixLength: 2, ceiling: CEILING });
  const explained = explainMarkers(plan, collection, keys);
  expect(explained.length).toBe(2 * plan.ranges.length);
  expect(new Set(explained.map(({ index }) => index))).toEqual(new Set(['geoB']));
  for (const range of plan.ranges) {
    for (const { pk, from, to } of rangeKeys(range, collection, keys)) {
      const first = keys.geoEntry({
        scope: 'parks',
        ...collection,
        key: 'a',
        geohash: fromZ(range.from, 10),
      });
      const beyond = keys.geoEntry({
        scope: 'parks',
        ...collection,
        key: 'a',
        geohash: fromZ(Math.max(0, range.from - 1), 10),
      });
      expect(pk.startsWith(`marker::parks::${range.prefix}::`)).toBe(true);
      expect((first['gskB'] ?? '') >= from && (first['gskB'] ?? '') <= to).toBe(true);
      expect(beyond['gskB']?.startsWith(range.prefix) && beyond['gskB'] >= from && beyond['gskB'] <= to).toBe(false);
    }
  }
});

test('the bounds of a range contain exactly its cells', () => {
  fc.assert(
    fc.property(aPoint, aPoint, (a, b) => {
      const [from, last] = [toZ(encode(a, 10)), toZ(encode(b, 10))].sort((x, y) => x - y) as [number, number];
      const bounds = rangeBounds({ from, to: last + 1 });
      const area = { bounds, parts: [bounds] };
      for (const z of [from, last, Math.floor((from + last) / 2)]) {
        const cell = cellBounds(fromZ(z, 10));
        expect(areaOverlapsCell(area, cell)).toBe(true);
      }
    }),
  );
  expect(rangeBounds({ from: 0, to: 2 ** 50 })).toEqual({ west: -180, south: -90, east: 180, north: 90 });
  expect(rangeBounds({ from: toZ('u400000000'), to: toZ('u400000000') + 32 ** 8 })).toEqual(cellBounds('u4'));
});

test('cells are 24 to 192 px wide where lengths 1 to 12 allow it, and never get coarser when zooming in', () => {
  let last = 1;
  for (let zoom = -2; zoom <= 30; zoom += 0.01) {
    const precision = precisionForZoom(zoom);
    const px = (512 * 2 ** zoom) / 2 ** lngBits(precision);
    if (px < 24) expect(precision).toBe(1);
    if (px >= 192) expect(precision).toBe(12);
    expect(precision).toBeGreaterThanOrEqual(last);
    last = precision;
  }
  expect([precisionForZoom(-2), precisionForZoom(2), precisionForZoom(30)]).toEqual([1, 2, 12]);
});
