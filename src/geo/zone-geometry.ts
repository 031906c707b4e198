import { type ZoneGeometry, geometryOf } from './antimeridian.js';
import { type Part, type PathType, readPaths } from './paths.js';
import { type Shape, readShape } from './polygon.js';

/** What a zone can be: areas and lines. */
export const ZONE_TYPES = ['Polygon', 'MultiPolygon', 'LineString', 'MultiLineString'] as const satisfies PathType[];

/** Most positions of one zone, those that close rings included. */
export const MOST_ZONE_VERTICES = 500_000;

const LIMITS = { types: ZONE_TYPES, mostVertices: MOST_ZONE_VERTICES };

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
  const parts = readPaths(field, value, LIMITS);
  const inner = typeof value === 'object' && value !== null && 'geometry' in value ? value.geometry : value;
  const { type } = inner as { readonly type: PathType };
  return { geometry: geometryOf(parts, type.startsWith('Multi')), parts, shape: readShape(field, value, LIMITS) };
}

/** Whether a geometry has an inside. */
export function shapeIsArea({ type }: ZoneGeometry): boolean {
  return type === 'Polygon' || type === 'MultiPolygon';
}

/** The shape of a geometry that was checked when it was stored. */
export function shapeOfGeometry(geometry: ZoneGeometry): Shape {
  return readShape('geometry', geometry, LIMITS);
}
