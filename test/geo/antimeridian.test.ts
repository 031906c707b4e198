import fc from 'fast-check';
import { describe, expect, test } from 'vitest';

import { doubleArea } from '../../src/geo/antimeridian.js';
import { atOnce } from '../../src/geo/steps.js';
import { readZoneGeometry } from '../../src/geo/zone-geometry.js';
import { box, line, positions } from '../support/shapes.js';
import { polygonsOf, starWithHole, windingContains } from './zone-shapes.js';

const read = (geometry: unknown) => atOnce(readZoneGeometry('geometry', geometry)).geometry;

describe('a geometry that crosses the antimeridian', () => {
  test('is cut there, into closed rings within -180..180 that contain the same positions', () => {
    const crossing = starWithHole.filter(({ ring }) => ring.some(([lng]) => lng > 180 || lng < -180));
    const places = fc.infiniteStream(fc.double({ min: 0, max: 1, noNaN: true }));
    fc.assert(
      fc.property(crossing, fc.boolean(), places, ({ ring, hole }, holed, stream) => {
        const rings = holed ? [ring, hole] : [ring];
        const geometry = read({ type: 'Polygon', coordinates: rings });
        const pieces = polygonsOf(geometry);
        for (const piece of pieces.flat()) {
          expect(piece.length).toBeGreaterThanOrEqual(4);
          expect(piece.at(-1)).toEqual(piece[0]);
          for (const [lng] of piece) expect(Math.abs(lng)).toBeLessThanOrEqual(180);
        }
        for (const [outer, ...holes] of pieces) {
          expect(doubleArea(outer!)).toBeGreaterThan(0);
          for (const one of holes) expect(doubleArea(one)).toBeLessThan(0);
        }
        for (let n = 0; n < 60; n++) {
          const around = n % 3 === 0 ? hole : ring;
          const lngs = around.map(([lng]) => lng);
          const lats = around.map(([, lat]) => lat);
          const [west, south] = [Math.min(...lngs), Math.min(...lats)];
          const lng = west + stream.next().value! * (Math.max(...lngs) - west);
          const lat = south + stream.next().value! * (Math.max(...lats) - south);
          const wrapped = ((((lng + 180) % 360) + 360) % 360) - 180;
          const expected = windingContains([rings], [lng, lat]);
          const actual = windingContains(pieces, [wrapped, lat]);
          if (!expected.near && !actual.near && Math.abs(Math.abs(wrapped) - 180) > 1e-9) {
            expect(actual.inside).toBe(expected.inside);
          }
        }
      }),
      { numRuns: 300 },
    );
  });

  test('keeps both sides of where it touches the antimeridian with a corner', () => {
    const ring = positions('170 -4, 170 4, 185 4, 180 0, 185 -4, 170 -4');
    for (const turned of [ring, ring.toReversed()]) {
      const pieces = polygonsOf(read({ type: 'Polygon', coordinates: [turned] }));
      for (const position of positions('175 0.1, 179 3, -178 3, -178 -3')) {
        expect(windingContains(pieces, position).inside).toBe(true);
      }
    }
  });

  test('keeps a hole that touches its ring, wherever the hole begins', () => {
    // A comb whose two teeth cross the antimeridian.
    const comb = positions('170 0, 190 0, 190 4, 175 4, 175 6, 190 6, 190 10, 170 10, 170 0');
    const hole = positions('190 8, 186 9, 186 7');
    for (const start of [0, 1, 2]) {
      const turned = [...hole.slice(start), ...hole.slice(0, start + 1)];
      const pieces = polygonsOf(read({ type: 'Polygon', coordinates: [comb, turned] }));
      expect(windingContains(pieces, [-173, 8]).inside).toBe(false);
    }
  });

  test('may be cut into more than two parts, and may have a hole across the antimeridian', () => {
    // A comb whose three teeth cross the antimeridian.
    const comb = positions(
      '170 0, 190 0, 190 2, 175 2, 175 4, 190 4, 190 6, 175 6, 175 8, 190 8, 190 10, 170 10, 170 0',
    );
    const geometry = read({ type: 'Polygon', coordinates: [comb] });
    expect(geometry.type).toBe('MultiPolygon');
    expect(polygonsOf(geometry)).toHaveLength(4);
    const ring = read({ type: 'Polygon', coordinates: [box(170, 0, 190, 10), box(178, 4, 182, 6)] });
    // Both halves are a C, without holes.
    expect(polygonsOf(ring).map((rings) => rings.length)).toEqual([1, 1]);
    const apart = read({ type: 'Polygon', coordinates: [box(170, 0, 190, 10), box(185, 4, 186, 6)] });
    expect(polygonsOf(apart).map((rings) => rings.length)).toEqual([1, 2]);
  });

  test('becomes several lines if it is a line', () => {
    expect(read(line('170 0, -170 10, -160 10'))).toEqual({
      type: 'MultiLineString',
      coordinates: [positions('170 0, 180 5'), positions('-180 5, -170 10, -160 10')],
    });
  });
});

test('a geometry that does not cross the antimeridian stays unchanged, except that altitudes are dropped', () => {
  const polygon = {
    type: 'Polygon',
    coordinates: [positions('0 0, 1 0.1, 1 1, 0 0')],
  };
  expect(read(polygon)).toEqual(polygon);
  expect(read({ type: 'Feature', properties: {}, geometry: polygon })).toEqual(polygon);
  const high = [[0, 0, 100], [1, 1, 200]]; // prettier-ignore
  expect(read({ type: 'LineString', coordinates: high })).toEqual(line('0 0, 1 1'));
  const lines = {
    type: 'MultiLineString',
    coordinates: [positions('0 0, 1 1')],
  };
  expect(read(lines)).toEqual(lines);
  const many = { type: 'MultiPolygon', coordinates: [polygon.coordinates] };
  expect(read(many)).toEqual(many);
});

test.each([
  [{ type: 'Point', coordinates: [0, 0] }, 'type'],
  [{ type: 'GeometryCollection', geometries: [] }, 'type'],
  [{ type: 'Polygon', coordinates: [] }, 'coordinates'],
  [
    {
      type: 'Polygon',
      coordinates: [positions('0 0, 1 1, 0 0')],
    },
    'coordinates[0]',
  ],
  [{ type: 'LineString', coordinates: [[0, 0]] }, 'coordinates'],
  [
    {
      type: 'MultiLineString',
      coordinates: [positions('0 0, 0 99')],
    },
    'coordinates[0][1]',
  ],
])('%j is not a valid zone geometry, and the error names the invalid part', (geometry, part) => {
  expect(() => read(geometry)).toThrow(
    expect.objectContaining({
      code: 'BAD_USER_INPUT',
      details: expect.objectContaining({ field: expect.stringContaining(part) }),
    }),
  );
});
