import { collectionId } from '../../keys/ids.js';
import { collectionBounds, collectionMarkers } from '../../map/collection.js';
import { markersInside } from '../../map/near/inside.js';
import { nearestMarkers } from '../../map/near/near.js';
import { markersInPlace, placesUnder } from '../../map/places.js';
import { collectionZones } from '../../map/zones/zone-pages.js';
import { zonesAt } from '../../map/zones/zones.js';
import type { CollectionResolvers } from '../generated.js';
import { loadMarker } from './load-marker.js';

export const collection: CollectionResolvers = {
  id: ({ key }) => collectionId(key),
  count: ({ key }, _args, { answers }) => answers(key).count(),
  countsExact: ({ key }, _args, { answers, services }) =>
    answers(key).hasCells && (services.consumerStatus()?.countsExact ?? false),
  bounds: (parent, _args, { answers }) => collectionBounds(answers(parent.key).stored('bounds'), parent),
  marker: (parent, { key }, context, info) => loadMarker(parent.key, key, context, info),
  markers: (parent, { first, after, filter }, { answers }) =>
    collectionMarkers(answers(parent.key).stored('markers'), parent, { first: first ?? 100, after }, filter),
  markersIn: (parent, { place, first, after }, { answers }) =>
    markersInPlace(answers(parent.key).stored('markersIn'), parent, place, { first: first ?? 100, after }),
  zone: (parent, { key }, { answers }) => answers(parent.key).stored('zone').loaders.currentZone(parent.key, key),
  zones: (parent, { first, after }, { answers }) =>
    collectionZones(answers(parent.key).stored('zones'), parent, { first: first ?? 100, after }),
  zonesAt: (parent, { point }, { answers }) => zonesAt(answers(parent.key).stored('zonesAt'), parent, point),
  places: (parent, { under }, { answers }) => placesUnder(answers(parent.key).stored('places'), parent, under ?? []),
  within: ({ key }, { center, radius, first, after, filter }, { answers }) =>
    answers(key).within({ center, radius }, { first: first ?? 100, after }, filter),
  nearest: (parent, { center, count, maxRadius, filter }, { answers }) =>
    nearestMarkers(answers(parent.key).stored('nearest'), parent, { center, count: count ?? 10, maxRadius }, filter),
  inside: (parent, { polygon, first, after, filter }, { answers }) =>
    markersInside(answers(parent.key).stored('inside'), parent, polygon, { first: first ?? 1000, after }, filter),
};
