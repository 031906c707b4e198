import fc from 'fast-check';
import { describe, expect, test } from 'vitest';

import { geohashOf } from '../../src/client/geohash.js';
import {
  holds,
  joinTiles,
  levelAt,
  surroundings,
  tileBounds,
  tileKeys,
  tilesOver,
  type TileRect,
} from '../../src/client/tiles.js';
import { cellBounds, encode, latBits, lngBits } from '../../src/geo/geohash.js';

const level = fc.integer({ min: 0, max: 22 });
const rectangle = level.chain((at) => {
  const count = 2 ** at;
  return fc
    .record({
      column: fc.oneof(fc.constantFrom(0, count - 1), fc.integer({ min: 0, max: count - 1 })),
      row: fc.oneof(fc.constantFrom(0, count - 1), fc.integer({ min: 0, max: count - 1 })),
      columns: fc.integer({ min: 1, max: Math.min(count, 6) }),
      rows: fc.integer({ min: 1, max: 6 }),
    })
    .map((rect): TileRect => ({ level: at, ...rect, rows: Math.min(rect.rows, count - rect.row) }));
});
const world: TileRect = { level: 3, column: 0, row: 0, columns: 8, rows: 8 };
const tilesOf = (rect: TileRect): TileRect[] =>
  tileKeys(rect).map((key) => {
    const [at = 0, column = 0, row = 0] = key.split('/').map(Number);
    return { level: at, column, row, columns: 1, rows: 1 };
  });

/** Positions anywhere, on edges of tiles, and one double beside these. */
const onLines = fc
  .record({
    x: fc.integer({ min: 0, max: 8 }),
    y: fc.integer({ min: 0, max: 8 }),
    by: fc.constantFrom(-1e-13, 0, 1e-13),
  })
  .map(({ x, y, by }) => ({
    lng: Math.max(-180, Math.min(180, x * 45 - 180 + by)),
    lat: Math.max(-90, Math.min(90, y * 22.5 - 90 + by)),
  }));
const position = fc.oneof(
  onLines,
  fc.record({
    lng: fc.double({ min: -180, max: 180, noNaN: true }),
    lat: fc.double({ min: -90, max: 90, noNaN: true }),
  }),
);

describe('tiles', () => {
  test('partition the world: each position belongs to exactly one tile of a level', () => {
    fc.assert(
      fc.property(position, (place) => {
        expect(tilesOf(world).filter((tile) => holds(tileBounds(tile), place))).toHaveLength(1);
      }),
      { numRuns: 2_000 },
    );
  });

  test('contain the same positions as their geohash cells, including those on edges', () => {
    fc.assert(
      fc.property(position, (place) => {
        const geohash = encode(place, 4);
        const cell = cellBounds(geohash);
        const tile = { level: lngBits(4), columns: 1, rows: 1 };
        const column = Math.round(((cell.west + 180) / 360) * 2 ** lngBits(4));
        const row = Math.round(((cell.south + 90) / 180) * 2 ** latBits(4));
        expect(lngBits(4)).toBe(latBits(4));
        expect(holds(tileBounds({ ...tile, column, row }), place)).toBe(true);
      }),
      { numRuns: 2_000 },
    );
  });

  test('contain exactly the positions in the bounds of their rectangle, across the antimeridian too', () => {
    fc.assert(
      fc.property(rectangle, position, (rect, place) => {
        const inOne = tilesOf(rect).some((tile) => holds(tileBounds(tile), place));
        expect(holds(tileBounds(rect), place)).toBe(inOne);
      }),
      { numRuns: 2_000 },
    );
  });

  test('cover the screen and its padding wherever the map is panned', () => {
    const view = fc.record({
      west: fc.double({ min: -800, max: 800, noNaN: true }),
      width: fc.double({ min: 0, max: 700, noNaN: true }),
      south: fc.double({ min: -90, max: 90, noNaN: true }),
      height: fc.double({ min: 0, max: 180, noNaN: true }),
      zoom: fc.double({ min: -2, max: 6, noNaN: true }),
      inX: fc.double({ min: 0, max: 1, noNaN: true }),
      inY: fc.double({ min: 0, max: 1, noNaN: true }),
    });
    fc.assert(
      fc.property(view, ({ west, width, south, height, zoom, inX, inY }) => {
        const north = Math.min(90, south + height);
        const rect = tilesOver({ west, south, east: west + width, north }, zoom, 64, levelAt(zoom));
        const lng = west + inX * width;
        const wrapped = ((((lng + 180) % 360) + 360) % 360) - 180;
        expect(holds(tileBounds(rect), { lng: wrapped, lat: south + inY * (north - south) })).toBe(true);
        expect(rect.columns).toBeLessThanOrEqual(2 ** rect.level);
      }),
      { numRuns: 2_000 },
    );
  });

  test('are joined into rectangles that contain each wanted tile once, and no others', () => {
    const wanted = rectangle.chain((rect) =>
      fc.record({ rect: fc.constant(rect), flags: fc.array(fc.boolean(), { minLength: 36, maxLength: 36 }) }),
    );
    fc.assert(
      fc.property(wanted, ({ rect, flags }) => {
        const keys = tileKeys(rect);
        const chosen = new Set(keys.filter((_, at) => flags[at]));
        const joined = joinTiles(rect, (key) => chosen.has(key)).flatMap(tileKeys);
        expect(joined.toSorted()).toEqual([...chosen].toSorted());
      }),
      { numRuns: 2_000 },
    );
  });

  test('form one rectangle if all are wanted, and one or two if a pan uncovers them', () => {
    const before = new Set(tileKeys({ level: 8, column: 254, row: 10, columns: 4, rows: 3 }));
    const rect = { level: 8, column: 255, row: 11, columns: 4, rows: 3 };
    expect(joinTiles(rect, () => true)).toEqual([rect]);
    expect(joinTiles(rect, (key) => !before.has(key))).toHaveLength(2);
  });
});

test('geohashes are those of the server', () => {
  fc.assert(
    fc.property(position, fc.integer({ min: 1, max: 12 }), (at, length) => {
      expect(geohashOf(at, length)).toBe(encode(at, length));
    }),
  );
});

test('surroundings contain the tiles and whatever is less than half a tile away from them', () => {
  fc.assert(
    fc.property(rectangle, position, fc.double({ min: -0.49, max: 0.49, noNaN: true }), (rect, at, by) => {
      fc.pre(holds(tileBounds(rect), at));
      const [lng, lat] = [at.lng + (by * 360) / 2 ** rect.level, at.lat + (by * 180) / 2 ** rect.level];
      const near = { lng: ((((lng + 180) % 360) + 360) % 360) - 180, lat: Math.max(-90, Math.min(90, lat)) };
      expect(holds(surroundings(rect), near)).toBe(true);
    }),
    { numRuns: 1_000 },
  );
});
