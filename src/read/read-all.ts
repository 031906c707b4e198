import { limitExceeded } from '../errors.js';
import type { Limits } from '../model/limits.js';
import type { MapMarker } from '../model/marker.js';
import { findMarkers, type MarkerQuery } from './find-markers.js';
import type { SearchContext } from './search.js';

/**
 * All markers of a query, or as many as it wants. Throws LIMIT_EXCEEDED, naming the API's field, if that exceeds the
 * budget of a field; never returns only some of them.
 */
export async function readAll(
  context: SearchContext,
  query: MarkerQuery,
  field: string,
  advice: string,
): Promise<readonly MapMarker[]> {
  const { found, resumeAfter } = await findMarkers(context, query);
  if (resumeAfter !== undefined && found.length < (query.wanted ?? Infinity)) {
    throw tooMuch(field, context.limits, advice);
  }
  return found.map(({ marker }) => marker);
}

/** LIMIT_EXCEEDED for a field that would exceed its budget. */
export function tooMuch(field: string, { queryCalls, itemsPerField }: Limits, advice: string) {
  const allowed = `${queryCalls} Query calls or ${itemsPerField} items`;
  return limitExceeded(field, 'more than one field may read', allowed, advice);
}
