import { normalizeBounds, type Area, type Bounds } from './bounds.js';
import type { Relation } from './cover.js';
import type { Shape } from './polygon.js';

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
