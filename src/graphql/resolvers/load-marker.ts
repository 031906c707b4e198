import type { GraphQLResolveInfo } from 'graphql';

import type { Marker } from '../../model/marker.js';
import { hasSource } from '../../store/source/source-mapping.js';
import type { RequestContext } from '../context.js';
import { selectedReadings } from './selected-readings.js';

/**
 * Loads a marker as of its last write; null if there is none. Readings that the query selects are read by the same
 * Query call.
 */
export async function loadMarker(
  collectionKey: string,
  key: string,
  { map: { loaders, limits } }: RequestContext,
  info: GraphQLResolveInfo,
): Promise<Marker | null> {
  const selected = selectedReadings(info, limits.maxFirst);
  if (selected.length === 0) return loaders.entities.marker(collectionKey, key);
  const collection = await loaders.collections.get(collectionKey);
  if (!collection) return null;
  if (hasSource(collection)) return loaders.markers.load({ collection, key });
  const name = { collection, key };
  for (const wanted of selected) {
    // The readings field shares this read and reports its failure.
    loaders.markers.readings(name, wanted, true).catch(() => undefined);
  }
  return loaders.markers.load(name);
}
