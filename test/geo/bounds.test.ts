import fc from 'fast-check';
import { describe, expect, test } from 'vitest';

import {
  areaContains,
  areaContainsCell,
  areaOverlapsCell,
  normalizeBounds,
  readPoint,
  type Bounds,
} from '../../src/geo/bounds.js';
import { cellBounds, encode } from '../../src/geo/geohash.js';
import { aLat, aLng, anArea, aPoint, pointsNear } from './arbitraries.js';

test.each([
  [180, 180],
  [-180, -180],
  [190, -170],
  [-190, 170],
  [540, 180],
  [-540, -180],
  [720, 0],
  [-0, 0],
  [1e308, -64],
])('longitude %d is read as %d', (given, expected) => {
  expect(readPoint('p', given, 1)).toEqual({ lng: expected, lat: 1 });
});

test.each([NaN, Infinity, null, undefined, '12', [12]])('%j is no longitude', (given) => {
  expect(() => readPoint('p', given, 1)).toThrow(/^p\.lng must be a finite number of degrees/);
});

const box = (west: number, south: number, east: number, north: number): Bounds => ({ west, south, east, north });
const edgesOf = (bounds: Bounds) => [bounds.west, bounds.south, bounds.east, bounds.north];
const area = (west: number, east: number) => normalizeBounds('bounds', box(west, -10, east, 10));

describe('bounds from a map client', () => {
  test.each([
    [10, 20, 10, 20],
    [170, 190, 170, -170],
    [-190, -170, 170, -170],
    [-703, 624, -180, 180],
    [-180, 180, -180, 180],
    [0, 360, -180, 180],
    [123.4, 483.4, -180, 180],
    [540, 550, 180, -170],
    [-540, -530, -180, -170],
    [20, 10, 20, 10],
    [-1e308, 1e308, -180, 180],
    [720, 720, 0, 0],
    [-0, 0, 0, 0],
  ])('%d..%d is normalized to %d..%d', (west, east, expectedWest, expectedEast) => {
    const { bounds } = area(west, east);
    expect([bounds.west, bounds.east]).toEqual([expectedWest, expectedEast]);
  });

  test('latitudes beyond the poles are clamped', () => {
    expect(edgesOf(normalizeBounds('b', box(0, -95, 1, 1e308)).bounds)).toEqual([0, -90, 1, 90]);
    expect(edgesOf(normalizeBounds('b', box(0, 91, 1, 95)).bounds)).toEqual([0, 90, 1, 90]);
  });

  test('a point on the antimeridian is found from both sides, as 180 and as -180', () => {
    for (const [west, east] of [
      [170, 180],
      [-180, -170],
      [170, -170],
      [180, 180],
      [-180, -180],
      [180, -180],
      [170, 190],
      [-190, -180],
      [100, -180],
    ] as const) {
      for (const lng of [180, -180])
        expect(areaContains(area(west, east), { lng, lat: 0 }), `${west}..${east}`).toBe(true);
    }
    expect(areaContains(area(170, 179.9), { lng: 180, lat: 0 })).toBe(false);
  });

  test.each([Number.NaN, Infinity, -Infinity, '1', null, undefined, {}, 1n])(
    '%s is rejected on every edge, by name',
    (value) => {
      for (const edge of ['west', 'south', 'east', 'north']) {
        const broken = { ...box(0, 0, 1, 1), [edge]: value } as Bounds;
        expect(() => normalizeBounds('bounds', broken)).toThrow(
          expect.objectContaining({
            code: 'BAD_USER_INPUT',
            details: expect.objectContaining({ field: `bounds.${edge}` }),
          }),
        );
      }
    },
  );

  test('south above north is rejected, never treated as empty', () => {
    expect(() => normalizeBounds('bounds', box(0, 2, 1, 1))).toThrow(
      expect.objectContaining({ code: 'BAD_USER_INPUT' }),
    );
    expect(() => normalizeBounds('bounds', box(0, 95, 1, 91))).toThrow(
      expect.objectContaining({ code: 'BAD_USER_INPUT' }),
    );
  });

  test('any finite rectangle has one or two disjoint parts with west <= east and finite, canonical edges', () => {
    const any = fc.oneof(
      aLng,
      fc.double({ noNaN: true, noDefaultInfinity: true }),
      fc.integer({ min: -2000, max: 2000 }),
    );
    fc.assert(
      fc.property(any, any, aLat, aLat, (west, east, a, b) => {
        const { bounds, parts } = normalizeBounds('b', box(west, Math.min(a, b), east, Math.max(a, b)));
        for (const value of [...edgesOf(bounds), ...parts.flatMap(edgesOf)]) {
          expect(Number.isFinite(value) && !Object.is(value, -0)).toBe(true);
        }
        for (const part of parts) expect(part.west <= part.east && Math.abs(part.east) <= 180).toBe(true);
        const [first, second] = [...parts].sort((p, q) => p.west - q.west);
        if (first && second) expect(first.east < second.west).toBe(true);
        expect(edgesOf(normalizeBounds('b', bounds).bounds)).toEqual(edgesOf(bounds));
      }),
    );
  });

  test('shifting bounds by whole turns changes nothing', () => {
    const degrees = fc.integer({ min: -180, max: 179 });
    fc.assert(
      fc.property(degrees, degrees, fc.integer({ min: -5, max: 5 }), (west, east, turns) => {
        const turned = area(west + 360 * turns, east + 360 * turns);
        for (let lng = -180; lng <= 180; lng++) {
          expect(areaContains(turned, { lng, lat: 0 })).toBe(areaContains(area(west, east), { lng, lat: 0 }));
        }
      }),
    );
  });
});

