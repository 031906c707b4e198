import { collectionId } from '../../keys/ids.js';
import { collectionBounds, collectionCount, collectionMarkers } from '../../map/collection.js';
import type { CollectionResolvers } from '../generated.js';

export const collection: CollectionResolvers = {
  id: ({ key }) => collectionId(key),
  count: (parent, _args, { map }) => collectionCount(map, parent),
  countsExact: (_parent, _args, { services }) => services.consumerStatus()?.countsExact ?? false,
  bounds: (parent, _args, { map }) => collectionBounds(map, parent),
  marker: (parent, { key }, { map }) => map.loaders.marker({ collection: parent, key }),
  markers: (parent, { first, after, filter }, { map }) =>
    collectionMarkers(map, parent, { first: first ?? 100, after }, filter),
};
