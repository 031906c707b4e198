import type { GraphQLResolveInfo } from 'graphql';

import { badInput } from '../../errors.js';
import { parseId } from '../../keys/ids.js';
import { cellAt } from '../../map/cells/cells.js';
import { requireCollection } from '../../map/context.js';
import { readViewport } from '../../map/viewport.js';
import type { Collection } from '../../model/collection.js';
import type { MapMarker } from '../../model/marker.js';
import type { Zone } from '../../model/zone.js';
import { listCollections } from '../../store/collection/collections.js';
import { collectionCursor, readCollectionCursor, readFirst } from '../arguments.js';
import type { RequestContext } from '../context.js';
import { listGeoTable } from '../geo-table.js';
import type { QueryResolvers } from '../generated.js';
import { loadMarker } from './load-marker.js';

/** What an id names; null where it names nothing. All ids of one tick are read together. */
async function nodeById(
  id: string,
  context: RequestContext,
  info: GraphQLResolveInfo,
): Promise<Collection | MapMarker | Zone | null> {
  const { loaders } = context.map;
  const name = parseId(id);
  if (name === undefined) return null;
  return name.type === 'marker' ? loadMarker(name.collection, name.key, context, info) : loaders.node(name);
}

export const query: QueryResolvers = {
  node: (_root, { id }, context, info) => nodeById(id, context, info),

  nodes: async (_root, { ids }, context, info) => {
    const most = context.services.limits.maxFirst;
    if (ids.length > most) throw badInput('ids', `${ids.length} ids`, `at most ${most} ids`);
    return Promise.all(ids.map((id) => nodeById(id, context, info)));
  },

  collection: (_root, { key }, { map, geoTable }) =>
    geoTable?.collection.key === key ? geoTable.collection : map.loaders.collection(key),

  collections: async (_root, args, { services: { db, limits }, work, geoTable }) => {
    const first = readFirst('first', args.first ?? 50, limits.maxFirst);
    const after =
      args.after === undefined || args.after === null ? undefined : readCollectionCursor('after', args.after);
    const page = await listCollections(db, { first, after }, work);
    const { collections, more } = listGeoTable(page, geoTable, { first, after });
    const edges = collections.map((node) => ({ cursor: collectionCursor(node.key), node }));
    return {
      edges,
      nodes: collections,
      pageInfo: {
        hasNextPage: more,
        hasPreviousPage: after !== undefined,
        startCursor: edges[0]?.cursor ?? null,
        endCursor: edges.at(-1)?.cursor ?? null,
      },
    };
  },

  marker: async (_root, { id }, context, info) => {
    const name = parseId(id);
    return name?.type === 'marker' ? loadMarker(name.collection, name.key, context, info) : null;
  },

  markerByGlobalId: (_root, { globalId }, { map: { loaders } }) => loaders.markerByGlobalId(globalId),

  cell: async (_root, args, { map }) => cellAt(map, await requireCollection(map, args.collection), args.geohash),

  viewport: (_root, { bounds, zoom }) => readViewport({ bounds, zoom }),
};
