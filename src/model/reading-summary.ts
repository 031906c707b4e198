import { DAY_MS, type Reading } from './reading.js';

/** The length of a summary's period: an hour, or a day, in UTC. */
export type SummaryPeriod = 'HOUR' | 'DAY';

/** What the readings of an hour or a day say of one value. */
export interface ReadingSummary {
  /** When the period begins: RFC 3339, UTC, milliseconds. */
  readonly start: string;
  /** Readings that have the value as a number. */
  readonly count: number;
  readonly min: number;
  readonly max: number;
  readonly mean: number;
}

const CHARACTERS = { HOUR: '2026-11-21T10'.length, DAY: '2026-11-21'.length } as const;
const REST = 'T00:00:00.000Z';
const LAST = 'T23:59:59.999Z';

/** The beginning of the period of an instant, both RFC 3339, UTC with milliseconds. */
export function periodStart(period: SummaryPeriod, instant: string): string {
  const characters = CHARACTERS[period];
  return instant.slice(0, characters) + REST.slice(characters - CHARACTERS.DAY);
}

/** The summary with one more number. */
export function withNumber(before: ReadingSummary | undefined, start: string, value: number): ReadingSummary {
  if (before === undefined) return { start, count: 1, min: value, max: value, mean: value };
  const count = before.count + 1;
  return {
    start,
    count,
    min: Math.min(before.min, value),
    max: Math.max(before.max, value),
    // Not from the sum, which may be too large for a number.
    mean: before.mean * (before.count / count) + value / count,
  };
}

/** The summaries of a day by value: one of the day, and one of each hour with a number. */
export type DaySummaries = ReadonlyMap<string, Readonly<Record<SummaryPeriod, readonly ReadingSummary[]>>>;

/** Adds up the readings of one day, which must come in the order of time. */
export class DayFold {
  readonly #values = new Map<string, Record<SummaryPeriod, ReadingSummary[]>>();

  add({ at, values }: Reading): void {
    for (const [name, value] of Object.entries(values)) {
      if (typeof value !== 'number') continue;
      const summaries = this.#values.get(name) ?? { HOUR: [], DAY: [] };
      this.#values.set(name, summaries);
      for (const period of ['HOUR', 'DAY'] as const) {
        const start = periodStart(period, at);
        const last = summaries[period].at(-1);
        if (last?.start === start) summaries[period].splice(-1, 1, withNumber(last, start, value));
        else summaries[period].push(withNumber(undefined, start, value));
      }
    }
  }

  summaries(): DaySummaries {
    return this.#values;
  }
}

type Figures = readonly [hour: number, count: number, min: number, max: number, mean: number];

const figuresOf = ({ start, count, min, max, mean }: ReadingSummary): Figures => [
  Number(start.slice(CHARACTERS.DAY + 1, CHARACTERS.HOUR)),
  count,
  min,
  max,
  mean,
];

/**
 * Summaries as text. Not as numbers of DynamoDB, which rejects means below the smallest number that it can store.
 */
export function formatDay(summaries: DaySummaries): string {
  return JSON.stringify(
    [...summaries].map(([name, { HOUR, DAY }]) => [name, DAY.map(figuresOf), HOUR.map(figuresOf)] as const),
  );
}

/** The summaries of one value from the text of a day (`2026-11-21`); none if the day has none. */
export function parseDay(text: string, day: string, value: string, period: SummaryPeriod): readonly ReadingSummary[] {
  const all = JSON.parse(text) as readonly (readonly [string, readonly Figures[], readonly Figures[]])[];
  const [, days = [], hours = []] = all.find(([name]) => name === value) ?? [];
  return (period === 'DAY' ? days : hours).map(([hour, count, min, max, mean]) => {
    return { start: `${day}T${String(hour).padStart(2, '0')}:00:00.000Z`, count, min, max, mean };
  });
}

/** The UTC day (`2026-11-21`) of an instant (RFC 3339, UTC). */
export const dayOf = (instant: string): string => instant.slice(0, CHARACTERS.DAY);

/** The first and the last instant of a day. */
export const beginOf = (day: string): string => day + REST;
export const endOf = (day: string): string => day + LAST;

const shifted = (day: string, days: number) => dayOf(new Date(Date.parse(beginOf(day)) + days * DAY_MS).toISOString());
export const dayAfter = (day: string): string => shifted(day, 1);
export const dayBefore = (day: string): string => shifted(day, -1);

/** The last instant of the period of an instant, both RFC 3339, UTC with milliseconds. */
export function periodEnd(period: SummaryPeriod, instant: string): string {
  const characters = CHARACTERS[period];
  return instant.slice(0, characters) + LAST.slice(characters - CHARACTERS.DAY);
}

/** Before a day's first reading expires, by as much its summaries become final: clocks differ. */
const FINAL_BEFORE_MS = 3_600_000;

/**
 * When the summaries of a day (`2026-11-21`) become final, in milliseconds since 1970: its readings begin to expire, so
 * that nothing can be computed from them any more. Infinity if readings are kept forever.
 */
export function finalFrom(day: string, ttlDays: number | null): number {
  if (ttlDays === null) return Infinity;
  return Date.parse(beginOf(day)) + ttlDays * DAY_MS - FINAL_BEFORE_MS;
}

/** The first day whose summaries are not final at `now`; undefined if none ever are. */
export function firstLiveDay(ttlDays: number | null, now: number): string | undefined {
  if (ttlDays === null) return undefined;
  return dayAfter(dayOf(new Date(now - ttlDays * DAY_MS + FINAL_BEFORE_MS).toISOString()));
}
