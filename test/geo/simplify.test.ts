import fc from 'fast-check';
import { describe, expect, test } from 'vitest';

import { doubleArea, type Position, type ZoneGeometry } from '../../src/geo/antimeridian.js';
import { coarsened } from '../../src/geo/coarsen.js';
import { Simplifier } from '../../src/geo/simplify.js';
import { atOnce } from '../../src/geo/steps.js';
import { randomFrom } from '../support/random.js';
import { someOf } from '../support/rounds.js';
import { box, positions } from '../support/shapes.js';
import { polygonsOf, starWithHole, windingContains } from './zone-shapes.js';

type Xy = readonly [number, number];

const side = ([ax, ay]: Xy, [bx, by]: Xy, [x, y]: Xy) => Math.sign((bx - ax) * (y - ay) - (by - ay) * (x - ax));
const same = ([ax, ay]: Xy, [bx, by]: Xy) => ax === bx && ay === by;

/** Whether two edges cross in the interior of both. */
function cross(a: Xy, b: Xy, c: Xy, d: Xy): boolean {
  if (same(a, c) || same(a, d) || same(b, c) || same(b, d)) return false;
  return side(a, b, c) * side(a, b, d) < 0 && side(c, d, a) * side(c, d, b) < 0;
}

function expectNoCrossing(paths: readonly (readonly Xy[])[]): void {
  const edges = paths.flatMap((path) => path.slice(1).map((to, index) => [path[index]!, to] as const));
  edges.forEach(([a, b], index) => {
    for (const [c, d] of edges.slice(index + 1)) if (cross(a, b, c, d)) expect([a, b, c, d]).toBe('not crossing');
  });
}

const linesOf = (geometry: ZoneGeometry): readonly (readonly Xy[])[] =>
  geometry.type === 'LineString'
    ? [geometry.coordinates]
    : geometry.type === 'MultiLineString'
      ? geometry.coordinates
      : polygonsOf(geometry).flat();
const count = (geometry: ZoneGeometry) => linesOf(geometry).reduce((sum, path) => sum + path.length, 0);

/** Stars with holes beside each other, and islands in the holes, without crossing edges. */
const archipelago = fc.array(starWithHole, { minLength: 1, maxLength: 4 }).map((stars) =>
  stars.flatMap(({ ring, hole }, index) => {
    const [[x0, y0]] = [ring[0]!];
    const moved = (path: readonly Xy[], scale: number): Xy[] =>
      path.map(([x, y]) => [index * 1000 + (x - x0) * scale, (y - y0) * scale]);
    const center = hole.reduce(([sx, sy], [x, y]) => [sx + x / hole.length, sy + y / hole.length] as const, [
      0, 0,
    ] as Xy);
    const island = hole.map(([x, y]): Xy => [center[0] + (x - center[0]) / 20, center[1] + (y - center[1]) / 20]);
    return [[moved(ring, 1), moved(hole, 1).toReversed()], [moved(island, 1)]];
  }),
);

describe('a simplified polygon', () => {
  test('stays within its limit of positions, with closed rings, holes inside and no crossing edges', () => {
    fc.assert(
      fc.property(archipelago, fc.integer({ min: 4, max: 150 }), (coordinates, most) => {
        const geometry: ZoneGeometry = { type: 'MultiPolygon', coordinates };
        const simple = atOnce(Simplifier.of(geometry)).at(most);
        expect(count(simple)).toBeLessThanOrEqual(most);
        if (count(geometry) <= most) expect(simple).toEqual(geometry);
        const polygons = polygonsOf(simple);
        expect(polygons.length).toBeGreaterThan(0);
        expectNoCrossing(polygons.flat());
        const given = new Set(coordinates.flat(2).map(String));
        for (const [outer, ...holes] of polygons) {
          for (const ring of [outer!, ...holes]) {
            expect(ring.length).toBeGreaterThanOrEqual(4);
            expect(ring.at(-1)).toEqual(ring[0]);
            expect(doubleArea(ring)).not.toBe(0);
            for (const position of ring) expect(given.has(String(position))).toBe(true);
          }
          for (const hole of holes) {
            for (const position of hole) expect(windingContains([[outer!]], position).inside).toBe(true);
          }
        }
      }),
      { numRuns: someOf(300) },
    );
  });

  test('keeps the larger of two islands and its coastline', () => {
    const circle = (x: number, radius: number): Xy[] =>
      Array.from({ length: 361 }, (_, n): Xy => [
        x + radius * Math.cos((n % 360) * (Math.PI / 180)),
        radius * Math.sin((n % 360) * (Math.PI / 180)),
      ]);
    const simple = atOnce(
      Simplifier.of({ type: 'MultiPolygon', coordinates: [[circle(0, 0.1)], [circle(50, 10)]] }),
    ).at(30);
    const [[outer]] = polygonsOf(simple) as [[Xy[]]];
    expect(polygonsOf(simple)).toHaveLength(1);
    expect(outer.length).toBeGreaterThan(20);
    expect(doubleArea(outer) / 2).toBeGreaterThan(0.95 * Math.PI * 100);
  });

  test('never makes a headland cross its own bay', () => {
    // A comb with narrow teeth, each of which is blocked by another one.
    const teeth = Array.from({ length: 30 }, (_, n): Xy[] => [
      [n, 0],
      [n + 0.1, 10],
      [n + 0.2, 10],
      [n + 0.3, 0.1],
    ]).flat();
    const ring: Xy[] = [...teeth, [31, -5], [-1, -5], [0, 0]];
    const simplifier = atOnce(Simplifier.of({ type: 'Polygon', coordinates: [ring] }));
    for (let most = 4; most <= ring.length; most += 3) {
      const simple = simplifier.at(most);
      expect(count(simple)).toBeLessThanOrEqual(most);
      expectNoCrossing(linesOf(simple));
    }
  });
});

