import { badInput, ifRefused, notFound } from '../../errors.js';
import { cellRange } from '../../geo/geohash.js';
import { parseId } from '../../keys/ids.js';
import type { Collection } from '../../model/collection.js';
import { withoutHidden } from '../../model/grant.js';
import { ownWrite } from '../../read/from-pages/own-writes.js';
import { mapMarkerFromIndex } from '../../store/marker/marker-item.js';
import { updateMarker } from '../../store/marker/marker-update.js';
import { createMarker, createMarkers, MAX_MARKERS_A_CALL } from '../../store/marker/markers.js';
import { upsertMarkers, type UpsertOutcome } from '../../store/marker/upsert.js';
import { recordReadings } from '../../store/reading/readings.js';
import { deleteMarker, deleteMarkers } from '../../store/removal/markers.js';
import type { ConditionalChange } from '../../store/request/conditional-write.js';
import type { MutationName } from '../actions.js';
import type { RequestContext } from '../context.js';
import type { MutationResolvers } from '../generated.js';
import { countWrites, writtenWithin } from '../quotas.js';
import { referenceOf, storedCollection } from './references.js';

/** Records what was written, so that the next map shows it, and deletions make room, without waiting for the stream. */
async function noteWrites(
  context: RequestContext,
  collection: Collection,
  writes: readonly ConditionalChange[],
): Promise<void> {
  const { services, map } = context;
  const { keys } = map;
  const own = writes.flatMap((write) => ownWrite(keys, collection, write) ?? []);
  const scope = keys.scope(collection);
  services.pageServices.ownWrites.add(scope, own);
  const images = writes.flatMap(({ before, after }) => [before ?? [], after ?? []].flat());
  const changed = images.flatMap((image) => mapMarkerFromIndex(keys, image, collection.key) ?? []);
  const ranges = changed.map(({ geohash }) => cellRange(geohash));
  services.changes.changed(scope, ranges);
  // Others were counted when they were admitted.
  countWrites(
    context,
    collection,
    writes.filter(({ after }) => after === undefined),
  );
  if (own.length > 0) await services.peers?.wrote(scope, own, ranges);
}

/** Writes markers of a collection within quotas, by `write`, and records what it has changed. */
async function writeTo<T extends ConditionalChange | { readonly written: readonly ConditionalChange[] }>(
  context: RequestContext,
  key: string,
  field: MutationName,
  write: (collection: Collection, now: string) => Promise<T>,
): Promise<T> {
  const collection = await storedCollection(context, key, field);
  const now = context.services.now().toISOString();
  const result = await writtenWithin(context, collection, (own) => write(own, now));
  const written: readonly ConditionalChange[] = 'written' in result ? result.written : [result];
  await noteWrites(
    context,
    collection,
    written.filter(({ before, after }) => before !== after),
  );
  return result;
}

export const markerMutations = {
  createMarker: async (_root, { input: { collection, ...input } }, context) => {
    const write = (own: Collection, now: string) => createMarker(context.work, own, input, now);
    return (await writeTo(context, collection, 'createMarker', write)).marker;
  },

  createMarkers: async (_root, { collection, markers: inputs }, context) => {
    const write = (own: Collection, now: string) => createMarkers(context.work, own, inputs, now);
    const { written, failures } = await writeTo(context, collection, 'createMarkers', write);
    return { markers: written.map(({ marker }) => marker), failures };
  },

  upsertMarkers: async (_root, { collection, markers: inputs }, context) => {
    const write = (own: Collection, now: string) => upsertMarkers(context.work, own, inputs, now);
    const { written, failures } = await writeTo(context, collection, 'upsertMarkers', write);
    const count = (wanted: UpsertOutcome) => written.filter(({ outcome }) => outcome === wanted).length;
    return { created: count('created'), updated: count('updated'), unchanged: count('unchanged'), failures };
  },

  updateMarker: async (_root, { input: { id, expectedVersion, ...update } }, context) => {
    const { services, work } = context;
    const reference = await referenceOf(context, 'marker', id, 'updateMarker');
    const options = { now: services.now().toISOString(), expectedVersion };
    const write = await writtenWithin(context, reference.collection, (collection) =>
      updateMarker(work, { ...reference, collection }, update, options),
    );
    await noteWrites(context, reference.collection, [write]);
    return withoutHidden(reference.collection, write.marker);
  },

  deleteMarker: async (_root, { id, expectedVersion }, context) => {
    const { services, work } = context;
    const reference = await referenceOf(context, 'marker', id, 'deleteMarker');
    const options = { now: services.now().toISOString(), expectedVersion };
    const write = await deleteMarker(work, reference, options);
    await noteWrites(context, reference.collection, [write]);
    return withoutHidden(reference.collection, write.marker);
  },

  deleteMarkers: async (_root, { ids }, context) => {
    const { services, work } = context;
    if (ids.length > MAX_MARKERS_A_CALL) {
      throw badInput('ids', `${ids.length} IDs`, `at most ${MAX_MARKERS_A_CALL} IDs per call`);
    }
    const markers = ids.map(async (id, index) => {
      // Two deletions of one marker would disturb each other's removal of its readings.
      if (ids.indexOf(id) < index) return notFound('marker', id);
      if (parseId(id)?.type !== 'marker') return badInput(`ids[${index}]`, id, 'the ID of a marker');
      return referenceOf(context, 'marker', id, 'deleteMarkers').catch(ifRefused((error) => error));
    });
    const now = services.now().toISOString();
    const { written, failures, missing } = await deleteMarkers(work, await Promise.all(markers), now);
    await Promise.all(written.map((write) => noteWrites(context, write.collection, [write])));
    // The audit has those that are missing as well.
    return { deleted: written.length, failures, missing };
  },

  recordReadings: async (_root, { marker: id, readings }, context) => {
    const { services, work } = context;
    const marker = await referenceOf(context, 'marker', id, 'recordReadings');
    return recordReadings(work, marker, readings, services.now());
  },
} satisfies MutationResolvers;