describe('cells and areas', () => {
  test('a cell with a position in the area overlaps it, and a contained cell has no position outside', () => {
    fc.assert(
      fc.property(
        anArea.chain((some) => fc.tuple(fc.constant(some), fc.oneof(pointsNear(some), aPoint))),
        fc.integer({ min: 1, max: 12 }),
        ([some, point], length) => {
          const cell = cellBounds(encode(point, length));
          if (areaContains(some, point)) expect(areaOverlapsCell(some, cell)).toBe(true);
          else expect(areaContainsCell(some, cell)).toBe(false);
          if (areaContainsCell(some, cell)) expect(areaOverlapsCell(some, cell)).toBe(true);
        },
      ),
      { numRuns: 2000 },
    );
  });

  test('a cell that only touches the area with its open western or southern edge does not overlap it', () => {
    const touching = normalizeBounds('b', box(-10, -10, 0, 0));
    expect(areaOverlapsCell(touching, box(0, -10, 10, 0))).toBe(false);
    expect(areaOverlapsCell(touching, box(-10, 0, 0, 10))).toBe(false);
    expect(areaOverlapsCell(normalizeBounds('b', box(0, 0, 5, 5)), box(-10, -10, 0, 0))).toBe(true);
  });

  test('an area that begins one double after an open edge contains the cell, one that begins two after does not', () => {
    const steps = { [-0.5]: 2 ** -54, 0: Number.MIN_VALUE, 45: 2 ** -47 } as const;
    for (const line of [-0.5, 0, 45] as const) {
      const cell = box(line, line, 50, 50);
      const by = (times: number) => {
        const edge = line + times * steps[line];
        return normalizeBounds('b', box(edge, edge, 50, 50));
      };
      expect([line, areaContainsCell(by(1), cell), areaContains(by(1), { lng: line, lat: line })]).toEqual([
        line,
        true,
        false,
      ]);
      expect([line, areaContainsCell(by(2), cell)]).toEqual([line, false]);
    }
    expect(areaContainsCell(normalizeBounds('b', box(-180 + 2 ** -45, -90, 0, 0)), box(-180, -90, 0, 0))).toBe(false);
  });
});
