import fc from 'fast-check';
import { describe, expect, test } from 'vitest';

import { Simplifier } from '../../src/geo/simplify.js';
import { atOnce } from '../../src/geo/steps.js';
import { readZoneGeometry as readInSteps, shapeOfGeometry } from '../../src/geo/zone-geometry.js';
import { expectRfc7946 } from '../support/rfc7946.js';
import { box, line, positions } from '../support/shapes.js';
import { polygonsOf, starWithHole } from './zone-shapes.js';

type Xy = readonly [number, number];
const readZoneGeometry = (field: string, value: unknown) => atOnce(readInSteps(field, value));
const read = (geometry: unknown) => readZoneGeometry('geometry', geometry).geometry;
const wrap = (lng: number) => ((((lng + 180) % 360) + 360) % 360) - 180;

/** Random walks, some of them around the globe more than once. */
const walk = fc
  .record({
    lng: fc.constantFrom(-180, 180, 0, 170, -179.5),
    steps: fc.array(
      fc.tuple(fc.oneof(fc.double({ min: -179, max: 179, noNaN: true }), fc.constantFrom(0, 10, 120)), fc.nat(160)),
      { minLength: 1, maxLength: 12 },
    ),
  })
  .map(({ lng, steps }) => {
    let x = lng;
    const rest = steps.map(([step, lat]): Xy => [wrap((x += step + 0.5)), lat - 80]);
    return [[lng, 0] as const, ...rest];
  });

/** Areas that circle the globe, or reach a pole along the antimeridian, by the longitude at which they start. */
const band = fc
  .tuple(fc.constantFrom(-180, -170, 0, 10, 100), fc.constantFrom(-90, -30, 60), fc.boolean())
  .map(([west, south, holed]) => {
    const outer = box(west, south, west + 360, south === -90 ? -60 : south + 30);
    return holed ? [outer, box(west + 90, south + 10, west + 200, south + 20)] : [outer];
  });

const flipped = (rings: readonly (readonly Xy[])[], flips: readonly boolean[]) =>
  rings.map((ring, n) => (flips[n % flips.length] ? ring.toReversed() : ring));
const inDegrees = (rings: readonly (readonly Xy[])[]) => rings.map((ring) => ring.map(([x, y]) => [wrap(x), y]));

const area = fc
  .tuple(
    starWithHole.chain(({ ring, hole }) => fc.constantFrom([ring], [ring, hole])),
    fc.array(fc.boolean(), { minLength: 1, maxLength: 3 }),
    fc.boolean(),
  )
  .map(([rings, flips, wrapped]) => (wrapped ? inDegrees(flipped(rings, flips)) : flipped(rings, flips)));

const geometry = fc.oneof(
  area.map((coordinates) => ({ type: 'Polygon', coordinates })),
  band.map((coordinates) => ({ type: 'Polygon', coordinates })),
  fc
    .array(fc.oneof(area, band), { minLength: 1, maxLength: 3 })
    .map((coordinates) => ({ type: 'MultiPolygon', coordinates })),
  walk.map((coordinates) => ({ type: 'LineString', coordinates })),
  fc.array(walk, { minLength: 1, maxLength: 3 }).map((coordinates) => ({ type: 'MultiLineString', coordinates })),
);

