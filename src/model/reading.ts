import type { Collection, ReadingsBucket } from './collection.js';

/** A measurement of a marker. */
export interface Reading {
  /** RFC 3339, UTC, milliseconds. */
  readonly at: string;
  /** Numbers and text values by name. */
  readonly values: Readonly<Record<string, unknown>>;
}

export const DAY_MS = 86_400_000;

/**
 * The last instant, in milliseconds since 1970, whose readings have expired by `now`; undefined if the collection keeps
 * readings forever (`ttlDays` is null).
 */
export function expiredUpTo(ttlDays: number | null, now: number): number | undefined {
  return ttlDays === null ? undefined : now - ttlDays * DAY_MS;
}

/**
 * The time, in seconds since 1970, from which DynamoDB may remove a reading of `at` (milliseconds since 1970); never
 * before it has expired.
 */
export function removableFrom(ttlDays: number, at: number): number {
  return Math.ceil((at + ttlDays * DAY_MS) / 1000);
}

/** The length of a bucket, and the number of characters of an instant that identify it. */
const BUCKETS = {
  DAY: { ms: DAY_MS, characters: '2026-11-21'.length },
  HOUR: { ms: DAY_MS / 24, characters: '2026-11-21T10'.length },
} as const;

/** The bucket of an instant (RFC 3339, UTC); buckets sort by time. Undefined without buckets. */
export function bucketOf(bucket: ReadingsBucket, instant: string): string | undefined {
  return bucket === 'NONE' ? undefined : instant.slice(0, BUCKETS[bucket].characters);
}

/** How the readings of a collection are divided. */
export type ReadingsPartitioning = Pick<Collection, 'readingsBucket' | 'readingsTable'>;

/** Whether readings are in other partitions than their marker. */
export function areApart({ readingsBucket, readingsTable }: ReadingsPartitioning): boolean {
  return readingsBucket !== 'NONE' || readingsTable === 'MONTHLY';
}

/** The last instant, in milliseconds since 1970, accepted at `now`: clocks may be ahead by one bucket, or by a day. */
export function latestInstant(layout: ReadingsPartitioning, now: number): number {
  const { readingsBucket: bucket } = layout;
  if (bucket !== 'NONE') return now + BUCKETS[bucket].ms;
  return areApart(layout) ? now + DAY_MS : Infinity;
}

const MONTH_CHARACTERS = '2026-11'.length;
const SHORTEST_MONTH_MS = 28 * DAY_MS;

/** The month (UTC) of an instant (RFC 3339, UTC); months sort by time. */
export const monthOf = (instant: string): string => instant.slice(0, MONTH_CHARACTERS);

/** The first instant after a month, in milliseconds since 1970. */
export function monthEnd(month: string): number {
  const [year = 0, number = 0] = month.split('-').map(Number);
  return Date.UTC(year, number);
}

/** The months from one instant to another (milliseconds since 1970), both included, latest first. */
export function monthsDown(from: number, to: number): string[] {
  const months: string[] = [];
  for (let at = from; at <= to; at = monthEnd(months.at(-1) ?? '')) months.push(monthOf(new Date(at).toISOString()));
  return months.toReversed();
}

/** The buckets from one instant to another (milliseconds since 1970), both included, latest first. */
function bucketsDown(bucket: Exclude<ReadingsBucket, 'NONE'>, from: number, to: number): string[] {
  const { ms, characters } = BUCKETS[bucket];
  const first = Math.floor(from / ms);
  const count = Math.max(0, Math.floor(to / ms) - first + 1);
  return Array.from({ length: count }, (_, index) =>
    new Date((first + count - 1 - index) * ms).toISOString().slice(0, characters),
  );
}

/** Readings of one time that are in the same table and, for each marker, in the same partition. */
export interface ReadingsPart {
  /** The month to whose table they belong; undefined if they are in the entities table. */
  readonly month: string | undefined;
  readonly bucket: string | undefined;
  /** The instant at which it begins: RFC 3339, UTC, milliseconds. */
  readonly begins: string;
}

const EPOCH = new Date(0).toISOString();
const completed = (instant: string) => instant + EPOCH.slice(instant.length);

/** The parts from one instant to another (milliseconds since 1970), both included, latest first. */
export function partsDown(
  { readingsBucket, readingsTable }: ReadingsPartitioning,
  from: number,
  to: number,
): ReadingsPart[] {
  const monthly = readingsTable === 'MONTHLY';
  if (readingsBucket !== 'NONE') {
    return bucketsDown(readingsBucket, from, to).map((bucket) => {
      return { bucket, month: monthly ? monthOf(bucket) : undefined, begins: completed(bucket) };
    });
  }
  if (!monthly) return [{ month: undefined, bucket: undefined, begins: new Date(from).toISOString() }];
  return monthsDown(from, to).map((month) => ({ month, bucket: undefined, begins: completed(month) }));
}

/** Number of partitions that can hold unexpired readings of a marker, in months of 28 days. */
export function partitionsOf(layout: ReadingsPartitioning, ttlDays: number): number {
  if (!areApart(layout)) return 1;
  const { readingsBucket: bucket } = layout;
  const ms = bucket === 'NONE' ? SHORTEST_MONTH_MS : BUCKETS[bucket].ms;
  // One more at either end: the first part may have begun earlier, and clocks may be ahead.
  return Math.ceil((ttlDays * DAY_MS) / ms) + 2;
}
