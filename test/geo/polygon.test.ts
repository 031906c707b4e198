import fc from 'fast-check';
import { describe, expect, test } from 'vitest';

import { CellportError } from '../../src/errors.js';
import type { Point } from '../../src/geo/bounds.js';
import { cellBounds, encode } from '../../src/geo/geohash.js';
import { readPaths, type PathLimits } from '../../src/geo/paths.js';
import { shapeOf, type Shape } from '../../src/geo/polygon.js';
import { someOf } from '../support/rounds.js';
import { box, positions } from '../support/shapes.js';
import { bruteRing } from './zone-shapes.js';

type Ring = readonly (readonly [number, number])[];

const LIMITS = { types: ['Polygon', 'MultiPolygon', 'LineString', 'MultiLineString'], mostVertices: 10_000 } as const;
const readShape = (field: string, value: unknown, limits: PathLimits): Shape =>
  shapeOf(readPaths(field, value, limits));
const polygon = (...rings: readonly Ring[]): Shape =>
  readShape('polygon', { type: 'Polygon', coordinates: rings }, LIMITS);
const multi = (...polygons: readonly (readonly Ring[])[]): Shape =>
  readShape('polygon', { type: 'MultiPolygon', coordinates: polygons }, LIMITS);

/** Coordinates are multiples of this, so that their products are exact. */
const GRID = 1 / 64;

const brutePolygon = ([outer = [], ...holes]: readonly Ring[], x: number, y: number) =>
  bruteRing(outer, x, y) !== 'out' && holes.every((hole) => bruteRing(hole, x, y) !== 'in');

const aStep = (span: number) => fc.integer({ min: -span / GRID, max: span / GRID }).map((step) => step * GRID);

/** A star around a center, with corners on the grid, sometimes with a smaller one as a hole. */
const aStar = fc
  .record({
    x: aStep(100),
    y: aStep(50),
    radius: fc.constantFrom(0.5, 3, 30),
    corners: fc.array(fc.double({ min: 0.4, max: 1, noNaN: true }), { minLength: 3, maxLength: 40 }),
    hole: fc.boolean(),
  })
  .map(({ x, y, radius, corners, hole }): Ring[] => {
    const snap = (value: number) => Math.round(value / GRID) * GRID;
    const star = (scale: number): Ring => {
      const ring = corners.map((reach, index): [number, number] => {
        const angle = (2 * Math.PI * index) / corners.length;
        return [snap(x + radius * scale * reach * Math.cos(angle)), snap(y + radius * scale * reach * Math.sin(angle))];
      });
      return [...ring, ring[0]!];
    };
    return hole ? [star(1), star(0.5)] : [star(1)];
  })
  .filter((rings) => rings.every((ring) => ring.some(([x, y]) => x !== ring[0]![0] || y !== ring[0]![1])));

/** Positions on corners, on edges, beside them, and nearby. */
const pointsOf = (rings: readonly Ring[]) => {
  const corners = rings.flat();
  const xs = corners.map(([x]) => x);
  const ys = corners.map(([, y]) => y);
  const within = (values: readonly number[]) =>
    fc
      .integer({ min: Math.floor((Math.min(...values) - 1) / GRID), max: Math.ceil((Math.max(...values) + 1) / GRID) })
      .map((step) => step * GRID);
  return fc.oneof(
    fc.constantFrom(...corners),
    fc
      .tuple(fc.constantFrom(...corners), fc.constantFrom(0, GRID, -GRID))
      .map(([[x, y], off]) => [x + off, y] as const),
    fc.tuple(fc.constantFrom(...corners), within(xs)).map(([[, y], x]) => [x, y] as const),
    fc.tuple(...([fc.nat({ max: 1e6 }), fc.constantFrom(0.25, 0.5, 0.75)] as const)).map(([nth, share]) => {
      const ring = rings[nth % rings.length]!;
      const at = 1 + (nth % (ring.length - 1));
      const [[ax, ay], [bx, by]] = [ring[at - 1]!, ring[at]!];
      return [ax + (bx - ax) * share, ay + (by - ay) * share] as const;
    }),
    fc.tuple(within(xs), within(ys)),
  );
};

const aQuestion = aStar.chain((rings) =>
  fc.tuple(fc.constant(rings), fc.array(pointsOf(rings), { minLength: 20, maxLength: 40 })),
);

