import type { Bounds } from '../../geo/bounds.js';
import type { Point } from '../../geo/point.js';
import { relationToBox } from '../../geo/zone-area.js';
import { shapeIsArea } from '../../geo/zone-geometry.js';
import type { MapMarker } from '../../model/marker.js';
import type { Zone } from '../../model/zone.js';
import { type MapContext, requireCollection } from '../../read/context.js';
import { countInRegion } from '../cells/count.js';
import type { MarkerFilterInput } from '../../read/filter.js';
import { type MarkerConnection, type ConnectionArguments, readConnection } from '../connection.js';

/**
 * A connection of the collection's markers inside a zone, edges included, that match the filter, in geohash order. A
 * line has none. Throws UNAVAILABLE if the zone's geometry cannot be read.
 */
export async function zoneMarkers(
  context: MapContext,
  zone: Zone,
  collectionKey: string,
  input: ConnectionArguments,
  filter?: MarkerFilterInput | null,
): Promise<MarkerConnection> {
  const collection = await requireCollection(context, collectionKey);
  const loaded = await context.loaders.zones.geometry(zone);
  const shape = await loaded.shape;
  const list = {
    collection,
    of: ['zone', zone.collection, zone.key, zone.geometry.sha256],
    cover: shapeIsArea(loaded.geometry) ? await loaded.cover : [],
    accept: ({ position }: MapMarker) => shape.contains(position),
    filter,
  };
  return readConnection(context, list, input);
}

/**
 * The number of a collection's markers inside a zone, edges included; 0 for a line. Exact once the stream has been
 * read. Throws LIMIT_EXCEEDED, and UNAVAILABLE if the zone's geometry cannot be read.
 */
export async function zoneCount(context: MapContext, zone: Zone, collectionKey: string): Promise<number> {
  const collection = await requireCollection(context, collectionKey);
  const loaded = await context.loaders.zones.geometry(zone);
  if (!shapeIsArea(loaded.geometry)) return 0;
  const [shape, cover] = [await loaded.shape, await loaded.cover];
  const relationTo = (box: Bounds) => relationToBox(shape, box);
  const region = { area: shape.area, relationTo, contains: (point: Point) => shape.contains(point), cover };
  return countInRegion(context, collection, region, 'count');
}
