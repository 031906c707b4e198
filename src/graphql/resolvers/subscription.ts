import { CellportError, notFound } from '../../errors.js';
import { normalizeBounds } from '../../geo/bounds.js';
import type { LiveChanges } from '../../live/hub.js';
import { requireCollection } from '../../read/context.js';
import { hasSource, type SourceCollection } from '../../store/source/source-mapping.js';
import type { RequestContext, Services } from '../context.js';
import type { SubscriptionResolvers } from '../generated.js';
import { referenceOf } from './references.js';

function requireLive({ services: { live } }: RequestContext): LiveChanges {
  if (live !== undefined) return live;
  throw new CellportError('UNAVAILABLE', 'this server does not follow changes; subscribe to one that does');
}

/** Since when changes of a source are known here. Throws UNAVAILABLE if they are not. */
async function requireSourceLive({ db, sourceLiveSince }: Services, collection: SourceCollection): Promise<number> {
  const since = await sourceLiveSince(db.keys.scope(collection));
  if (since !== undefined) return since;
  const { key } = collection;
  // Whoever reads the collection need not know the name of its table.
  const message = `live changes of collection ${key} are not available here: its table is read again and again, cannot be read at present, or has several items for one marker and another server follows it, which needs CELLPORT_REDIS_URL`;
  throw new CellportError('UNAVAILABLE', message, { collection: key });
}

/** Throws NOT_FOUND if it may not be read any more: a function that decides in place of rules ends no stream. */
function stillReadable({ access }: RequestContext, collection: string): void {
  if (access && access.grant('read', collection) === undefined) throw notFound('collection', collection);
}

const moment = (since: string | null | undefined) =>
  since === null || since === undefined ? undefined : Date.parse(since);

export const subscription: SubscriptionResolvers = {
  markerChanged: {
    subscribe: async (_root, args, context) => {
      const area = args.bounds ? normalizeBounds('bounds', args.bounds) : undefined;
      const { services, map } = context;
      const collection = await requireCollection(map, args.collection);
      const live = requireLive(context);
      const knownSince = hasSource(collection) ? await requireSourceLive(services, collection) : undefined;
      return live.markerChanges({ collection, area, since: moment(args.since), knownSince });
    },
    resolve: (change: unknown, args: { readonly collection: string }, context: RequestContext) => {
      stillReadable(context, args.collection);
      return change as never;
    },
  },

  readingRecorded: {
    subscribe: async (_root, args, context) => {
      const reference = await referenceOf(context, 'marker', args.marker, 'readingRecorded');
      const marker = await context.map.loaders.markers.load(reference);
      if (!marker) throw notFound('marker', args.marker);
      const { collection } = reference;
      const readings = await requireLive(context).readings({ collection, marker, since: moment(args.since) });
      // It may have left the principal's rows before its changes were followed.
      const isThere = async () => (await context.map.loaders.entities.marker(collection.key, marker.key)) !== null;
      if (collection.grant?.rows === undefined || (await isThere())) return readings;
      await readings.return?.();
      throw notFound('marker', args.marker);
    },
    resolve: async (reading: unknown, args: { readonly marker: string }, context: RequestContext) => {
      if (context.access) {
        stillReadable(context, (await referenceOf(context, 'marker', args.marker, 'readingRecorded')).collection.key);
      }
      return reading as never;
    },
  },
};
