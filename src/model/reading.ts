/** What was measured of a marker at one instant. */
export interface Reading {
  /** RFC 3339, UTC, milliseconds. */
  readonly at: string;
  /** Numbers and texts by name. */
  readonly values: Readonly<Record<string, unknown>>;
}

const DAY_MS = 86_400_000;

/**
 * The last instant, in milliseconds since 1970, whose readings have expired at `now`; undefined where readings are kept
 * for good. `ttlDays` is the collection's.
 */
export function expiredUpTo(ttlDays: number | null, now: number): number | undefined {
  return ttlDays === null ? undefined : now - ttlDays * DAY_MS;
}

/** When DynamoDB may remove a reading of `at` (milliseconds since 1970): seconds since 1970, never before it has expired. */
export function removableFrom(ttlDays: number, at: number): number {
  return Math.ceil((at + ttlDays * DAY_MS) / 1000);
}
