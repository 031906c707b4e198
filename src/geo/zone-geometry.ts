import { geometryOf, type ZoneGeometry } from './antimeridian.js';
import { normalizeBounds, type Area, type Bounds } from './bounds.js';
import type { Relation } from './cover.js';
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

const overlap = (a: Bounds, b: Bounds) =>
  a.west <= b.east && b.west <= a.east && a.south <= b.north && b.south <= a.north;
const contains = (a: Bounds, b: Bounds) =>
  a.west <= b.west && b.east <= a.east && a.south <= b.south && b.north <= a.north;

/** The number just below: unlike a cell, a bounding box includes its western and southern edges. */
const before = (degrees: number, least: number) =>
  degrees === least ? least : degrees - Number.EPSILON * Math.max(1, Math.abs(degrees));

/** Whether a zone intersects an area, judged by its bounding box alone; undefined if its geometry must be tested. */
export function boundsMeet(bounds: Bounds, area: Area): boolean | undefined {
  const { parts } = normalizeBounds('bounds', bounds);
  if (!parts.some((part) => area.parts.some((other) => overlap(part, other)))) return false;
  return parts.every((part) => area.parts.some((other) => contains(other, part))) ? true : undefined;
}

/** How a shape relates to a box, edges included. */
export function relationToBox(shape: Shape, box: Bounds): Relation {
  return shape.relationToCell({ ...box, west: before(box.west, -180), south: before(box.south, -90) });
}

/** Whether a shape and an area intersect, edges included. */
export function shapeMeets(shape: Shape, area: Area): boolean {
  return area.parts.some((part) => relationToBox(shape, part) !== 'outside');
}
