import { deleteCollection, updateCollection } from '../../store/collection/collection-changes.js';
import { createCollection } from '../../store/collection/collections.js';
import { knowingGeoTable } from '../geo-table.js';
import type { MutationResolvers } from '../generated.js';

const ofCollections = {
  createCollection: async (_root, { input }, { services, map, work }) => {
    const collection = await createCollection(services.db, input, services.now().toISOString(), work);
    map.loaders.forgetCollection(collection.key);
    services.collectionCache.put(collection);
    return collection;
  },

  updateCollection: async (_root, { input: { key, expectedVersion, ...update } }, { services, map, work }) => {
    const options = { now: services.now().toISOString(), expectedVersion };
    const { collection } = await updateCollection(services.db, key, update, options, work);
    map.loaders.forgetCollection(key);
    services.collectionCache.put(collection);
    return collection;
  },

  deleteCollection: async (_root, { key }, { services, map, work }) => {
    const { collection } = await deleteCollection(services.db, key, services.now().toISOString(), work);
    map.loaders.forgetCollection(key);
    return collection;
  },
} satisfies MutationResolvers;

export const collectionMutations = knowingGeoTable(ofCollections, {}, (_root, { key, input }) =>
  typeof input === 'object' && input !== null && 'key' in input ? input.key : key,
);
