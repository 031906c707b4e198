import { notFound } from '../../errors.js';
import { parseId } from '../../keys/ids.js';
import { type MapContext, requireCollection } from '../../map/context.js';
import { type ZoneReference, createZone, deleteZone, updateZone } from '../../store/zone/zones.js';
import { geometryStoreOf } from '../context.js';
import type { MutationResolvers } from '../generated.js';

/** The zone that an id names. Throws NOT_FOUND where it cannot name any. */
async function referenceOf({ loaders }: MapContext, id: string): Promise<ZoneReference> {
  const name = parseId(id);
  const collection = name?.type === 'zone' ? await loaders.collection(name.collection) : null;
  if (name?.type !== 'zone' || !collection) throw notFound('zone', id);
  return { collection, key: name.key };
}

export const zoneMutations = {
  createZone: async (_root, { input: { collection: key, ...input } }, { services, map, work }) => {
    const collection = await requireCollection(map, key);
    const now = services.now().toISOString();
    return createZone(services.db, geometryStoreOf(services), collection, input, now, work);
  },

  updateZone: async (_root, { input: { id, expectedVersion, ...update } }, { services, map, work }) => {
    const change = { now: services.now().toISOString(), expectedVersion };
    return updateZone(services.db, geometryStoreOf(services), await referenceOf(map, id), update, change, work);
  },

  deleteZone: async (_root, { id, expectedVersion }, { services, map, work }) =>
    deleteZone(services.db, geometryStoreOf(services), await referenceOf(map, id), { expectedVersion }, work),
} satisfies MutationResolvers;
