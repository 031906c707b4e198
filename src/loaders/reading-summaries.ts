import type { SummariesWanted, SummaryBudget, SummaryPage } from '../store/reading/reading-summaries.js';
import { readSummaries } from '../store/reading/reading-summaries.js';
import type { MarkerLoader, MarkerLoaderOptions, MarkerName } from './marker-loader.js';

/** Reads summaries of readings. */
export interface SummaryLoader {
  /** A page of a marker's summaries; none if there is no such marker. Those of one request share its limits. */
  summaries(name: MarkerName, wanted: SummariesWanted): Promise<SummaryPage>;
}

/** The loader of summaries of one request. */
export function createSummaryLoader(
  { db, call, slots, limits, now }: MarkerLoaderOptions,
  { marker }: Pick<MarkerLoader, 'marker'>,
): SummaryLoader {
  const budget: SummaryBudget = { queries: limits.readingQueries, items: limits.itemsPerField };
  return {
    async summaries(name, wanted) {
      const found = await marker(name);
      if (found === null) return { summaries: [], next: null };
      return slots(() => readSummaries(db, name, found, wanted, { now: now().getTime(), budget, call }));
    },
  };
}
