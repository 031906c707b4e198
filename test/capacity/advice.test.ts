import fc from 'fast-check';
import { describe, expect, test } from 'vitest';

import { adviceFor, type Situation } from '../../src/capacity/advice.js';
import { bestOf, candidatesOf } from '../../src/capacity/candidates.js';
import { modelDirectory } from '../../src/capacity/page-model.js';
import { onDemandCost, PRICE_LIST, provisionedCost } from '../../src/capacity/prices.js';
import { costOnIndex, costOnPages, viewsAt } from '../../src/capacity/views.js';
import { encode, LONGEST_Z, toZ } from '../../src/geo/geohash.js';
import { planReads, requestsOf } from '../../src/pages/plan-reads.js';
import { planMarkers } from '../../src/plan/markers.js';
import { someOf } from '../support/rounds.js';
import { distributionOf, points } from './points.js';

const zooms = fc.integer({ min: 0, max: 16 });
/** Small pages, so that gaps between the pages of a view hold several of them. */
const PAGE = { markers: 2, bytes: 900 };
const ALL = [{ from: 0, to: 32 ** LONGEST_Z }];

describe('the reads of a map', () => {
  test('from pages are those planned with the whole directory', () => {
    fc.assert(
      fc.property(points, zooms, fc.nat({ max: 23 }), (some, zoom, number) => {
        // The model treats pages that begin at the same position as one, so it may read them in another way.
        const apart = new Map(some.map((each) => [encode(each, LONGEST_Z), each]));
        const distribution = distributionOf([...apart.values()]);
        const view = viewsAt(distribution, zoom)[number];
        if (!view) throw new Error('no views');
        const whole = modelDirectory(distribution, ALL, PAGE);
        const reads = planReads(whole, view.cover);
        const units = reads.reduce((sum, { pages, first, last, by }) => {
          const bytes = pages.hints.slice(first, last + 1).map((hint) => hint.bytes);
          const each = by === 'keys' ? bytes : [bytes.reduce((total, one) => total + one, 0)];
          return sum + each.reduce((total, one) => total + Math.max(1, Math.ceil(one / 4_096)) / 2, 0);
        }, 0);
        expect(costOnPages(distribution, view, PAGE)).toEqual({ calls: requestsOf(reads), units });
      }),
      { numRuns: someOf(500), endOnFailure: true },
    );
  });

  test('from the index are the planned ranges of all shards, with the entries that a scan finds in them', () => {
    const shards = fc.integer({ min: 1, max: 4 });
    fc.assert(
      fc.property(
        points,
        zooms,
        fc.nat({ max: 23 }),
        fc.nat({ max: 6 }),
        shards,
        (some, zoom, number, prefixLength, writeShards) => {
          const distribution = distributionOf(some);
          const view = viewsAt(distribution, zoom)[number];
          if (!view) throw new Error('no views');
          const all = some.map((each) => toZ(encode(each, LONGEST_Z)));
          const { ranges } = planMarkers({
            cover: view.cover,
            prefixLength,
            ceiling: Math.floor(64 / writeShards),
          });
          const cost = costOnIndex(distribution, view, { prefixLength, writeShards, entryBytes: 170 });
          expect(cost.calls).toBe(ranges.length * writeShards);
          expect(cost.calls).toBeLessThanOrEqual(64);
          const units = ranges.map(({ from, to }) => {
            const bytes = 170 * all.filter((z) => from <= z && z < to).length;
            return (writeShards * Math.max(1, Math.ceil(bytes / writeShards / 4_096))) / 2;
          });
          expect(cost.units).toBeCloseTo(units.reduce((sum, each) => sum + each, 0));
        },
      ),
      { numRuns: someOf(30), endOnFailure: true },
    );
  });
});

