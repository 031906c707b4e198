import {
  beginOf,
  dayAfter,
  dayBefore,
  dayOf,
  endOf,
  finalFrom,
  firstLiveDay,
  parseDay,
  periodEnd,
  periodStart,
  type ReadingSummary,
} from '../../model/reading-summary.js';
import type { Call, Item } from '../database.js';
import type { MarkerReference } from '../marker/markers.js';
import { keptIn } from './kept-days.js';
import {
  itemsUp,
  readSummaries,
  TooManyReadings,
  type Summaries,
  type SummariesWanted,
  type SummaryOptions,
} from './reading-summaries.js';

/** What is known of the summaries that the stream's consumer keeps. */
export interface KeptTrust {
  /** Whether they include every reading written up to a moment ago. */
  readonly current: boolean;
  /** Summaries that became final before, in milliseconds since 1970, are correct even if others are not. */
  readonly finalBefore: number;
}

/** A day is computed until it has been over for this long: by then, the consumer has opened it. */
const OVER_FOR_MS = 3_600_000;

export interface KeptOptions extends SummaryOptions {
  readonly trust: KeptTrust;
}

/** Collects summaries from parts that follow each other in time. */
class Collected {
  readonly summaries: ReadingSummary[] = [];
  next: string | null = null;
  readonly #first: number;

  constructor(first: number) {
    this.#first = first;
  }

  get left(): number {
    return this.#first - this.summaries.length;
  }

  get isFull(): boolean {
    return this.next !== null;
  }

  add(summaries: readonly ReadingSummary[], next: string | null = null): void {
    const over = summaries[this.left];
    this.summaries.push(...summaries.slice(0, this.left));
    this.next = over?.start ?? next;
  }
}

/** Summaries of one marker, from kept days and from readings. */
class KeptReader {
  readonly #call: Call;
  readonly #reference: MarkerReference;
  readonly #incarnation: string;
  readonly #wanted: SummariesWanted;
  readonly #options: KeptOptions;
  readonly #found: Collected;
  /** What is to be computed from readings: from an instant, up to another one, or to the end. */
  #run: { readonly from: string; readonly to: string | undefined } | undefined;

  constructor(
    call: Call,
    reference: MarkerReference,
    incarnation: string,
    wanted: SummariesWanted,
    options: KeptOptions,
  ) {
    this.#call = call;
    this.#reference = reference;
    this.#incarnation = incarnation;
    this.#options = options;
    const { period, from, to } = wanted;
    this.#wanted = {
      ...wanted,
      from: periodStart(period, from),
      to: to === undefined ? undefined : periodEnd(period, to),
    };
    this.#found = new Collected(wanted.first);
  }

  /** The begin of the first day of which everything is read from readings; the ones before are kept. */
  #boundary(): string {
    const { now } = this.#options;
    if (this.#options.trust.current) return beginOf(dayOf(new Date(now - OVER_FOR_MS).toISOString()));
    const live = firstLiveDay(this.#reference.collection.readingsTtlDays, now);
    return live === undefined ? this.#wanted.from : beginOf(live);
  }

  /** The summaries in a day's item; undefined if they may be outdated, or are of an earlier marker. */
  #keptIn(item: Item, day: string): readonly ReadingSummary[] | undefined {
    const { current, finalBefore } = this.#options.trust;
    if (!current && this.#finalFrom(day) >= finalBefore) return undefined;
    const kept = keptIn(item);
    if (kept?.incarnation !== this.#incarnation) return undefined;
    const { value, period, from, to = '9' } = this.#wanted;
    return parseDay(kept.text, day, value, period).filter(({ start }) => start >= from && start <= to);
  }

  #finalFrom(day: string): number {
    return finalFrom(day, this.#reference.collection.readingsTtlDays);
  }

  async #addDay(item: Item, day: string): Promise<void> {
    const kept = this.#keptIn(item, day);
    if (kept !== undefined) {
      await this.#endRun();
      if (!this.#found.isFull) this.#found.add(kept);
    } else if (this.#finalFrom(day) > this.#options.now) {
      // Days without an item in between have no readings.
      this.#run = { from: this.#run?.from ?? beginOf(day), to: endOf(day) };
    }
  }

  /** Adds the summaries of the run, computed from readings. */
  async #endRun(): Promise<void> {
    const { from, to } = this.#wanted;
    const run = this.#run;
    this.#run = undefined;
    if (run === undefined || this.#found.isFull) return;
    const begin = run.from > from ? run.from : from;
    if (this.#found.left === 0) {
      this.#found.add([], begin);
      return;
    }
    const end = to !== undefined && (run.to === undefined || to < run.to) ? to : run.to;
    const wanted = { ...this.#wanted, first: this.#found.left, from: begin, to: end };
    try {
      const read = await readSummaries(this.#call, this.#reference, this.#incarnation, wanted, this.#options);
      this.#found.add(read.summaries, read.next);
    } catch (error) {
      // What was read before is returned.
      if (!(error instanceof TooManyReadings) || begin <= from) throw error;
      this.#found.add([], begin);
    }
  }

  /** Adds the days before the boundary; returns the day after the last one read if the budget was not enough for all. */
  async #addKept(from: string, to: string): Promise<string | undefined> {
    const { keys } = this.#call.db;
    const { collection, key } = this.#reference;
    const range = keys.daySummaryRange(keys.scope(collection), key, from, to);
    const items = itemsUp(this.#call, { index: 'derived', consistent: true, ...range }, this.#options);
    let next = from;
    let step = await items.next();
    for (; step.done !== true && !this.#found.isFull; step = await items.next()) {
      const { pk, sk } = step.value;
      const day = keys.parseDaySummary({ pk: String(pk), sk: String(sk) })?.day;
      if (day === undefined) continue;
      await this.#addDay(step.value, day);
      next = dayAfter(day);
    }
    return step.done === true && !step.value ? next : undefined;
  }

  async read(): Promise<Summaries> {
    const { from, to } = this.#wanted;
    const boundary = this.#boundary();
    const lastKept = to !== undefined && to < boundary ? dayOf(to) : dayBefore(dayOf(boundary));
    const left = dayOf(from) <= lastKept ? await this.#addKept(dayOf(from), lastKept) : undefined;
    if (left !== undefined) {
      await this.#endRun();
      const next = this.#found.next ?? beginOf(left);
      if (next <= from) throw new TooManyReadings();
      return { summaries: this.#found.summaries, next };
    }
    if (to === undefined || to >= boundary) this.#run = { from: this.#run?.from ?? boundary, to: undefined };
    await this.#endRun();
    return { summaries: this.#found.summaries, next: this.#found.next };
  }
}

/**
 * Summaries of a marker's readings in a collection that keeps them: those of past days by one Query, those of days whose
 * readings have changed lately from the readings. Periods are whole, also the first and the last. The days of expired
 * readings remain. Otherwise like `readSummaries`.
 */
export function readKeptSummaries(
  call: Call,
  reference: MarkerReference,
  incarnation: string,
  wanted: SummariesWanted,
  options: KeptOptions,
): Promise<Summaries> {
  return new KeptReader(call, reference, incarnation, wanted, options).read();
}
