import { markerId } from '../../keys/ids.js';
import { cellOfMarker } from '../../map/cells/cells.js';
import { markerFeature } from '../../map/features.js';
import { markerDetails, markerProperties } from '../../map/markers.js';
import { requireCollection } from '../../read/context.js';
import { hasSource } from '../../store/source/source-mapping.js';
import type { MarkerResolvers } from '../generated.js';
import { readFirst } from './arguments.js';
import { checkBounds, readReadingsArguments } from './selected-readings.js';

/** A year of days. */
const SUMMARIES = 400;

export const marker: MarkerResolvers = {
  id: ({ collection, key }) => markerId(collection, key),
  collection: (parent, _args, { map }) => requireCollection(map, parent.collection),
  properties: (parent, _args, { map }) => markerProperties(map, parent),
  globalId: async (parent, _args, { map }) => {
    const { globalIds } = await requireCollection(map, parent.collection);
    return globalIds ? (await markerDetails(map, parent)).globalId : null;
  },
  place: async (parent, _args, { map }) => parent.place ?? (await markerDetails(map, parent)).place,
  version: async (parent, _args, { map }) => (await markerDetails(map, parent)).version,
  createdAt: async (parent, _args, { map }) => (await markerDetails(map, parent)).createdAt,
  updatedAt: async (parent, _args, { map }) => (await markerDetails(map, parent)).updatedAt,
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
  cell: (parent, { precision }, { map }) => cellOfMarker(map, parent, precision),
};
