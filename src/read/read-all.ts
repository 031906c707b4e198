import { limitExceeded } from '../errors.js';
import type { MapMarker } from '../model/marker.js';
import type { MapContext, MapLimits } from './context.js';
import { type MarkerQuery, findMarkers } from './find-markers.js';

/** A query without pages. */
export interface WholeQuery extends Omit<MarkerQuery, 'after' | 'wanted'> {
  /** The API field, for error messages. */
  readonly field: string;
  /** Number of markers that suffice; Infinity for all. */
  readonly wanted?: number;
  /** Advice for error messages. */
  readonly advice: string;
}

/**
 * All markers of a query. Throws LIMIT_EXCEEDED if that exceeds the budget of a field; never returns only some of them.
 */
export async function readAll(
  context: MapContext,
  { field, advice, wanted = Infinity, ...query }: WholeQuery,
): Promise<readonly MapMarker[]> {
  const { found, resumeAfter } = await findMarkers(context, { ...query, wanted });
  if (resumeAfter !== undefined && found.length < wanted) throw tooMuch(field, context.limits, advice);
  return found.map(({ marker }) => marker);
}

/** LIMIT_EXCEEDED for a field that would exceed its budget. */
export function tooMuch(
  field: string,
  { queryCalls, itemsPerField }: Pick<MapLimits, 'queryCalls' | 'itemsPerField'>,
  advice: string,
) {
  const allowed = `${queryCalls} Query calls or ${itemsPerField} items`;
  return limitExceeded(field, 'more than one field may read', allowed, advice);
}
