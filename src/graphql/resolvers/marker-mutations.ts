import { notFound } from '../../errors.js';
import { parseId } from '../../keys/ids.js';
import { type MapContext, requireCollection } from '../../map/context.js';
import { deleteMarker, updateMarker } from '../../store/marker-changes.js';
import { type MarkerReference, createMarker, createMarkers } from '../../store/markers.js';
import type { MutationResolvers } from '../generated.js';

/** The marker that an id names. Throws NOT_FOUND where it cannot name any. */
export async function referenceOf({ loaders }: MapContext, id: string): Promise<MarkerReference> {
  const name = parseId(id);
  const collection = name?.type === 'marker' ? await loaders.collection(name.collection) : null;
  if (name?.type !== 'marker' || !collection) throw notFound('marker', id);
  return { collection, key: name.key };
}

export const markerMutations = {
  createMarker: async (_root, { input: { collection: key, ...input } }, { services, map, work }) => {
    const collection = await requireCollection(map, key);
    const { marker } = await createMarker(services.db, collection, input, services.now().toISOString(), work);
    return marker;
  },

  createMarkers: async (_root, { collection: key, markers: inputs }, { services, map, work }) => {
    const collection = await requireCollection(map, key);
    const now = services.now().toISOString();
    const { written, failures } = await createMarkers(services.db, collection, inputs, now, work);
    return { markers: written.map(({ marker }) => marker), failures };
  },

  updateMarker: async (_root, { input: { id, expectedVersion, ...update } }, { services, map, work }) => {
    const options = { now: services.now().toISOString(), expectedVersion };
    const { marker } = await updateMarker(services.db, await referenceOf(map, id), update, options, work);
    return marker;
  },

  deleteMarker: async (_root, { id, expectedVersion }, { services, map, work }) => {
    const options = { now: services.now().toISOString(), expectedVersion };
    const { marker } = await deleteMarker(services.db, await referenceOf(map, id), options, work);
    return marker;
  },
} satisfies MutationResolvers;
