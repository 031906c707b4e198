import { notFound } from '../../errors.js';
import { parseId } from '../../keys/ids.js';
import { type MapContext, requireCollection } from '../../map/context.js';
import { deleteMarker, updateMarker } from '../../store/marker/marker-changes.js';
import { entryChangesOfItem } from '../../store/marker/entry-changes.js';
import { type MarkerReference, type MarkerWrite, createMarker, createMarkers } from '../../store/marker/markers.js';
import type { RequestContext } from '../context.js';
import type { MutationResolvers } from '../generated.js';

/** The marker that an id names. Throws NOT_FOUND where it cannot name any. */
export async function referenceOf({ loaders }: MapContext, id: string): Promise<MarkerReference> {
  const name = parseId(id);
  const collection = name?.type === 'marker' ? await loaders.collection(name.collection) : null;
  if (name?.type !== 'marker' || !collection) throw notFound('marker', id);
  return { collection, key: name.key };
}

/** Shows what was written to the next map that is asked for, which need not wait for the stream to tell of it. */
function show({ services }: RequestContext, writes: readonly MarkerWrite[]): void {
  services.markerCache.changed(writes.flatMap(({ before, after }) => entryChangesOfItem(before, after)));
}

export const markerMutations = {
  createMarker: async (_root, { input: { collection: key, ...input } }, context) => {
    const { services, map, work } = context;
    const collection = await requireCollection(map, key);
    const write = await createMarker(services.db, collection, input, services.now().toISOString(), work);
    show(context, [write]);
    return write.marker;
  },

  createMarkers: async (_root, { collection: key, markers: inputs }, context) => {
    const { services, map, work } = context;
    const collection = await requireCollection(map, key);
    const now = services.now().toISOString();
    const { written, failures } = await createMarkers(services.db, collection, inputs, now, work);
    show(context, written);
    return { markers: written.map(({ marker }) => marker), failures };
  },

  updateMarker: async (_root, { input: { id, expectedVersion, ...update } }, context) => {
    const { services, map, work } = context;
    const options = { now: services.now().toISOString(), expectedVersion };
    const write = await updateMarker(services.db, await referenceOf(map, id), update, options, work);
    show(context, [write]);
    return write.marker;
  },

  deleteMarker: async (_root, { id, expectedVersion }, context) => {
    const { services, map, work } = context;
    const options = { now: services.now().toISOString(), expectedVersion };
    const write = await deleteMarker(services.db, await referenceOf(map, id), options, work);
    show(context, [write]);
    return write.marker;
  },
} satisfies MutationResolvers;
