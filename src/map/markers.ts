import { notFound } from '../errors.js';
import { areaContains } from '../geo/bounds.js';
import type { MapMarker, Marker, Properties } from '../model/marker.js';
import { coverForPlan } from '../plan/markers.js';
import { requireCollection, type MapContext } from '../read/context.js';
import type { MarkerFilterInput } from '../read/filter.js';
import { readConnection, type ConnectionArguments, type MarkerConnection } from './connection.js';
import type { Viewport } from './viewport.js';

/** A connection of the markers inside a viewport, edges included, that match the filter. */
export async function viewportMarkers(
  context: MapContext,
  viewport: Viewport,
  collectionKey: string,
  input: ConnectionArguments,
  filter?: MarkerFilterInput | null,
): Promise<MarkerConnection> {
  const collection = await requireCollection(context, collectionKey);
  const { area } = viewport;
  const accept = ({ position }: MapMarker) => areaContains(area, position);
  const list = { collection, of: ['viewport', area.bounds], cover: coverForPlan(area), accept, filter };
  return readConnection(context, list, input);
}

/**
 * The marker with all fields of its base item, read in one batch with others requested in the same tick. Throws
 * NOT_FOUND if it has been deleted.
 */
export async function markerDetails(context: MapContext, marker: MapMarker | Marker): Promise<Marker> {
  if ('version' in marker) return marker;
  const collection = await requireCollection(context, marker.collection);
  const base = await context.loaders.markers.load({ collection, key: marker.key });
  if (!base) throw notFound('marker', marker.key);
  return base;
}

/** All properties of a marker; its base item is read only if the index does not project all of them. */
export function markerProperties(context: MapContext, marker: MapMarker | Marker): Properties | Promise<Properties> {
  if ('properties' in marker) return marker.properties;
  // Without a promise: a map has thousands of markers.
  return marker.complete ? marker.mapProperties : markerDetails(context, marker).then(({ properties }) => properties);
}
