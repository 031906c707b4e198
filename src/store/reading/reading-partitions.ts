import type { Collection } from '../../model/collection.js';
import { areApart, latestInstant, partsDown } from '../../model/reading.js';
import type { Database } from '../database.js';
import type { MarkerReference } from '../marker/markers.js';
import type { StoredRange } from '../request/ranges.js';
import { monthTable } from '../table/month-tables.js';

/** The part of a partition that may have readings of a time. */
export interface ReadingPartition {
  readonly range: StoredRange;
  /** The instant at which it begins. */
  readonly begins: string;
}

/** The last instant, in milliseconds since 1970, of which there may be readings up to `to` (RFC 3339). */
const lastOf = (collection: Collection, to: string | undefined, now: number) =>
  Math.min(latestInstant(collection, now), to === undefined ? Infinity : Date.parse(to));

/**
 * Where a marker's readings from one instant to another may be (RFC 3339, both included), latest first; `now` is in
 * milliseconds since 1970. Without `from`, only where readings are that are not apart from their marker.
 */
export function partitionsDown(
  { keys, tables }: Database,
  { collection, key }: MarkerReference,
  from: string | undefined,
  to: string | undefined,
  now: number,
): ReadingPartition[] {
  const of = { scope: keys.scope(collection), key };
  if (!areApart(collection) || from === undefined) {
    return [{ range: { index: 'entities', ...keys.readingRange(of, from, to) }, begins: from ?? '' }];
  }
  return partsDown(collection, Date.parse(from), lastOf(collection, to, now)).map(({ month, bucket, begins }) => ({
    range: {
      index: 'entities',
      table: month === undefined ? undefined : monthTable(tables, month),
      ...keys.readingRange({ ...of, bucket }, from, to),
    },
    begins,
  }));
}
