import type { Clock } from '../clock.js';
import type { StreamState } from '../store/cell/stream-state.js';
import { isAfter, type StreamRecord } from '../stream/change.js';

/** Maximum time for a record that one reader of the stream has got to appear for others. */
const APPEARS_WITHIN_MS = 300;
/** Times of records are cut to seconds, by DynamoDB Local to minutes, and clocks that DynamoDB sets differ by two seconds. */
const TIMES_DIFFER_MS = 65_000;

/**
 * Waits for a record, delivered just now, to be applied; without one, for everything that was written before. AWS does not
 * tell which shard it is from, so this is learned when the record is read. If another process had read it before, the
 * stream has been read to its end since.
 */
export function awaitRecord(record: Pick<StreamRecord, 'sequence' | 'at'> | undefined, clock: Pick<Clock, 'now'>) {
  const readBy = clock.now() + APPEARS_WITHIN_MS;
  let shard: string | undefined;
  return {
    /** Call with each record that is read. */
    onRecord(this: void, read: StreamRecord, from?: string): void {
      if (read.sequence === record?.sequence) shard = from;
    },
    /** Whether a state includes it, given when the stream was last known to be read to its end, by the clock. */
    isApplied(this: void, { shards, endAt }: StreamState, completeAt = -Infinity): boolean {
      if (completeAt >= readBy) return true;
      if (record === undefined) return false;
      const after = shard === undefined ? undefined : shards[shard]?.after;
      if (after !== undefined) return !isAfter(record.sequence, after);
      return record.at > 0 && endAt !== null && endAt >= record.at + APPEARS_WITHIN_MS + TIMES_DIFFER_MS;
    },
  };
}
