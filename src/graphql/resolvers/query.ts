import type { GraphQLResolveInfo } from 'graphql';

import { badInput, CellportError } from '../../errors.js';
import { parseId } from '../../keys/ids.js';
import { cellAt } from '../../map/cells/cells.js';
import { requireIndexed, searchText } from '../../map/text-search.js';
import { readViewport } from '../../map/viewport.js';
import type { Collection } from '../../model/collection.js';
import { ACTIONS } from '../../model/grant.js';
import type { MapMarker, Zone } from '../../model/marker.js';
import { requireCollection } from '../../read/context.js';
import type { RequestContext } from '../context.js';
import type { QueryResolvers } from '../generated.js';
import { collectionCursor, readCollectionCursor, readFirst } from './arguments.js';
import { loadMarker } from './load-marker.js';

const FOUND_FIRST = 20;
/** Maximum number of collections named in one search. */
const MOST_COLLECTIONS = 50;
/** Maximum number of collections of a search that names none, by a client that may not read all. */
const MOST_SEARCHED = 1_000;

/** The object with this ID, null if there is none. All IDs requested in one tick are read together. */
async function nodeById(
  id: string,
  context: RequestContext,
  info: GraphQLResolveInfo,
): Promise<Collection | MapMarker | Zone | null> {
  const name = parseId(id);
  if (name === undefined) return null;
  if (name.type === 'marker') return loadMarker(name.collection, name.key, context, info);
  return context.map.loaders.entities.node(name);
}

/** Objects in the order of their IDs. Throws BAD_USER_INPUT naming `field` if they are too many. */
export async function nodesById(
  field: string,
  ids: readonly string[],
  context: RequestContext,
  info: GraphQLResolveInfo,
): Promise<Awaited<ReturnType<typeof nodeById>>[]> {
  const max = context.services.limits.maxFirst;
  if (ids.length > max) throw badInput(field, `${ids.length} IDs`, `at most ${max} IDs`);
  return Promise.all(ids.map((id) => nodeById(id, context, info)));
}

/** Whoever reaches a server that does not ask who they are, which may be read-only. */
const anyone = (isReadOnly: boolean) => ({
  name: null,
  roles: [],
  may: [{ collections: ['*'], actions: isReadOnly ? (['read'] as const) : ACTIONS, filtered: false }],
});

export const query: QueryResolvers = {
  viewer: (_root, _args, { access, services: { readOnly = false } }) =>
    access === undefined ? anyone(readOnly) : { ...access.principal, may: access.permissions },

  node: (_root, { id }, context, info) => nodeById(id, context, info),

  nodes: (_root, { ids }, context, info) => nodesById('ids', ids, context, info),

  collection: (_root, { key }, { map }) => map.loaders.collections.get(key),

  collections: async (_root, args, { map: { limits, loaders } }) => {
    const first = readFirst('first', args.first ?? 50, limits.maxFirst);
    const after =
      args.after === undefined || args.after === null ? undefined : readCollectionCursor('after', args.after);
    const { collections, more } = await loaders.collections.page({ first, after });
    const edges = collections.map((node) => ({ cursor: collectionCursor(node.key), node }));
    return {
      edges,
      nodes: collections,
      pageInfo: {
        hasNextPage: more,
        hasPreviousPage: after !== undefined,
        startCursor: edges[0]?.cursor ?? null,
        endCursor: edges.at(-1)?.cursor ?? null,
        shortBecause: null,
      },
    };
  },

  marker: async (_root, { id }, context, info) => {
    const name = parseId(id);
    return name?.type === 'marker' ? loadMarker(name.collection, name.key, context, info) : null;
  },

  markerByGlobalId: (_root, { globalId }, { map: { loaders } }) => loaders.entities.markerByGlobalId(globalId),

  search: async (_root, { text, collections, bounds, near, first, after }, context) => {
    const keys = collections ?? undefined;
    if (keys && (keys.length === 0 || keys.length > MOST_COLLECTIONS)) {
      throw badInput(
        'collections',
        keys,
        `1 to ${MOST_COLLECTIONS} collection keys; omit it to search all collections`,
      );
    }
    const wanted = keys && (await Promise.all(keys.map((key) => requireCollection(context.map, key))));
    const readable = wanted ? undefined : await context.map.loaders.collections.readable('collections', MOST_SEARCHED);
    const { search } = context.services;
    if (!search)
      throw new CellportError(
        'UNAVAILABLE',
        'search is turned off on this server; set CELLPORT_SEARCH_MB to turn it on',
      );
    const engine = search.open();
    requireIndexed(context.map, wanted, (scope) => search.hasRead(scope));
    const input = { text, collections: wanted, readable, bounds, near, first: first ?? FOUND_FIRST, after };
    return searchText(context.map, engine, input, context.work.signal);
  },

  cell: async (_root, args, context) =>
    cellAt(context.map, await requireCollection(context.map, args.collection), args.geohash),

  viewport: (_root, { bounds, zoom }) => readViewport({ bounds, zoom }),
};
