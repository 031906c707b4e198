import type { Collection } from '../../model/collection.js';
import type { MapMarker } from '../../model/marker.js';
import type { MapContext } from '../context.js';
import type { MarkerFilter } from '../filter.js';

/**
 * Those of some markers that pass a filter, in their order. Where only base items show it, these are looked up together, and
 * counted.
 */
export async function passing<Found extends { readonly marker: MapMarker }>(
  { loaders }: MapContext,
  collection: Collection,
  filter: MarkerFilter | undefined,
  found: readonly Found[],
): Promise<{ readonly passed: readonly Found[]; readonly lookups: number }> {
  if (!filter) return { passed: found, lookups: 0 };
  let lookups = 0;
  const verdicts = await Promise.all(
    found.map(async ({ marker }) => {
      const verdict = filter.verdict(marker, collection);
      if (verdict !== 'unknown') return verdict === 'pass';
      lookups += 1;
      const base = await loaders.marker({ collection, key: marker.key });
      return base !== null && filter.passes(base);
    }),
  );
  return { passed: found.filter((_, index) => verdicts[index]), lookups };
}
