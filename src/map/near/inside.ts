import type { Bounds } from '../../geo/bounds.js';
import { coverRegion } from '../../geo/cover.js';
import { type Shape, readShape } from '../../geo/polygon.js';
import type { Collection } from '../../model/collection.js';
import type { MapContext } from '../context.js';
import type { MarkerFilterInput } from '../filter.js';
import { FINEST_STORED } from '../cells/known-counts.js';
import { type MarkerPage, type PageInput, readPage } from '../page.js';
import { type RangeSource, regionSource } from '../markers/sources.js';
import type { Placed } from '../markers/walk.js';

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
    source: () => shapeSource(context, collection, shape),
    accept: ({ marker }: Placed) => shape.contains(marker.position),
    filter,
  };
  return readPage(context, list, page);
}

/** The ranges of what a shape covers; they reach beyond it. */
export function shapeSource(context: MapContext, collection: Collection, shape: Shape): Promise<RangeSource> {
  const relation = (cell: Bounds) => shape.relationToCell(cell);
  const cover = coverRegion(relation, FINENESS);
  const overlaps = (cell: Bounds) => relation(cell) !== 'outside';
  return regionSource(context, collection, { area: shape.area, cover, overlaps }, FINEST_STORED);
}
