import { badInput } from '../errors.js';

/** RFC 3339: date, T, time, fraction, and Z or an offset. */
const INSTANT = /^(\d{4})-(\d\d)-(\d\d)T([01]\d|2[0-3]):([0-5]\d):([0-5]\d)(\.\d+)?(Z|[+-]([01]\d|2[0-3]):[0-5]\d)$/i;

/** `2026-11-21T09:30:00.000Z`: sorts by time anywhere in a key. */
const CANONICAL_LENGTH = 24;

/**
 * Converts a client's instant to UTC with milliseconds, always of the same width; finer fractions are truncated. Throws
 * BAD_USER_INPUT naming `field` and what is `allowed` for anything that is not RFC 3339 or not in the years 0000 to 9999 UTC.
 */
export function readInstant(
  field: string,
  value: unknown,
  allowed = 'an RFC 3339 instant such as 2026-11-21T09:30:00Z',
): string {
  const parts = typeof value === 'string' ? INSTANT.exec(value) : null;
  const [, year, month, day] = (parts ?? []).map(Number);
  // Date would convert 30 February to 2 March.
  const dayExists =
    year !== undefined &&
    month !== undefined &&
    day !== undefined &&
    new Date(Date.UTC(year, month - 1, day)).getUTCDate() === day;
  if (parts !== null && dayExists && month >= 1 && month <= 12) {
    const instant = new Date(parts[0].toUpperCase()).toISOString();
    // An offset can lead to a year of more than four digits.
    if (instant.length === CANONICAL_LENGTH) return instant;
  }
  throw badInput(field, value, allowed);
}

/** Whether a string is an instant in the form that `readInstant` returns. */
export function isInstant(text: string): boolean {
  const time = Date.parse(text);
  return text.length === CANONICAL_LENGTH && !Number.isNaN(time) && new Date(time).toISOString() === text;
}
