import { createZone } from '../../store/zone/zones.js';
import { deleteZone, updateZone } from '../../store/zone/zone-changes.js';
import type { MutationResolvers } from '../generated.js';
import { referenceOf, storedCollection } from './references.js';

export const zoneMutations = {
  createZone: async (_root, { input: { collection: key, ...input } }, context) => {
    const { services, work } = context;
    const collection = await storedCollection(context, key, 'createZone');
    const now = services.now().toISOString();
    return createZone(services.db, collection, input, now, work);
  },

  updateZone: async (_root, { input: { id, expectedVersion, ...update } }, context) => {
    const { services, work } = context;
    const zone = await referenceOf(context, 'zone', id, 'updateZone');
    const change = { now: services.now().toISOString(), expectedVersion };
    return updateZone(services.db, zone, update, change, work);
  },

  deleteZone: async (_root, { id, expectedVersion }, context) => {
    const { services, work } = context;
    const zone = await referenceOf(context, 'zone', id, 'deleteZone');
    return deleteZone(services.db, zone, { expectedVersion }, work);
  },
} satisfies MutationResolvers;
