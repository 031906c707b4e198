import { collectionId } from '../../keys/ids.js';
import { collectionBounds, collectionCount, collectionMarkers } from '../../map/collection.js';
import { markersInPlace, placesUnder } from '../../map/places.js';
import { collectionZones } from '../../map/zone-pages.js';
import { zonesAt } from '../../map/zones.js';
import type { CollectionResolvers } from '../generated.js';
import { loadMarker } from './load-marker.js';

export const collection: CollectionResolvers = {
  id: ({ key }) => collectionId(key),
  count: (parent, _args, { map }) => collectionCount(map, parent),
  countsExact: (_parent, _args, { services }) => services.consumerStatus()?.countsExact ?? false,
  bounds: (parent, _args, { map }) => collectionBounds(map, parent),
  marker: (parent, { key }, context, info) => loadMarker(parent.key, key, context, info),
  markers: (parent, { first, after, filter }, { map }) =>
    collectionMarkers(map, parent, { first: first ?? 100, after }, filter),
  markersIn: (parent, { place, first, after }, { map }) =>
    markersInPlace(map, parent, place, { first: first ?? 100, after }),
  zone: (parent, { key }, { map }) => map.loaders.currentZone(parent.key, key),
  zones: (parent, { first, after }, { map }) => collectionZones(map, parent, { first: first ?? 100, after }),
  zonesAt: (parent, { point }, { map }) => zonesAt(map, parent, point),
  places: (parent, { under }, { map }) => placesUnder(map, parent, under ?? []),
};
