import { notFound } from '../../errors.js';
import { parseId } from '../../keys/ids.js';
import { requireCollection } from '../../map/context.js';
import { createCollection } from '../../store/collections.js';
import { createMarker, createMarkers } from '../../store/markers.js';
import { recordReadings } from '../../store/readings.js';
import type { MutationResolvers } from '../generated.js';

export const mutation: MutationResolvers = {
  createCollection: async (_root, { input }, { services, work }) => {
    const collection = await createCollection(services.db, input, services.now().toISOString(), work);
    services.collectionCache.put(collection);
    return collection;
  },

  createMarker: async (_root, { input: { collection: key, ...marker } }, { services, map, work }) => {
    const collection = await requireCollection(map, key);
    return createMarker(services.db, collection, marker, services.now().toISOString(), work);
  },

  createMarkers: async (_root, { collection: key, markers }, { services, map, work }) => {
    const collection = await requireCollection(map, key);
    return createMarkers(services.db, collection, markers, services.now().toISOString(), work);
  },

  recordReadings: async (_root, { marker: id, readings }, { services, map, work }) => {
    const name = parseId(id);
    const collection = name?.type === 'marker' ? await map.loaders.collection(name.collection) : null;
    if (name?.type !== 'marker' || !collection) throw notFound('marker', id);
    return recordReadings(services.db, { collection, key: name.key }, readings, services.now(), work);
  },
};
