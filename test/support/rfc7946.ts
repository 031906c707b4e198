import { check } from '@placemarkio/check-geojson';
import { expect } from 'vitest';

type Position = readonly [lng: number, lat: number, ...rest: number[]];

/** A GeoJSON value of any type, as far as it is checked here. */
interface Value {
  readonly type: string;
  readonly coordinates?: unknown;
  readonly geometry?: Value | null;
  readonly geometries?: readonly Value[];
  readonly features?: readonly Value[];
  readonly bbox?: readonly number[];
  readonly crs?: unknown;
}

/** How deep positions are nested in lists. */
const DEPTHS: Readonly<Record<string, number>> = {
  Point: 0,
  MultiPoint: 1,
  LineString: 1,
  MultiLineString: 2,
  Polygon: 2,
  MultiPolygon: 3,
};

/** The lists of positions in coordinates of this depth: lines and rings as a whole, points one by one. */
function linesOf(coordinates: unknown, depth: number): readonly (readonly Position[])[] {
  if (depth === 0) return [[coordinates as Position]];
  if (depth === 1) return [coordinates as readonly Position[]];
  return (coordinates as readonly unknown[]).flatMap((part) => linesOf(part, depth - 1));
}

/** A smaller ring, in square degrees, may be flat except for rounding, and then has no direction. */
const FLAT = 1e-12;

/** Twice the area of a ring, positive if it is counterclockwise. */
const turn = (ring: readonly Position[]): number =>
  ring.slice(1).reduce((sum, [lng, lat], at) => sum + (ring[at]?.[0] ?? 0) * lat - lng * (ring[at]?.[1] ?? 0), 0);

function expectGeometry({ type, coordinates, geometries, crs }: Value): void {
  expect(crs).toBeUndefined();
  geometries?.forEach(expectGeometry);
  const depth = DEPTHS[type];
  if (depth === undefined) return expect(type).toBe('GeometryCollection');
  const lines = linesOf(coordinates, depth);
  for (const line of lines) {
    // Swapped coordinates would show as values beyond 90 in worldwide data.
    const far = line.find(([lng, lat]) => !(Math.abs(lng) <= 180 && Math.abs(lat) <= 90));
    expect(far).toBeUndefined();
    // Once cut at the antimeridian, no edge is longer than half the globe.
    const leap = line.find(([lng], at) => Math.abs(lng - (line[at - 1]?.[0] ?? lng)) > 180);
    if (type.endsWith('LineString') || type.endsWith('Polygon')) expect(leap).toBeUndefined();
  }
  const polygons = type === 'Polygon' ? [coordinates] : type === 'MultiPolygon' ? coordinates : [];
  for (const [outer, ...holes] of polygons as readonly (readonly (readonly Position[])[])[]) {
    expect(turn(outer ?? [])).toBeGreaterThanOrEqual(-FLAT);
    for (const hole of holes) expect(turn(hole)).toBeLessThanOrEqual(FLAT);
  }
}

/**
 * Asserts that a value, as JSON, is valid RFC 7946: its members and their types (by an independent checker), longitude
 * first, positions in range, rings by the right-hand rule, no edges across the antimeridian, bounding boxes with
 * south below north, no crs.
 */
export function expectRfc7946(json: string): void {
  expect(() => check(json)).not.toThrow();
  const walk = (value: Value): void => {
    expect(value.crs).toBeUndefined();
    if (value.bbox !== undefined) {
      const [west = NaN, south = NaN, east = NaN, north = NaN] = value.bbox;
      expect(value.bbox).toHaveLength(4);
      for (const lng of [west, east]) expect(Math.abs(lng)).toBeLessThanOrEqual(180);
      expect(-90 <= south && south <= north && north <= 90).toBe(true);
    }
    if (value.type === 'FeatureCollection') value.features?.forEach(walk);
    else if (value.type !== 'Feature') expectGeometry(value);
    else if (value.geometry) expectGeometry(value.geometry);
  };
  walk(JSON.parse(json) as Value);
}
