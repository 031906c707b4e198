import { deleteCollection, updateCollection } from '../../store/collection/collection-changes.js';
import { createCollection } from '../../store/collection/collections.js';
import type { MutationResolvers } from '../generated.js';

export const collectionMutations = {
  createCollection: async (_root, { input }, { services, answers, work }) => {
    const { loaders } = answers(input.key).stored('createCollection');
    const collection = await createCollection(services.db, input, services.now().toISOString(), work);
    loaders.collections.forget(collection.key);
    services.collectionCache.set(collection.key, collection);
    return collection;
  },

  updateCollection: async (_root, { input: { key, expectedVersion, ...update } }, { services, answers, work }) => {
    const { loaders } = answers(key).stored('updateCollection');
    const options = { now: services.now().toISOString(), expectedVersion };
    const { collection } = await updateCollection(services.db, key, update, options, work);
    loaders.collections.forget(key);
    services.collectionCache.set(collection.key, collection);
    return collection;
  },

  deleteCollection: async (_root, { key }, { services, answers, work }) => {
    const { loaders } = answers(key).stored('deleteCollection');
    const { collection } = await deleteCollection(services.db, key, services.now().toISOString(), work);
    loaders.collections.forget(key);
    return collection;
  },
} satisfies MutationResolvers;
