import { CellportError, notFound } from '../../errors.js';
import { normalizeBounds } from '../../geo/bounds.js';
import { parseId } from '../../keys/ids.js';
import type { LiveChanges, MarkersWanted } from '../../live/hub.js';
import { requireCollection } from '../../map/context.js';
import type { RequestContext } from '../context.js';
import type { SubscriptionResolvers } from '../generated.js';

function requireLive({ services: { live } }: RequestContext): LiveChanges {
  if (live !== undefined) return live;
  throw new CellportError('UNAVAILABLE', 'this server hears of no changes');
}

const moment = (since: string | null | undefined): MarkersWanted['since'] =>
  since === null || since === undefined ? undefined : Date.parse(since);

export const subscription: SubscriptionResolvers = {
  markerChanged: {
    subscribe: async (_root, args, context) => {
      const area = args.bounds ? normalizeBounds('bounds', args.bounds) : undefined;
      const collection = await requireCollection(context.map, args.collection);
      return requireLive(context).markerChanges({ collection, area, since: moment(args.since) });
    },
    resolve: (change: unknown) => change as never,
  },

  readingRecorded: {
    subscribe: async (_root, args, context) => {
      const { loaders } = context.map;
      const name = parseId(args.marker);
      const collection = name?.type === 'marker' ? await loaders.collection(name.collection) : null;
      const marker = name && collection && (await loaders.marker({ collection, key: name.key }));
      if (!collection || !marker) throw notFound('marker', args.marker);
      return requireLive(context).readings({ collection, marker, since: moment(args.since) });
    },
    resolve: (reading: unknown) => reading as never,
  },
};
