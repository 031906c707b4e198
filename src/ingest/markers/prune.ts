import { CellportError } from '../../errors.js';
import type { Marker } from '../../model/marker.js';
import { whileCollectionExists } from '../../store/collection/watch-collection.js';
import { deleteMarker } from '../../store/marker/marker-changes.js';
import { mapConcurrently } from '../../store/request/concurrency.js';
import { retryInBackground } from '../../store/request/retries.js';
import { type MarkersJob, readMarkers } from '../export/read-markers.js';
import type { KeyLines } from '../read/key-lines.js';

const DELETES_AT_A_TIME = 16;

export interface PruneJob extends MarkersJob {
  /** The keys of all rows of a file. */
  readonly keys: KeyLines;
  /** RFC 3339 in UTC: markers created later stay, as whoever made the file cannot have known them. */
  readonly before: string;
}

const isAbsent = ({ keys, before }: PruneJob, { key, createdAt }: Marker) => createdAt < before && !keys.has(key);

/** Counts a collection's markers, and those that a file no longer has. */
export async function countAbsent(job: PruneJob): Promise<{ readonly markers: number; readonly absent: number }> {
  const counts = { markers: 0, absent: 0 };
  for await (const markers of readMarkers(job)) {
    counts.markers += markers.length;
    counts.absent += markers.filter((marker) => isAbsent(job, marker)).length;
  }
  return counts;
}

/**
 * Deletes the markers that a file no longer has; returns their number. A marker that changes meanwhile stays. May be
 * repeated after an interruption. `onRemoved` receives the number so far.
 */
export function removeAbsent(job: PruneJob, now: () => Date, onRemoved: (count: number) => void): Promise<number> {
  const { database, collection } = job;
  let removed = 0;
  return whileCollectionExists(database, collection, job.call, async (call) => {
    async function remove({ key, version: expectedVersion }: Marker): Promise<void> {
      const options = { now: now().toISOString(), expectedVersion };
      try {
        await retryInBackground(() => deleteMarker(database, { collection, key }, options, call), call.signal);
      } catch (error) {
        if (error instanceof CellportError && error.code === 'CONFLICT') return;
        // Deleted by others, or by an attempt whose answer was lost.
        if (!(error instanceof CellportError) || error.code !== 'NOT_FOUND' || call.signal?.aborted === true)
          throw error;
      }
      removed += 1;
    }
    for await (const markers of readMarkers({ ...job, call })) {
      await mapConcurrently(
        markers.filter((marker) => isAbsent(job, marker)),
        DELETES_AT_A_TIME,
        remove,
      );
      onRemoved(removed);
    }
    return removed;
  });
}
