import { FINEST_STORED } from '../../model/cell.js';
import type { Bounds } from '../../geo/bounds.js';
import { coverShape } from '../../geo/cover.js';
import { type Shape, readShape } from '../../geo/polygon.js';
import type { Collection } from '../../model/collection.js';
import type { MapContext } from '../context.js';
import type { MarkerFilterInput } from '../filter.js';
import { type MarkerPage, type PageInput, readPage } from '../page.js';
import type { Budget } from '../../loaders/budget.js';
import type { OrderedMarker } from '../markers/execute-plan.js';
import { type SearchPlanner, planShape } from '../markers/planners.js';

/** Ranges of Z-order that a polygon is cut into before they are joined. */
const FINENESS = 512;

/** Positions of a polygon, those that close its rings included. */
const MOST_VERTICES = 10_000;

/**
 * A page of the markers inside a GeoJSON Polygon or MultiPolygon that pass the filter, edges included, in the order of
 * their geohashes. Throws BAD_USER_INPUT naming the part of the polygon that is wrong.
 */
export function markersInside(
  context: MapContext,
  collection: Collection,
  polygon: unknown,
  page: PageInput,
  filter?: MarkerFilterInput | null,
): Promise<MarkerPage> {
  const shape = readShape('polygon', polygon, { types: ['Polygon', 'MultiPolygon'], mostVertices: MOST_VERTICES });
  const list = {
    collection,
    of: ['inside', polygon],
    planner: (budget: Budget) => planPolygon(context, collection, shape, budget),
    accept: ({ marker }: OrderedMarker) => shape.contains(marker.position),
    filter,
  };
  return readPage(context, list, page);
}

/** Plans a search in the area of a shape. */
export function planPolygon(
  context: MapContext,
  collection: Collection,
  shape: Shape,
  budget: Budget,
): Promise<SearchPlanner> {
  const relation = (cell: Bounds) => shape.relationToCell(cell);
  const cover = coverShape(relation, FINENESS);
  const overlaps = (cell: Bounds) => relation(cell) !== 'outside';
  const options = { precision: FINEST_STORED, budget };
  return planShape(context, collection, { area: shape.area, cover, overlaps }, options);
}
