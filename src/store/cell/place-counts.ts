import type { Place, PlaceCount } from '../../model/place.js';
import type { Database } from '../database.js';
import type { Call } from '../request/meter.js';
import { queryPages } from '../request/query-pages.js';
import { rangeRequest } from '../request/ranges.js';

/**
 * The places with markers directly below a place, in key order; undefined if there are more than `most` items. A place
 * that has lost its last marker keeps its item, which counts towards that number.
 */
export async function readPlaceCounts(
  database: Database,
  { scope, under, most }: { readonly scope: string; readonly under: Place; readonly most: number },
  call: Call,
): Promise<PlaceCount[] | undefined> {
  const { keys } = database;
  const found: PlaceCount[] = [];
  let items = 0;
  const request = rangeRequest(database, { index: 'cells', pk: keys.placesPartition(scope, under) });
  for await (const page of queryPages(database, request, call, most + 1)) {
    items += page.length;
    if (items > most) return undefined;
    for (const { pk, sk, n } of page) {
      const place = keys.parsePlaceCount({ pk: String(pk), sk: String(sk) })?.place;
      const name = place?.at(-1);
      // Below zero if the counts have missed records, which is then reported as a gap.
      if (place === undefined || name === undefined || typeof n !== 'number' || n <= 0) continue;
      found.push({ name, place, count: n });
    }
  }
  return found;
}
