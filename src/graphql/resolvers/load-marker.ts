import type { GraphQLResolveInfo } from 'graphql';

import type { MarkerName } from '../../loaders/marker-loader.js';
import type { Marker } from '../../model/marker.js';
import type { RequestContext } from '../context.js';
import { readingsAsked } from '../readings-asked.js';

/** A marker by name, null where there is none; the readings that the query selects of it are read in the same Query. */
export function loadMarker(
  name: MarkerName,
  { map: { loaders, limits } }: RequestContext,
  info: GraphQLResolveInfo,
): Promise<Marker | null> {
  for (const wanted of readingsAsked(info, limits.maxFirst)) {
    // The field asks the same and gets the same, its failure too.
    loaders.readings(name, wanted).catch(() => undefined);
  }
  return loaders.marker(name);
}
