import { notFound } from '../../errors.js';
import { markerId } from '../../keys/ids.js';
import { cellOfMarker } from '../../map/cells/cells.js';
import { markerFeature } from '../../map/features.js';
import { markerDetails, markerProperties } from '../../map/markers.js';
import type { Collection } from '../../model/collection.js';
import type { MapMarker } from '../../model/marker.js';
import { requireCollection } from '../../read/context.js';
import { hasSource } from '../../store/source/source-mapping.js';
import type { RequestContext } from '../context.js';
import type { MarkerResolvers } from '../generated.js';
import { readFirst } from './arguments.js';
import { checkBounds, readReadingsArguments } from './selected-readings.js';

/** A year of days. */
const SUMMARIES = 400;

async function collectionOf({ collection: key }: MapMarker, { answers }: RequestContext): Promise<Collection> {
  const collection = await answers(key).collection();
  if (!collection) throw notFound('collection', key);
  return collection;
}

/** The full marker, including fields that maps do not draw; `field` is named in errors. */
const details = (marker: MapMarker, { answers }: RequestContext, field: string) =>
  markerDetails(answers(marker.collection).stored(field), marker);

export const marker: MarkerResolvers = {
  id: ({ collection, key }) => markerId(collection, key),
  collection: (parent, _args, context) => collectionOf(parent, context),
  properties: (parent, _args, { map }) => markerProperties(map, parent),
  globalId: async (parent, _args, context) => {
    const { globalIds } = await collectionOf(parent, context);
    return globalIds ? (await details(parent, context, 'globalId')).globalId : null;
  },
  place: async (parent, _args, context) => parent.place ?? (await details(parent, context, 'place')).place,
  version: async (parent, _args, context) => (await details(parent, context, 'version')).version,
  createdAt: async (parent, _args, context) => (await details(parent, context, 'createdAt')).createdAt,
  updatedAt: async (parent, _args, context) => (await details(parent, context, 'updatedAt')).updatedAt,
  geojson: async (parent, _args, { map }) => markerFeature(parent, await markerProperties(map, parent)),
  readings: async (parent, args, context) => {
    const { loaders, limits } = context.map;
    const wanted = readReadingsArguments(args, limits.maxFirst);
    const collection = await requireCollection(context.map, parent.collection);
    if (hasSource(collection)) return [];
    return loaders.markers.readings({ collection, key: parent.key }, wanted);
  },
  readingSummaries: async (parent, { value, period, from, to, first }, context) => {
    const { work, map } = context;
    const { loaders, limits } = map;
    checkBounds(from, to);
    const collection = await requireCollection(map, parent.collection);
    const most = readFirst('first', first ?? SUMMARIES, limits.maxFirst);
    if (hasSource(collection)) return { summaries: [], next: null, shortBecause: null };
    const wanted = { value, period: period ?? 'DAY', from, to: to ?? undefined, first: most };
    const { summaries, next } = await loaders.summaries.load({ collection, key: parent.key }, wanted);
    const isShort = next !== null && summaries.length < most;
    const reason = summaries.length === 0 && work.isLate() ? 'DEADLINE' : 'READ_BUDGET';
    return { summaries, next, shortBecause: isShort ? reason : null };
  },
  cell: (parent, { precision }, { answers }) =>
    cellOfMarker(answers(parent.collection).stored('cell'), parent, precision),
};
