import { type ZoneGeometry, geometryOf } from './antimeridian.js';
import { type Part, type PathType, readPaths } from './paths.js';
import { type Shape, readShape, shapeOf } from './polygon.js';

/** What a zone can be: areas and lines. */
export const ZONE_TYPES = ['Polygon', 'MultiPolygon', 'LineString', 'MultiLineString'] as const satisfies PathType[];

/** Maximum number of positions of one zone, including those that close rings. */
export const MOST_ZONE_VERTICES = 500_000;

/** For stored geometry: it was checked before, and may have a few positions more where it was cut. */
const STORED = { types: ZONE_TYPES, mostVertices: Infinity };

/** A zone's geometry, checked. */
export interface ReadGeometry {
  /** By RFC 7946. */
  readonly geometry: ZoneGeometry;
  readonly parts: readonly Part[];
  readonly shape: Shape;
}

/**
 * The geometry of a zone from a client: a Polygon, MultiPolygon, LineString or MultiLineString, or a Feature with one.
 * What crosses the antimeridian is cut there. Throws BAD_USER_INPUT naming `field` and the part that is wrong.
 */
export function readZoneGeometry(field: string, value: unknown): ReadGeometry {
  const given = readPaths(field, value, { ...STORED, mostVertices: MOST_ZONE_VERTICES });
  const geometry = geometryOf(field, given, isMultiple(value));
  // Covers are made from what will be stored.
  const parts = readPaths(field, geometry, STORED);
  return { geometry, parts, shape: shapeOf(parts) };
}

/** Whether a geometry, or that of a Feature, is of a type with several parts. */
function isMultiple(value: unknown): boolean {
  const { type, geometry } = value as { readonly type: string; readonly geometry?: unknown };
  return type === 'Feature' ? isMultiple(geometry) : type.startsWith('Multi');
}

/** Whether a geometry has an inside. */
export function shapeIsArea({ type }: ZoneGeometry): boolean {
  return type === 'Polygon' || type === 'MultiPolygon';
}

/** The shape of a geometry that was checked when it was stored. */
export function shapeOfGeometry(geometry: ZoneGeometry): Shape {
  return readShape('geometry', geometry, STORED);
}
