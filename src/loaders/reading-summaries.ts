import {
  type SummariesWanted,
  type SummaryBudget,
  type SummaryPage,
  readSummaries,
} from '../store/reading/reading-summaries.js';
import type { Collection } from '../model/collection.js';
import { type KeptTrust, readKeptSummaries } from '../store/reading/kept-summaries.js';
import type { MarkerReference } from '../store/marker/markers.js';
import type { MarkerLoader, MarkerLoaderOptions } from './marker-loader.js';
import type { PageTrust } from './pages/trust.js';

export interface SummaryLoaderOptions extends MarkerLoaderOptions {
  readonly trust: Pick<PageTrust, 'summaries'>;
}

const CLOCKS_DIFFER_MS = 3_600_000;
const NOTHING_KEPT: KeptTrust = { current: false, finalBefore: -Infinity };

/** The loader of summaries of one request. */
export function createSummaryLoader(
  { db, call, slots, limits, now, trust }: SummaryLoaderOptions,
  { marker }: Pick<MarkerLoader, 'marker'>,
) {
  const budget: SummaryBudget = { queries: limits.readingQueries, items: limits.itemsPerField };
  return {
    /** A page of a marker's summaries; none if there is no such marker. Those of one request share its limits. */
    async summaries(name: MarkerReference, wanted: SummariesWanted): Promise<SummaryPage> {
      const found = await marker(name);
      if (found === null) return { summaries: [], next: null };
      const options = { now: now().getTime(), budget, call };
      const kept = await keptOf(name.collection, trust);
      if (kept === undefined) return slots(() => readSummaries(db, name, found, wanted, options));
      return slots(() => readKeptSummaries(db, name, found, wanted, { ...options, trust: kept }));
    },
  };
}

/** What is known of the summaries that a collection keeps; undefined if it keeps none. */
async function keptOf(
  { readingsSummarized, createdAt }: Collection,
  trust: SummaryLoaderOptions['trust'],
): Promise<KeptTrust | undefined> {
  if (!readingsSummarized) return undefined;
  const summaries = await trust.summaries();
  const complete = summaries !== undefined && Date.parse(createdAt) - CLOCKS_DIFFER_MS >= summaries.since;
  // Periods must be whole even if all are computed from readings.
  return complete || summaries?.since === 0 ? summaries : NOTHING_KEPT;
}
