import type { GraphQLResolveInfo } from 'graphql';

import type { Marker } from '../../model/marker.js';
import type { RequestContext } from '../context.js';
import { readingsAsked } from '../readings-asked.js';

/**
 * A marker by the keys of its collection and its own as its last write left it, null where there is none; with the
 * readings that the query selects of it in the same Query.
 */
export async function loadMarker(
  collectionKey: string,
  key: string,
  { map: { loaders, limits } }: RequestContext,
  info: GraphQLResolveInfo,
): Promise<Marker | null> {
  const asked = readingsAsked(info, limits.maxFirst);
  if (asked.length === 0) return loaders.currentMarker(collectionKey, key);
  const collection = await loaders.collection(collectionKey);
  if (!collection) return null;
  const name = { collection, key };
  for (const wanted of asked) {
    // The field asks the same and gets the same, its failure too.
    loaders.readings(name, wanted, true).catch(() => undefined);
  }
  return loaders.marker(name);
}