describe('the layout', () => {
  test('has the fewest shards that keep the hottest key within the limits, and of those layouts the fewest calls', () => {
    const load = fc.record({
      readUnits: fc.integer({ min: 0, max: 200_000 }),
      writeUnits: fc.integer({ min: 0, max: 60_000 }),
      gigabytes: fc.integer({ min: 0, max: 500 }),
    });
    fc.assert(
      fc.property(points, load, (some, index) => {
        const distribution = distributionOf(some);
        const candidates = candidatesOf(distribution, viewsAt(distribution, 10), index, 170);
        const { readUnits, writeUnits, gigabytes } = index;
        /** In whole numbers, so that nothing is rounded. */
        const keeps = (most: number, shards: number) =>
          readUnits * most <= 3_000 * shards * some.length &&
          writeUnits * most <= 1_000 * shards * some.length &&
          gigabytes * most <= 10 * shards * some.length;
        for (const { prefixLength, writeShards, fits, hottest } of candidates) {
          const counts = new Map<string, number>();
          for (const each of some) {
            const prefix = encode(each, LONGEST_Z).slice(0, prefixLength);
            counts.set(prefix, (counts.get(prefix) ?? 0) + 1);
          }
          const most = Math.max(...counts.values());
          expect(hottest.share).toBe(most / some.length);
          expect(keeps(most, writeShards)).toBe(fits);
          if (writeShards > 1) expect(keeps(most, writeShards - 1)).toBe(false);
        }
        const best = bestOf(candidates);
        const fitting = candidates.filter(({ fits }) => fits);
        expect(best.fits).toBe(fitting.length > 0);
        for (const { map, prefixLength } of fitting) {
          expect(best.map.calls).toBeLessThanOrEqual(map.calls);
          if (map.calls === best.map.calls) expect(best.prefixLength).toBeLessThanOrEqual(prefixLength);
        }
      }),
      { numRuns: someOf(15), endOnFailure: true },
    );
  });
});

describe('the advice', () => {
  const sizes = {
    readable: { item: 300, entry: 170 },
    compact: { item: 290, entry: 160 },
    page: { markers: 30, bytes: 900 },
  };
  const distribution = distributionOf(
    Array.from({ length: 500 }, (_, index) => ({ lng: 16 + (index % 25) / 25, lat: 52 + index / 1_000 })),
  );
  const situation = (load: Partial<Situation['load']>): Situation => ({
    distribution,
    sizes,
    load: { viewsADay: 0, writes: 0, peak: 2, ...load },
    prices: PRICE_LIST.prices,
  });

  test('derives read units from map views, and write units from markers that change', () => {
    const { demand, unitsAView, zooms } = adviceFor(situation({ viewsADay: 86_400, writes: 10 }));
    expect(demand.rcu).toBeCloseTo(2 * unitsAView);
    const mean = zooms.reduce((sum, { pages }) => sum + pages.units, 0) / zooms.length;
    expect(unitsAView).toBeCloseTo(mean);
    // 1 unit for the item and 2 for the entry of each; the cells, pages and state follow.
    expect(demand.wcu).toBeGreaterThan(30);
    expect(demand.wcu).toBeLessThanOrEqual(10 * (3 + 8));
    expect(demand.gb).toBeGreaterThan((500 * 470) / 2 ** 30);
  });

  test('says so if no layout stays within the limits', () => {
    const spot = distributionOf(Array.from({ length: 50 }, () => ({ lng: 16.9, lat: 52.4 })));
    const { recommendation } = adviceFor({ ...situation({ wcu: 40_000 }), distribution: spot });
    expect(recommendation).toMatchObject({ fits: false, writeShards: 32 });
    expect(recommendation.reasons.join('\n')).toMatch(/No layout stays within the limits/);
    expect(adviceFor(situation({ rcu: 4_000 })).recommendation.reasons.join('\n')).toMatch(/Warning: pages under u/);
  });

  test('advises compact keys only if they save a tenth of the cost', () => {
    const saving = { ...sizes, compact: { item: 100, entry: 60 } };
    expect(adviceFor(situation({})).recommendation.keyStyle).toBe('readable');
    expect(adviceFor({ ...situation({}), sizes: saving }).recommendation.keyStyle).toBe('compact');
  });

  test('uses the prices of the price list', () => {
    const { prices } = PRICE_LIST;
    // 730 hours of one unit a second: 2.628 million units.
    const onDemand = onDemandCost({ rcu: 1, wcu: 1, gb: 10 }, prices);
    expect(onDemand).toEqual({
      reads: 2.628 * 0.125,
      writes: 2.628 * 0.625,
      storage: 2.5,
      total: expect.any(Number) as number,
    });
    expect(onDemand.total).toBeCloseTo(2.628 * 0.75 + 2.5);
    const provisioned = provisionedCost({ rcu: 99.5, wcu: 10, gb: 0 }, prices);
    expect(provisioned.reads).toBeCloseTo(9.49);
    expect(provisioned.writes).toBeCloseTo(4.745);
  });
});
