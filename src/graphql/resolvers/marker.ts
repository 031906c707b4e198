import { cellOfMarker } from '../../map/cells/cells.js';
import { requireCollection } from '../../map/context.js';
import { geohashOf, idOf } from '../../map/markers/drawn.js';
import { markerFeature } from '../../map/markers/features.js';
import { markerDetails, markerProperties } from '../../map/markers/markers.js';
import type { MapMarker, Marker, Properties } from '../../model/marker.js';
import type { RequestContext } from '../context.js';
import type { MarkerResolvers } from '../generated.js';
import { readReadingsArguments } from '../readings-asked.js';

/** The collection of a marker, that of a table of the Geo Library included. */
function collectionOf({ collection: key }: MapMarker, { map, geoTable }: RequestContext) {
  return geoTable?.collection.key === key ? geoTable.collection : requireCollection(map, key);
}

const isWhole = (marker: MapMarker): marker is Marker => 'createdAt' in marker;

/** The marker with what a map does not draw; read only where it came from a map. */
function details(marker: MapMarker, { map }: RequestContext): Marker | Promise<Marker> {
  return isWhole(marker) ? marker : markerDetails(map, marker);
}

function properties(marker: MapMarker, { map }: RequestContext): Properties | Promise<Properties> {
  return isWhole(marker) ? marker.properties : markerProperties(map, marker);
}

export const marker: MarkerResolvers = {
  id: (parent) => idOf(parent),
  collection: (parent, _args, context) => collectionOf(parent, context),
  geohash: (parent) => geohashOf(parent),
  properties: (parent, _args, context) => properties(parent, context),
  globalId: async (parent, _args, context) => {
    const { globalIds } = await collectionOf(parent, context);
    return globalIds ? (await details(parent, context)).globalId : null;
  },
  place: async (parent, _args, context) => parent.place ?? (await details(parent, context)).place,
  version: async (parent, _args, context) => (await details(parent, context)).version,
  createdAt: async (parent, _args, context) => (await details(parent, context)).createdAt,
  updatedAt: async (parent, _args, context) => (await details(parent, context)).updatedAt,
  geojson: async (parent, _args, context) => markerFeature(parent, await properties(parent, context)),
  readings: async (parent, args, { map }) => {
    const wanted = readReadingsArguments(args, map.limits.maxFirst);
    const collection = await requireCollection(map, parent.collection);
    return map.loaders.readings({ collection, key: parent.key }, wanted);
  },
  cell: (parent, { precision }, { map }) => cellOfMarker(map, parent, precision),
};
