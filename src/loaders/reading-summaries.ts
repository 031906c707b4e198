import type { LimitFunction } from 'p-limit';

import type { Collection } from '../model/collection.js';
import type { Limits } from '../model/limits.js';
import type { Call } from '../store/database.js';
import type { MarkerReference } from '../store/marker/markers.js';
import { readKeptSummaries, type KeptTrust } from '../store/reading/kept-summaries.js';
import {
  readSummaries,
  type Summaries,
  type SummariesWanted,
  type SummaryBudget,
} from '../store/reading/reading-summaries.js';
import type { ConsumerTrust } from './consumer-trust.js';
import type { MarkerLoader } from './marker-loader.js';

const CLOCKS_DIFFER_MS = 3_600_000;
const NOTHING_KEPT: KeptTrust = { current: false, finalBefore: -Infinity };

/** What a request reads summaries with. */
export interface SummaryParts {
  readonly call: Call;
  readonly slots: LimitFunction;
  readonly limits: Limits;
  readonly now: () => Date;
  readonly trust: ConsumerTrust;
  readonly markers: MarkerLoader;
}

/** Loads summaries of readings for one request. */
export class SummaryLoader {
  readonly #parts: SummaryParts;
  readonly #budget: SummaryBudget = { queries: 0, items: 0 };

  constructor(parts: SummaryParts) {
    this.#parts = parts;
    this.#renew();
  }

  /**
   * A marker's summaries, as many as one answer may have; none if there is no such marker. Those of one request share its
   * limits, which are renewed while nothing is found but there is more.
   */
  async load(name: MarkerReference, wanted: SummariesWanted): Promise<Summaries> {
    const { call, slots, now, markers } = this.#parts;
    const found = await markers.load(name);
    if (found === null) return { summaries: [], next: null };
    const options = { now: now().getTime(), budget: this.#budget };
    const trust = await this.#keptOf(name.collection);
    const read = (some: SummariesWanted) =>
      slots(() =>
        trust === undefined
          ? readSummaries(call, name, found.incarnation, some, options)
          : readKeptSummaries(call, name, found.incarnation, some, { ...options, trust }),
      );
    let part = await read(wanted);
    // To a user, an empty part means that there are no readings.
    while (part.summaries.length === 0 && part.next !== null && call.isLate?.() !== true) {
      this.#renew();
      part = await read({ ...wanted, from: part.next });
    }
    return part;
  }

  #renew(): void {
    const { readingQueries, itemsPerField } = this.#parts.limits;
    Object.assign(this.#budget, { queries: readingQueries, items: itemsPerField });
  }

  /** What is known of the summaries that a collection keeps; undefined if it keeps none. */
  async #keptOf({ readingsSummarized, createdAt }: Collection): Promise<KeptTrust | undefined> {
    if (!readingsSummarized) return undefined;
    const summaries = await this.#parts.trust.summaries();
    const complete = summaries !== undefined && Date.parse(createdAt) - CLOCKS_DIFFER_MS >= summaries.since;
    // Periods must be whole even if all are computed from readings.
    return complete || summaries?.since === 0 ? summaries : NOTHING_KEPT;
  }
}
