import { CellportError, notFound } from '../../errors.js';
import { normalizeBounds } from '../../geo/bounds.js';
import type { LiveChanges } from '../../live/hub.js';
import type { RequestContext } from '../context.js';
import type { SubscriptionResolvers } from '../generated.js';
import { referenceOf, storedCollection } from './references.js';

function requireLive({ services: { live } }: RequestContext): LiveChanges {
  if (live !== undefined) return live;
  throw new CellportError('UNAVAILABLE', 'this server does not follow changes; subscribe to one that does');
}

const moment = (since: string | null | undefined) =>
  since === null || since === undefined ? undefined : Date.parse(since);

export const subscription: SubscriptionResolvers = {
  markerChanged: {
    subscribe: async (_root, args, context) => {
      const area = args.bounds ? normalizeBounds('bounds', args.bounds) : undefined;
      const collection = await storedCollection(context, args.collection, 'markerChanged');
      return requireLive(context).markerChanges({ collection, area, since: moment(args.since) });
    },
    resolve: (change: unknown) => change as never,
  },

  readingRecorded: {
    subscribe: async (_root, args, context) => {
      const reference = await referenceOf(context, 'marker', args.marker, 'readingRecorded');
      const marker = await context.map.loaders.markers.load(reference);
      if (!marker) throw notFound('marker', args.marker);
      const { collection } = reference;
      return requireLive(context).readings({ collection, marker, since: moment(args.since) });
    },
    resolve: (reading: unknown) => reading as never,
  },
};