describe('a polygon', () => {
  test('contains its inside and edges but not its holes, like a brute-force test of every edge', () => {
    fc.assert(
      fc.property(aQuestion, ([rings, points]) => {
        const shape = polygon(...rings);
        for (const [lng, lat] of points) {
          if (shape.contains({ lng, lat }) !== brutePolygon(rings, lng, lat)) expect.fail(`${lng} ${lat}`);
        }
      }),
      { numRuns: someOf(400) },
    );
  });

  test('is the same at the antimeridian, whether cut in two, continued beyond 180 or wrapped to the other side', () => {
    fc.assert(
      fc.property(aQuestion, fc.constantFrom(170, 190, -185, 179.5), ([rings, points], turn) => {
        const wrap = (lng: number) => (lng > 180 ? lng - 360 : lng < -180 ? lng + 360 : lng);
        const middle = rings[0]![0]![0];
        // The star, moved so that the antimeridian crosses it or is close to it.
        const moved = rings.map((ring) => ring.map(([x, y]) => [x - middle + turn, y] as const));
        const running = polygon(...moved);
        const jumping = polygon(...moved.map((ring) => ring.map(([x, y]) => [wrap(x), y] as const)));
        for (const [x, lat] of points) {
          const lng = wrap(x - middle + turn);
          const expected = brutePolygon(rings, x, lat);
          expect([running.contains({ lng, lat }), jumping.contains({ lng, lat })]).toEqual([expected, expected]);
        }
      }),
    );
    const cut = multi([box(170, -10, 180, 10)], [box(-180, -10, -170, 10)]);
    const whole = polygon(box(170, -10, 190, 10));
    const jump = polygon(box(170, -10, -170, 10));
    for (const lng of [169.9, 170, 175, 180, -180, -175, -170, -169.9]) {
      for (const shape of [cut, whole, jump]) expect(shape.contains({ lng, lat: 10 })).toBe(Math.abs(lng) >= 170);
    }
    for (const shape of [cut, whole, jump]) {
      expect(shape.area.bounds).toEqual({ west: 170, south: -10, east: -170, north: 10 });
    }
  });

  test('may be the whole world with a hole across the antimeridian, or Antarctica closed along the pole', () => {
    const world = polygon(box(-180, -90, 180, 90), box(170, -10, -170, 10));
    expect(world.area.bounds).toEqual({ west: -180, south: -90, east: 180, north: 90 });
    for (const [lng, lat, inside] of [
      [0, 0, true],
      [180, 0, false],
      [-180, 0, false],
      [175, 9, false],
      [-175, -9, false],
      [170, 0, true],
      [-170, 0, true],
      [180, 10, true],
      [-180, 11, true],
      [0, 90, true],
    ] as const) {
      expect([lng, lat, world.contains({ lng, lat })]).toEqual([lng, lat, inside]);
    }
    expect(world.relationToCell(cellBounds('xb'))).toBe('cut');
    expect(world.relationToCell(cellBounds('u'))).toBe('inside');

    const coast = [-180, -90, 0, 90, 180].map((lng) => [lng, -70 + lng / 90] as const);
    const antarctic = polygon([...coast, [180, -90], [-180, -90], coast[0]!]);
    expect(antarctic.contains({ lng: 45, lat: -80 })).toBe(true);
    expect(antarctic.contains({ lng: -180, lat: -90 })).toBe(true);
    expect(antarctic.contains({ lng: 45, lat: -60 })).toBe(false);
    expect(antarctic.area.bounds).toEqual({ west: -180, south: -90, east: 180, north: -68 });
  });

  test('may consist of several polygons, which may overlap', () => {
    const several = multi(
      [box(0, 0, 10, 10), box(2, 2, 8, 8)],
      [box(4, 4, 12, 12)],
      [box(-170, 50, -160, 60)],
      [box(175, 50, 185, 60)],
    );
    const inside = (lng: number, lat: number) => several.contains({ lng, lat });
    expect([inside(3, 3), inside(5, 5), inside(1, 1), inside(11, 11), inside(2, 5)]).toEqual([
      false,
      true,
      true,
      true,
      true,
    ]);
    expect([inside(-178, 55), inside(-165, 55), inside(-172, 55)]).toEqual([true, true, false]);
    // Everything but the gap from 12 to 175, which is wider than the one from -160 to 0.
    expect(several.area.bounds).toEqual({ west: 175, south: 0, east: 12, north: 60 });
    const around = multi([box(100, 0, 200, 1)], [box(-170, 0, -20, 1)], [box(-30, 0, 40, 1)]);
    expect(around.area.bounds).toEqual({ west: 100, south: 0, east: 40, north: 1 });
  });

  test('classifies cells as inside, outside or crossing', () => {
    let cut = 0;
    let whole = 0;
    fc.assert(
      fc.property(aQuestion, fc.integer({ min: 1, max: 4 }), ([rings, points], length) => {
        const shape = polygon(...rings);
        for (const [lng, lat] of points) {
          const { west, south, east, north } = cellBounds(encode({ lng, lat }, length));
          const relation = shape.relationToCell({ west, south, east, north });
          if (relation === 'cut') {
            cut++;
            const meets = ([ax, ay]: readonly [number, number], [bx, by]: readonly [number, number]) =>
              Math.max(ax, bx) >= west &&
              Math.min(ax, bx) <= east &&
              Math.max(ay, by) >= south &&
              Math.min(ay, by) <= north;
            expect(rings.some((ring) => ring.some((end, index) => index > 0 && meets(ring[index - 1]!, end)))).toBe(
              true,
            );
            continue;
          }
          whole++;
          const steps = [0.001, 0.25, 0.5, 0.75, 1];
          for (const x of steps) {
            for (const y of steps) {
              const point: Point = { lng: west + x * (east - west), lat: south + y * (north - south) };
              if (shape.contains(point) !== (relation === 'inside')) expect.fail(`${relation} ${lng} ${lat}`);
            }
          }
          // The position may be exactly on the cell's edge.
          expect(brutePolygon(rings, lng, lat)).toBe(relation === 'inside');
        }
      }),
      { numRuns: 250 },
    );
    expect(Math.min(cut, whole)).toBeGreaterThan(500);
  });

  test('with the edges of a cell contains that cell, and crosses only the neighbors that own one of these edges', () => {
    const { west, south, east, north } = cellBounds('u33d');
    const shape = polygon(box(west, south, east, north));
    expect(shape.relationToCell({ west, south, east, north })).toBe('inside');
    const [width, height] = [east - west, north - south];
    const beside = (x: number, y: number) =>
      shape.relationToCell({
        west: west + x * width,
        south: south + y * height,
        east: east + x * width,
        north: north + y * height,
      });
    expect([beside(-1, 0), beside(0, -1), beside(1, 0), beside(0, 1)]).toEqual(['cut', 'cut', 'outside', 'outside']);
  });

  test('of 10,000 vertices gives the same answers as a brute-force test of every edge', () => {
    const random = (n: number) => ((Math.sin(n) * 43758.5453) % 1) ** 2;
    const ring = Array.from({ length: 9_998 }, (_, n): [number, number] => {
      const angle = (2 * Math.PI * n) / 9_998;
      const reach = 20 + 10 * random(n);
      return [Math.round((reach * Math.cos(angle)) / GRID) * GRID, Math.round((reach * Math.sin(angle)) / GRID) * GRID];
    });
    const closed: Ring = [...ring, ring[0]!];
    const shape = polygon(closed);
    expect(shape.vertices).toBe(9_999);
    let inside = 0;
    for (let n = 0; n < 1000; n++) {
      const [lng, lat] = [Math.round(Math.sin(n) * 30 * 64) / 64, Math.round(Math.cos(7 * n) * 30 * 64) / 64];
      const expected = bruteRing(closed, lng, lat) !== 'out';
      if (expected) inside++;
      if (shape.contains({ lng, lat }) !== expected) expect.fail(`${lng} ${lat}`);
    }
    expect(inside).toBeGreaterThan(100);
  });
});

