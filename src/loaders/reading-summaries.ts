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
import type { ConsumerTrust } from './consumer-trust.js';

export interface SummaryLoaderOptions extends MarkerLoaderOptions {
  readonly trust: Pick<ConsumerTrust, 'summaries'>;
}

const CLOCKS_DIFFER_MS = 3_600_000;
const NOTHING_KEPT: KeptTrust = { current: false, finalBefore: -Infinity };

/** The loader of summaries of one request. */
export function createSummaryLoader(
  { db, call, slots, limits, now, trust }: SummaryLoaderOptions,
  { marker }: Pick<MarkerLoader, 'marker'>,
) {
  const most: SummaryBudget = { queries: limits.readingQueries, items: limits.itemsPerField };
  const budget = { ...most };
  return {
    /**
     * A page of a marker's summaries; none if there is no such marker. Those of one request share its limits, which are
     * renewed while a page is empty but not the last.
     */
    async summaries(name: MarkerReference, wanted: SummariesWanted): Promise<SummaryPage> {
      const found = await marker(name);
      if (found === null) return { summaries: [], next: null };
      const options = { now: now().getTime(), budget, call };
      const kept = await keptOf(name.collection, trust);
      const read = (some: SummariesWanted) =>
        slots(() =>
          kept === undefined
            ? readSummaries(db, name, found.incarnation, some, options)
            : readKeptSummaries(db, name, found.incarnation, some, { ...options, trust: kept }),
        );
      let page = await read(wanted);
      // To a user, an empty page means that there are no readings.
      while (page.summaries.length === 0 && page.next !== null && call.isLate?.() !== true) {
        Object.assign(budget, most);
        page = await read({ ...wanted, from: page.next });
      }
      return page;
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
