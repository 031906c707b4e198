import { geometryOf, type ZoneGeometry } from './antimeridian.js';
import { readPaths, type Part, type PathType } from './paths.js';
import { shapeInSteps as stepsTo, type Shape } from './polygon.js';
import { atOnce, type Steps } from './steps.js';

/** The geometry types of zones: areas and lines. */
export const ZONE_TYPES = ['Polygon', 'MultiPolygon', 'LineString', 'MultiLineString'] as const satisfies PathType[];

/** Maximum number of positions of one zone, including those that close rings. */
export const MOST_ZONE_VERTICES = 500_000;

/** For stored geometry, which has been validated; cutting at the antimeridian may have added a few positions. */
const STORED = { types: ZONE_TYPES, mostVertices: Infinity };

/** A zone's validated geometry. */
export interface ReadGeometry {
  /** According to RFC 7946. */
  readonly geometry: ZoneGeometry;
  readonly parts: readonly Part[];
  readonly shape: Shape;
}

/**
 * Validates a client's zone geometry, in steps: a Polygon, MultiPolygon, LineString or MultiLineString, or a Feature
 * with one. Parts that cross the antimeridian are cut there. Throws BAD_USER_INPUT naming `field` and the invalid part.
 */
export function* readZoneGeometry(field: string, value: unknown): Steps<ReadGeometry> {
  const given = readPaths(field, value, { ...STORED, mostVertices: MOST_ZONE_VERTICES });
  yield;
  const geometry = geometryOf(field, given, isMultiple(value));
  yield;
  // Covers are computed from the geometry as stored.
  const parts = readPaths(field, geometry, STORED);
  yield;
  return { geometry, parts, shape: yield* stepsTo(parts) };
}

/** Whether a geometry, or that of a Feature, is of a type with several parts. */
function isMultiple(value: unknown): boolean {
  const { type, geometry } = value as { readonly type: string; readonly geometry?: unknown };
  return type === 'Feature' ? isMultiple(geometry) : type.startsWith('Multi');
}

/** Whether a geometry has an interior. */
export function shapeIsArea({ type }: ZoneGeometry): boolean {
  return type === 'Polygon' || type === 'MultiPolygon';
}

/** The shape of a geometry that was validated when it was stored. */
export function shapeOfGeometry(geometry: ZoneGeometry): Shape {
  return atOnce(shapeInSteps(geometry));
}

/** The same in steps. */
export function* shapeInSteps(geometry: ZoneGeometry): Steps<Shape> {
  const parts = readPaths('geometry', geometry, STORED);
  yield;
  return yield* stepsTo(parts);
}
