import { collectionId } from '../../keys/ids.js';
import { collectionBounds, collectionCount, collectionMarkers } from '../../map/collection.js';
import { markersInside } from '../../map/near/inside.js';
import { markersWithin, nearestMarkers } from '../../map/near/near.js';
import { markersInPlace, placesUnder } from '../../map/places.js';
import { geoTableOf, knowingGeoTable } from '../geo-table.js';
import { collectionZones } from '../../map/zones/zone-pages.js';
import { zonesAt } from '../../map/zones/zones.js';
import type { CollectionResolvers } from '../generated.js';
import { loadMarker } from './load-marker.js';

const ofCollections: CollectionResolvers = {
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
  within: (parent, { center, radius, first, after, filter }, { map }) =>
    markersWithin(map, parent, { center, radius }, { first: first ?? 100, after }, filter),
  nearest: (parent, { center, count, maxRadius, filter }, { map }) =>
    nearestMarkers(map, parent, { center, count: count ?? 10, maxRadius }, filter),
  inside: (parent, { polygon, first, after, filter }, { map }) =>
    markersInside(map, parent, polygon, { first: first ?? 1000, after }, filter),
};

const ofGeoTable: CollectionResolvers = {
  id: ({ key }) => collectionId(key),
  // What DynamoDB has counted some hours ago: so it is told, too.
  count: (_parent, _args, context) => geoTableOf(context).count,
  countsExact: () => false,
  within: (_parent, { center, radius, first, after, filter }, context) =>
    geoTableOf(context).answers.within({ center, radius, first: first ?? 100, after, filter }),
};

export const collection = knowingGeoTable(ofCollections, ofGeoTable, ({ key }) => key);
