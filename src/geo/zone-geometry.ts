import { type ZoneGeometry, geometryOf } from './antimeridian.js';
import { type Part, type PathType, readPaths } from './paths.js';
import { type Shape, readShape, shapeOf } from './polygon.js';

/** What a zone can be: areas and lines. */
export const ZONE_TYPES = ['Polygon', 'MultiPolygon', 'LineString', 'MultiLineString'] as const satisfies PathType[];

/** Most positions of one zone, those that close rings included. */
export const MOST_ZONE_VERTICES = 500_000;

/** Of what was checked when it was stored, which may have a few positions more, where it was cut. */
const STORED = { types: ZONE_TYPES, mostVertices: Infinity };

/** A zone's geometry, checked. */
export interface ReadGeometry {
  /** As RFC 7946 writes it. */
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
  // What is covered is what will be read again.
  const parts = readPaths(field, geometry, STORED);
  return { geometry, parts, shape: shapeOf(parts) };
}

/** Whether a geometry that was read, or that of a Feature, is of one of the types with several parts. */
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