test('a simplified line keeps its ends, and the longest of several lines', () => {
  const wave = Array.from({ length: 200 }, (_, n): Xy => [n / 10, Math.sin(n / 5)]);
  for (const most of [4, 10, 50, 500]) {
    const simple = atOnce(Simplifier.of({ type: 'LineString', coordinates: wave })).at(most);
    const [line] = linesOf(simple);
    expect(line!.length).toBeLessThanOrEqual(most);
    expect([line![0], line!.at(-1)]).toEqual([wave[0], wave.at(-1)]);
    const short: Xy[] = positions('0 50, 0.1 50, 0.1 50.1');
    const several = atOnce(Simplifier.of({ type: 'MultiLineString', coordinates: [short, wave] })).at(4);
    expect(linesOf(several).at(-1)!.at(-1)).toEqual(wave.at(-1));
    expect(count(several)).toBeLessThanOrEqual(4);
  }
});

const TOLERANCE = 0.35;
const coarse = (geometry: ZoneGeometry) => atOnce(coarsened(geometry, TOLERANCE));
const ringsOf = (geometry: ZoneGeometry) => polygonsOf(geometry).flat();
const square = (x: number, y: number, size: number) => box(x, y, x + size, y + size);

test('neighbors keep their common border, except near its ends', () => {
  fc.assert(
    fc.property(fc.integer(), (seed) => {
      const random = randomFrom(seed);
      const border = Array.from({ length: 2_000 }, (_, index): Position => [random() / 2, index / 100]);
      const [first, last] = [border[0]!, border.at(-1)!];
      const west = [[...border, [-9, last[1]], [-9, first[1]], first]] as Position[][];
      const east = [[...border.toReversed(), [9, first[1]], [9, last[1]], last]] as Position[][];
      const [left, right] = [west, east].map((rings) => {
        const ring = ringsOf(coarse({ type: 'Polygon', coordinates: rings }))[0] ?? [];
        return ring.filter(([lng, lat]) => Math.abs(lng) < 1 && lat > 1 && lat < 19).map(String);
      });
      expect(left?.length).toBeLessThan(200);
      expect(left?.toSorted()).toEqual(right?.toSorted());
    }),
    { numRuns: 30 },
  );
});

test('parts smaller than the tolerance are dropped, except for the largest', () => {
  const coordinates = [[square(0, 0, 5), square(1, 1, 0.1), square(2, 2, 1)], [square(10, 0, 0.2)], [square(20, 0, 1)]];
  expect(ringsOf(coarse({ type: 'MultiPolygon', coordinates }))).toHaveLength(3);
  const tiny = coarse({ type: 'MultiPolygon', coordinates: [[square(3, 3, 0.001)], [square(4, 4, 0.002)]] });
  expect(ringsOf(tiny)).toEqual([expect.arrayContaining([expect.arrayContaining([4])])]);
  expect(coarse({ type: 'LineString', coordinates: [[1, 1], [1.0001, 1]] }).coordinates).toHaveLength(2); // prettier-ignore
});
