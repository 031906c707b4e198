import type { PartitionRange } from '../../keys/keyspace.js';
import { bucketsDown, latestInstant } from '../../model/reading.js';
import { periodStart } from '../../model/reading-summary.js';
import type { Database } from '../database.js';
import type { MarkerReference } from '../marker/markers.js';

/** The part of a partition that may have readings of a time. */
export interface ReadingPartition {
  readonly range: PartitionRange;
  /** The instant at which it begins. */
  readonly begins: string;
}

/**
 * Where a marker's readings from one instant to another may be (RFC 3339, both included), in the order of time; `now` is
 * in milliseconds since 1970.
 */
export function rangesOf(
  { keys }: Database,
  { collection, key }: MarkerReference,
  from: string,
  to: string | undefined,
  now: number,
): ReadingPartition[] {
  const { readingsBucket: bucket } = collection;
  const of = { scope: keys.scope(collection), key };
  if (bucket === 'NONE') return [{ range: keys.readingRange(of, from, to), begins: from }];
  const end = Math.min(latestInstant(bucket, now), to === undefined ? Infinity : Date.parse(to));
  return bucketsDown(bucket, Date.parse(from), end)
    .toReversed()
    .map((one) => ({
      range: keys.readingRange({ ...of, bucket: one }, from, to),
      begins: periodStart(bucket, one),
    }));
}
