import type { Collection } from '../model/collection.js';
import type { MarkerFilter } from '../model/grant.js';
import type { MapMarker } from '../model/marker.js';
import type { SearchContext } from './search.js';

/**
 * The markers that match a filter, in the given order. If only base items can tell, they are looked up together. `decided`
 * is the number of markers decided: all, or those before the first that would exceed the look-ups.
 */
export async function passing<Found extends { readonly marker: MapMarker }>(
  { loaders }: SearchContext,
  collection: Collection,
  filter: MarkerFilter | undefined,
  found: readonly Found[],
  mostLookups: number,
): Promise<{ readonly passed: readonly Found[]; readonly decided: number; readonly lookups: number }> {
  if (!filter) return { passed: found, decided: found.length, lookups: 0 };
  let lookups = 0;
  const verdicts: Promise<boolean>[] = [];
  for (const { marker } of found) {
    const verdict = filter.verdict(marker, collection);
    if (verdict === 'unknown' && lookups === mostLookups) break;
    if (verdict === 'unknown') lookups += 1;
    const decide = async () => {
      if (verdict !== 'unknown') return verdict === 'pass';
      const base = await loaders.markers.load({ collection, key: marker.key });
      return base !== null && filter.passes(base);
    };
    verdicts.push(decide());
  }
  const passes = await Promise.all(verdicts);
  return { passed: found.filter((_, index) => passes[index]), decided: verdicts.length, lookups };
}
