import * as fc from 'fast-check';
import { describe, expect, test } from 'vitest';

import { areaContains, normalizeBounds } from '../../src/geo/bounds.js';
import { distance } from '../../src/geo/distance.js';
import type { Point } from '../../src/geo/point.js';
import { hashKeyOf, hashKeysOf, partsUnder } from '../../src/geolibrary/hash-keys.js';
import { planQueries, type PlannedQuery } from '../../src/geolibrary/plan.js';
import { areaRegion, centerOf, coverRegion, idAt, ringRegion, type IdRange } from '../../src/geolibrary/s2.js';
import { rounds } from '../support/rounds.js';

const LENGTHS = [2, 3, 4, 5, 6];
const RUNS = rounds('boxesOfGeoLibrary');

/** Degrees including the poles, the antimeridian and the edges of S2's faces. */
const lng = fc.oneof(
  fc.double({ min: -180, max: 180, noNaN: true }),
  fc.constantFrom(-180, 180, -135, -45, 0, 45, 135),
);
const lat = fc.oneof(
  fc.double({ min: -90, max: 90, noNaN: true }),
  fc.constantFrom(-90, 90, 0, 35.264389682754654, -35.264389682754654, 89.9999999),
);
const point = fc.record({ lng, lat });
const near = (range: number) => fc.double({ min: -range, max: range, noNaN: true });

const holds = (ranges: readonly IdRange[], id: bigint) => ranges.some(({ from, to }) => from <= id && id < to);
const wrapped = (value: number) => (value > 180 ? value - 360 : value < -180 ? value + 360 : value);
/** An ID near a number, with the sign. */
const id = fc.bigInt({ min: -(2n ** 63n), max: 2n ** 63n - 1n });

describe('a cover by S2 cells', () => {
  test('contains the ID of every position in a bounding box, wherever it is', () => {
    fc.assert(
      fc.property(
        point,
        near(180),
        near(90),
        fc.double({ min: 0, max: 1, noNaN: true }),
        fc.nat(1),
        (at, wide, high, part, edge) => {
          const [south, north] = [at.lat, Math.max(-90, Math.min(90, at.lat + high))].toSorted((a, b) => a - b);
          const area = normalizeBounds('bounds', {
            west: Math.min(at.lng, at.lng + wide),
            east: Math.max(at.lng, at.lng + wide),
            south: south ?? 0,
            north: north ?? 0,
          });
          const inside: Point = { lng: wrapped(at.lng + wide * (edge ? Math.round(part) : part)), lat: at.lat };
          const ranges = coverRegion(areaRegion(area), 48);
          if (areaContains(area, inside)) expect(holds(ranges, idAt(inside))).toBe(true);
        },
      ),
      { numRuns: RUNS },
    );
  });

  test('contains the ID of every position in a ring, with no more cells than allowed', () => {
    fc.assert(
      fc.property(point, point, near(1), fc.integer({ min: 6, max: 60 }), (center, other, more, most) => {
        const away = distance(center, other);
        const ranges = coverRegion(ringRegion(center, away, away + Math.abs(more) * 1e6), most);
        expect(holds(ranges, idAt(other))).toBe(true);
        expect(ranges.length).toBeLessThanOrEqual(most);
      }),
      { numRuns: RUNS },
    );
  });

  test('does not extend far beyond a bounding box', () => {
    const area = normalizeBounds('bounds', { west: 16.8, south: 52.3, east: 17, north: 52.5 });
    const sizes = coverRegion(areaRegion(area), 48).reduce((sum, { from, to }) => sum + Number(to - from), 0);
    // The IDs of a face cover a sixth of the globe.
    const squareMeters = (sizes / 2 ** 61) * (5.1e14 / 6);
    expect(squareMeters / (13_600 * 22_240)).toBeLessThan(2);
  });
});

describe('hash keys', () => {
  test('are the leading digits of an ID, without its sign', () => {
    expect(hashKeyOf(5_764_607_523_034_234_879n, 2)).toBe(57n);
    expect(hashKeyOf(-5_764_607_523_034_234_879n, 2)).toBe(-57n);
    expect(hashKeyOf(123_456n, 6)).toBe(123_456n);
    expect(hashKeyOf(12n, 6)).toBe(12n);
  });

  test('partition ranges of IDs: each ID has exactly one hash key', () => {
    fc.assert(
      fc.property(id, id, id, fc.constantFrom(...LENGTHS), (a, b, middle, length) => {
        const [from = 0n, to = 0n] = [a, b].toSorted((x, y) => (x < y ? -1 : 1));
        if (from === to) return;
        const inside = from + ((middle < 0n ? -middle : middle) % (to - from));
        const key = hashKeyOf(inside, length);
        const keys = hashKeysOf([{ from, to }], length);
        expect(holds(keys, key)).toBe(true);
        expect(holds(partsUnder(key, length, [{ from, to }]), inside)).toBe(true);
        for (const other of [key - 1n, key + 1n, -key]) {
          if (other !== key) expect(holds(partsUnder(other, length, [{ from, to }]), inside)).toBe(false);
        }
      }),
      { numRuns: RUNS },
    );
  });
});

describe('a plan', () => {
  test('reads every ID of its ranges once, under its own hash key, in six queries or one per hash key', () => {
    fc.assert(
      fc.property(point, near(3), near(3), fc.constantFrom(...LENGTHS), (at, wide, high, length) => {
        const area = normalizeBounds('bounds', {
          west: at.lng,
          east: at.lng + Math.abs(wide),
          south: Math.min(at.lat, at.lat + high),
          north: Math.max(at.lat, at.lat + high),
        });
        const ranges = coverRegion(areaRegion(area), 48);
        const plan = planQueries(ranges, length);
        // Near a pole there may be millions.
        const first: PlannedQuery[] = [];
        for (const query of plan.queries()) if (first.push(query) === 200) break;
        expect(first.length).toBeLessThanOrEqual(Math.max(6, Number(plan.hashKeys)));
        const inside = idAt({
          lng: wrapped(at.lng + Math.abs(wide) / 3),
          lat: Math.max(-90, Math.min(90, at.lat + high / 3)),
        });
        if (Number(plan.hashKeys) > 200 || !holds(ranges, inside)) return;
        const asked = first.filter((query) => query.from <= inside && inside < query.to);
        expect(asked.filter(({ hashKey }) => hashKey === hashKeyOf(inside, length))).toHaveLength(1);
      }),
      { numRuns: RUNS / 3 },
    );
  });

  test('of the whole world takes no time, however many hash keys there are', () => {
    const world = normalizeBounds('bounds', { west: -180, south: -90, east: 180, north: 90 });
    const ranges = coverRegion(areaRegion(world), 48);
    const counts = LENGTHS.map((length) => Number(planQueries(ranges, length).hashKeys));
    // From 0 to 99 and from -92 to -46, and so on.
    expect(counts).toEqual([147, 1462, 14_613, 146_118, 1_461_170]);
    const [query] = planQueries(ranges, 6).queries(-922_337n);
    expect(query?.hashKey).toBe(-922_337n);
  });
});

test('the center of a cell is at the position that the cell was made from', () => {
  fc.assert(
    fc.property(point, (at) => {
      expect(distance(at, centerOf(idAt(at)))).toBeLessThan(0.02);
    }),
  );
});
