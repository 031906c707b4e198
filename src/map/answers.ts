import type { Point } from '../geo/point.js';
import type { NodeId } from '../keys/ids.js';
import type { Collection } from '../model/collection.js';
import type { Marker } from '../model/marker.js';
import type { Zone } from '../model/zone.js';
import { requireCollection, type MapContext } from '../read/context.js';
import type { MarkerFilterInput } from '../read/filter.js';
import { viewportCount } from './cells/count.js';
import { collectionCount } from './collection.js';
import type { ConnectionArguments, MarkerConnection } from './connection.js';
import { viewportAuto, type ViewportContent } from './content.js';
import { viewportFeatures } from './features.js';
import { viewportMarkers } from './markers.js';
import { markersWithin, type NearbyConnection } from './near/near.js';
import type { Viewport } from './viewport.js';

type Filter = MarkerFilterInput | null | undefined;

/** A radius query for all markers at most `radius` meters from a point. */
export interface Circle {
  readonly center: Point;
  readonly radius: number;
}

/**
 * The queries that every collection supports, in either kind of table. Everything else goes through `stored`. Methods
 * throw NOT_FOUND if there is no such collection, and BAD_USER_INPUT naming the invalid argument.
 */
export interface CollectionAnswers {
  /** Null if there is no such collection. */
  collection(): Promise<Collection | null>;
  /** The object of the collection with this ID, or the collection itself; null if there is none. */
  node(name: NodeId): Promise<Collection | Marker | Zone | null>;
  /** Whether its markers are counted by cell, so that counts can be exact. */
  readonly hasCells: boolean;
  count(): Promise<number>;
  viewportMarkers(viewport: Viewport, input: ConnectionArguments, filter: Filter): Promise<MarkerConnection>;
  viewportCount(viewport: Viewport): Promise<number>;
  viewportAuto(viewport: Viewport, limit: number, filter: Filter): Promise<ViewportContent>;
  /** The JSON of a GeoJSON FeatureCollection. */
  viewportFeatures(viewport: Viewport, limit: number, filter: Filter): Promise<Buffer>;
  /** A connection of the markers in a circle, nearest first. */
  within(circle: Circle, input: ConnectionArguments, filter?: Filter): Promise<NearbyConnection>;
  /**
   * The context for a field that only stored collections support. Throws BAD_USER_INPUT naming `field` for other
   * collections.
   */
  stored(field: string): MapContext;
}

/** Answers for a collection in Cellport's own tables. */
export function storedAnswers(map: MapContext, key: string): CollectionAnswers {
  return {
    collection: () => map.loaders.collections.get(key),
    node: (name) => map.loaders.entities.node(name),
    hasCells: true,
    count: async () => collectionCount(map, await requireCollection(map, key)),
    viewportMarkers: (viewport, page, filter) => viewportMarkers(map, viewport, key, page, filter),
    viewportCount: (viewport) => viewportCount(map, viewport, key),
    viewportAuto: (viewport, limit, filter) => viewportAuto(map, viewport, key, limit, filter),
    viewportFeatures: (viewport, limit, filter) => viewportFeatures(map, viewport, key, limit, filter),
    within: async (circle, page, filter) => markersWithin(map, await requireCollection(map, key), circle, page, filter),
    stored: () => map,
  };
}
