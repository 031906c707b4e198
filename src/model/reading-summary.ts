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
