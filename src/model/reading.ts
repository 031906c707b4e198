import type { ReadingsBucket } from './collection.js';

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

/** The last instant, in milliseconds since 1970, accepted at `now`: clocks may be ahead by one bucket. */
export function latestInstant(bucket: ReadingsBucket, now: number): number {
  return bucket === 'NONE' ? Infinity : now + BUCKETS[bucket].ms;
}

/** Number of partitions that can hold unexpired readings of a marker. */
export function partitionsOf(bucket: ReadingsBucket, ttlDays: number): number {
  // One more at either end: the first bucket may have begun earlier, and clocks may be ahead.
  return bucket === 'NONE' ? 1 : Math.ceil((ttlDays * DAY_MS) / BUCKETS[bucket].ms) + 2;
}

/** The buckets from one instant to another (milliseconds since 1970), both included, latest first. */
export function bucketsDown(bucket: Exclude<ReadingsBucket, 'NONE'>, from: number, to: number): string[] {
  const { ms, characters } = BUCKETS[bucket];
  const first = Math.floor(from / ms);
  const count = Math.max(0, Math.floor(to / ms) - first + 1);
  return Array.from({ length: count }, (_, index) =>
    new Date((first + count - 1 - index) * ms).toISOString().slice(0, characters),
  );
}