describe('the geometry of a zone', () => {
  test('is valid RFC 7946 for any input, in full and simplified', () => {
    fc.assert(
      fc.property(geometry, fc.integer({ min: 12, max: 100 }), (given, most) => {
        const made = read(given);
        expectRfc7946(JSON.stringify(made));
        expectRfc7946(JSON.stringify(atOnce(Simplifier.of(made)).at(most)));
        // However few positions are left: RFC 7946 allows edges longer than half the globe.
        for (const ring of polygonsOf(atOnce(Simplifier.of(made)).at(4)))
          expect(ring[0]?.length).toBeLessThanOrEqual(4);
      }),
      { numRuns: 200 },
    );
  });

  test('survives a round trip, with its bounding box and number of positions', () => {
    fc.assert(
      fc.property(geometry, (given) => {
        const { geometry: made, shape } = readZoneGeometry('geometry', given);
        expect(read(made)).toEqual(made);
        const again = shapeOfGeometry(made);
        expect(again.area).toEqual(shape.area);
        expect(again.vertices).toBe(shape.vertices);
      }),
      { numRuns: 150 },
    );
  });

  test('contains the same positions around the globe, wherever its ring starts', () => {
    for (const west of [-180, -170, 10, 100]) {
      const { geometry: made, shape } = readZoneGeometry('geometry', {
        type: 'Polygon',
        coordinates: [box(west, 0, west + 360, 10)],
      });
      for (const lng of [-180, -175, -100, 0, 15, 90, 150, 179]) {
        for (const one of [shape, shapeOfGeometry(made)]) {
          expect([west, lng, one.contains({ lng, lat: 5 }), one.contains({ lng, lat: 11 })]).toEqual([
            west,
            lng,
            true,
            false,
          ]);
        }
      }
    }
  });

  test('may be a line that circles the globe more than once, which covers all longitudes', () => {
    const coordinates = Array.from({ length: 10 }, (_, n): Xy => [wrap(100 + n * 120), n]);
    const { geometry: made, shape } = readZoneGeometry('geometry', { type: 'LineString', coordinates });
    expectRfc7946(JSON.stringify(made));
    for (const [lng, lat] of coordinates) expect(shape.contains({ lng, lat })).toBe(true);
    expect(shape.contains({ lng: -140, lat: 4.5 })).toBe(false);
  });

  test('may circle the globe and have a hole across the antimeridian', () => {
    const { geometry: made, shape } = readZoneGeometry('geometry', {
      type: 'Polygon',
      coordinates: [box(-180, -60, 180, 60), box(170, -10, 190, 10)],
    });
    expectRfc7946(JSON.stringify(made));
    for (const [lng, inside] of [
      [175, false],
      [-175, false],
      [165, true],
      [-165, true],
    ] as const) {
      expect([lng, shape.contains({ lng, lat: 0 })]).toEqual([lng, inside]);
      expect(shapeOfGeometry(made).contains({ lng, lat: 0 })).toBe(inside);
    }
  });

  test.each([
    ['a line without length', line('-180 0, 180 0'), 'geometry.coordinates'],
    [
      'a hole over the meridian where an area around the globe meets itself',
      { type: 'Polygon', coordinates: [box(10, -60, 370, 60), box(5, -10, 15, 10)] },
      'geometry.coordinates',
    ],
    [
      'a flat ring with no area left once it is cut',
      {
        type: 'Polygon',
        coordinates: [positions('170 0, -170 0, -175 0, 170 0')],
      },
      'geometry.coordinates',
    ],
    [
      'infinitely nested lists',
      { type: 'Polygon', coordinates: JSON.parse('['.repeat(50_000) + ']'.repeat(50_000)) as unknown },
      'geometry.coordinates[0][0]',
    ],
    [
      'digits that a number cannot represent',
      { type: 'Polygon', coordinates: [[[12345678901234567890n, 0]]] },
      'geometry.coordinates[0][0]',
    ],
    ['a geometry that names another', { type: 'Point', coordinates: [0, 0], geometry: null }, 'geometry.type'],
  ])('is rejected as bad input if it is %s', (_, given, field) => {
    expect(() => read(given)).toThrow(
      expect.objectContaining({ code: 'BAD_USER_INPUT', details: expect.objectContaining({ field }) }),
    );
  });

  test('may have a foreign member called geometry', () => {
    const given = { type: 'Polygon', coordinates: [box(0, 0, 1, 1)] };
    expect(read({ ...given, geometry: null })).toEqual(given);
  });
});
