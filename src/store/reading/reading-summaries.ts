import { CellportError, limitExceeded } from '../../errors.js';
import { periodStart, withNumber, type ReadingSummary, type SummaryPeriod } from '../../model/reading-summary.js';
import type { Call, Item } from '../database.js';
import type { MarkerReference } from '../marker/markers.js';
import type { StoredRange } from '../request/ranges.js';
import { queryResponse } from '../table/query-responses.js';
import { readingFromItem } from './reading-item.js';
import { partitionsDown } from './reading-partitions.js';
import { startOf } from './readings.js';

/** Which summaries of a marker's readings: of `value`, from an instant on, up to another one (RFC 3339, both included). */
export interface SummariesWanted {
  readonly value: string;
  readonly period: SummaryPeriod;
  readonly from: string;
  readonly to: string | undefined;
  /** Most periods. */
  readonly first: number;
}

/** Summaries in the order of time; `next` is where the ones that follow begin, null if none do. */
export interface Summaries {
  readonly summaries: readonly ReadingSummary[];
  readonly next: string | null;
}

/** What is left of what the summaries of one request may read. */
export interface SummaryBudget {
  queries: number;
  items: number;
}

export interface SummaryOptions {
  /** Milliseconds since 1970. */
  readonly now: number;
  readonly budget: SummaryBudget;
}

/** Few enough to be handled in one turn. */
const ITEMS_OF_A_QUERY = 1_000;

/** LIMIT_EXCEEDED for an answer that would not even have one period. */
export class TooManyReadings extends CellportError {
  constructor() {
    const { code, message, details } = limitExceeded(
      'number of readings in one period',
      'more than this request may still read',
      'that of CELLPORT_MAX_ITEMS and CELLPORT_MAX_READING_QUERIES',
      'request HOUR, or fewer markers at a time',
    );
    super(code, message, details);
  }
}

/** The items of a range in order; returns whether the budget was enough. */
export async function* itemsUp(
  call: Call,
  range: StoredRange,
  { budget }: SummaryOptions,
): AsyncGenerator<Item, boolean, undefined> {
  for (let after: Item | undefined; ;) {
    const limit = Math.min(ITEMS_OF_A_QUERY, budget.items);
    if (budget.queries < 1 || limit < 1) return false;
    budget.queries -= 1;
    // Reserved, as other summaries are read meanwhile.
    budget.items -= limit;
    const { Items = [], LastEvaluatedKey } = await queryResponse(call, { ...range, limit }, after);
    budget.items += limit - Items.length;
    await call.db.scheduler.takeTurn(call.signal);
    yield* Items;
    if (LastEvaluatedKey === undefined) return true;
    after = LastEvaluatedKey;
  }
}

/**
 * Summaries of a marker's readings by hour or day, computed from the readings that have not expired; periods without a number
 * are omitted. They end when there are `first` of them or the budget is used up; then `next` is the period that was not read to
 * its end. Throws LIMIT_EXCEEDED if the budget does not suffice for a single period.
 */
export async function readSummaries(
  call: Call,
  reference: MarkerReference,
  incarnation: string,
  { value, period, from, to, first }: SummariesWanted,
  options: SummaryOptions,
): Promise<Summaries> {
  const start = startOf(reference.collection, from, options.now) ?? from;
  if (to !== undefined && start > to) return { summaries: [], next: null };
  const summaries: ReadingSummary[] = [];
  let open: ReadingSummary | undefined;
  /** The period up to which everything has been read. */
  let reached = periodStart(period, start);
  function reach(instant: string): void {
    const next = periodStart(period, instant);
    if (next <= reached) return;
    reached = next;
    if (open !== undefined) summaries.push(open);
    open = undefined;
  }
  for (const { range, begins } of partitionsDown(call.db, reference, start, to, options.now).toReversed()) {
    reach(begins);
    const items = itemsUp(call, range, options);
    let step = await items.next();
    for (; step.done !== true; step = await items.next()) {
      const { pk, sk } = step.value;
      const instant = call.db.keys.parseReading({ pk: String(pk), sk: String(sk) })?.instant;
      if (instant !== undefined) reach(instant);
      if (summaries.length >= first) return { summaries, next: reached };
      const number = readingFromItem(call.db.keys, step.value, incarnation, options.now)?.values[value];
      if (typeof number === 'number') open = withNumber(open, reached, number);
    }
    if (step.value) continue;
    if (reached <= start) {
      throw new TooManyReadings();
    }
    return { summaries, next: reached };
  }
  if (open !== undefined) summaries.push(open);
  return { summaries, next: null };
}