test('a line contains the positions on it, and crosses the cells it passes through', () => {
  const line = readShape(
    'line',
    { type: 'LineString', coordinates: [[170, 0], [-170, 10], [-170, 20]] }, // prettier-ignore
    LIMITS,
  );
  expect([line.contains({ lng: 180, lat: 5 }), line.contains({ lng: -180, lat: 5 })]).toEqual([true, true]);
  expect([line.contains({ lng: 180, lat: 6 }), line.contains({ lng: -170, lat: 15 })]).toEqual([false, true]);
  expect(line.relationToCell(cellBounds('xb'))).toBe('cut');
  expect(line.relationToCell(cellBounds('u'))).toBe('outside');
  expect(line.area.bounds).toEqual({ west: 170, south: 0, east: -170, north: 20 });
});

test('a Feature is read as its geometry, and altitudes are dropped', () => {
  const coordinates = [box(0, 0, 1, 1).map(([lng, lat]) => [lng, lat, 100])];
  const shape = readShape(
    'p',
    { type: 'Feature', properties: null, geometry: { type: 'Polygon', coordinates } },
    LIMITS,
  );
  expect(shape.contains({ lng: 1, lat: 0.5 })).toBe(true);
});

const square = box(0, 0, 1, 1);
test.each([
  ['polygon', 'a GeoJSON geometry of type Polygon', null],
  ['polygon.type', 'a GeoJSON geometry of type Polygon', { type: 'Point', coordinates: [0, 0] }],
  ['polygon.geometry', 'a GeoJSON geometry of type Polygon', { type: 'Feature', geometry: null }],
  ['polygon.coordinates', 'a non-empty list of rings', { type: 'Polygon' }],
  ['polygon.coordinates', 'a non-empty list of rings', { type: 'Polygon', coordinates: [] }],
  ['polygon.coordinates[0]', 'a non-empty list of rings', { type: 'MultiPolygon', coordinates: [[]] }],
  ['polygon.coordinates[0]', 'a closed ring', { type: 'Polygon', coordinates: [square.slice(1)] }],
  ['polygon.coordinates[0]', 'a ring of at least 4 positions', { type: 'Polygon', coordinates: [square.slice(0, 3)] }],
  [
    'polygon.coordinates[0]',
    'two different positions',
    {
      type: 'Polygon',
      coordinates: [positions('0 0, 0 0, 0 0, 0 0')],
    },
  ],
  [
    'polygon.coordinates[0][2]',
    'a position',
    {
      type: 'Polygon',
      coordinates: [
        [
          [0, 0],
          [1, 0],
          [1, '1'],
          [0, 0],
        ],
      ],
    },
  ],
  ['polygon.coordinates[0][2]', 'a position', { type: 'Polygon', coordinates: [[[0, 0], [1, 0], 7, [0, 0]]] }],
  [
    'polygon.coordinates[1][1][1]',
    'swapped?',
    {
      type: 'Polygon',
      coordinates: [square, positions('0 0, 52 113, 1 1, 0 0')],
    },
  ],
  [
    'polygon.coordinates[0][1][0]',
    'a longitude',
    {
      type: 'Polygon',
      coordinates: [
        [
          [0, 0],
          [Number.NaN, 0],
          [1, 1],
          [0, 0],
        ],
      ],
    },
  ],
  [
    'polygon.coordinates[0][1][0]',
    'a longitude',
    {
      type: 'Polygon',
      coordinates: [positions('0 0, 541 0, 1 1, 0 0')],
    },
  ],
  [
    'polygon.coordinates[0]',
    'around a pole',
    {
      type: 'Polygon',
      coordinates: [positions('0 80, 120 80, -120 80, 0 80')],
    },
  ],
  [
    'polygon.coordinates[0]',
    '360 degrees wide',
    {
      type: 'Polygon',
      coordinates: [positions('0 0, 170 0, 340 0, 500 0, 340 9, 170 9, 0 0')],
    },
  ],
  [
    'polygon.coordinates',
    'at most 10000 positions',
    { type: 'Polygon', coordinates: [Array.from({ length: 10_001 }, () => [0, 0])] },
  ],
] as const)('an invalid polygon is rejected at %s: %s', (field, allowed, value) => {
  const read = () => readShape('polygon', value, { types: ['Polygon', 'MultiPolygon'], mostVertices: 10_000 });
  expect(read).toThrow(CellportError);
  expect(read).toThrow(
    expect.objectContaining({ code: 'BAD_USER_INPUT', details: expect.objectContaining({ field }) }),
  );
  expect(read).toThrow(allowed);
});
