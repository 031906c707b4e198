import type { ZRange } from '../../geo/geohash.js';
import { countPositions, readPaths } from '../../geo/paths.js';
import { coverForSearch, shapeInSteps, type Shape } from '../../geo/polygon.js';
import { atOnce, type Steps } from '../../geo/steps.js';
import { remembered } from '../../loaders/remembered.js';
import type { Collection } from '../../model/collection.js';
import type { MapMarker } from '../../model/marker.js';
import type { MapContext } from '../../read/context.js';
import type { MarkerFilterInput } from '../../read/filter.js';
import { inTurns, type Turn } from '../../scheduling/turns.js';
import { readConnection, type ConnectionArguments, type MarkerConnection } from '../connection.js';

/** Maximum number of positions of a polygon, including those that close its rings. */
const MOST_VERTICES = 10_000;

/** A shape, with Z-order ranges that cover it. */
interface CoveredShape {
  readonly shape: Shape;
  readonly cover: readonly ZRange[];
}

function* coveredShape(polygon: unknown): Steps<CoveredShape> {
  const parts = readPaths('polygon', polygon, { types: ['Polygon', 'MultiPolygon'], mostVertices: MOST_VERTICES });
  yield;
  const shape = yield* shapeInSteps(parts);
  return { shape, cover: yield* coverForSearch(shape) };
}

/**
 * Polygons with up to this many positions are parsed at once, so that their markers are read together with those of
 * other fields.
 */
const FEW_VERTICES = 500;

async function readInTurns(polygon: unknown, turn: Turn): Promise<CoveredShape> {
  await turn();
  return inTurns(coveredShape(polygon), turn);
}

/** Shapes of large polygons, shared by fields that use the same variable, and by requests that use the same literal. */
const shapes = new WeakMap<object, Promise<CoveredShape>>();

function readPolygon(polygon: unknown, turn: Turn): CoveredShape | Promise<CoveredShape> {
  const { coordinates, geometry } = (polygon ?? {}) as { coordinates?: unknown; geometry?: { coordinates?: unknown } };
  const isSmall = countPositions(coordinates ?? geometry?.coordinates) <= FEW_VERTICES;
  if (isSmall || typeof polygon !== 'object' || polygon === null) return atOnce(coveredShape(polygon));
  return remembered(shapes, polygon, () => readInTurns(polygon, turn));
}

/**
 * A connection of the markers inside a GeoJSON Polygon or MultiPolygon, edges included, that match the filter, in
 * geohash order. Throws BAD_USER_INPUT naming the invalid part of the polygon.
 */
export async function markersInside(
  context: MapContext,
  collection: Collection,
  polygon: unknown,
  input: ConnectionArguments,
  filter?: MarkerFilterInput | null,
): Promise<MarkerConnection> {
  const { shape, cover } = await readPolygon(polygon, context.scheduler.takeTurn);
  const accept = ({ position }: MapMarker) => shape.contains(position);
  return readConnection(context, { collection, of: ['inside', polygon], cover, accept, filter }, input);
}
