import { CellportError } from '../../errors.js';
import type { Marker } from '../../model/marker.js';
import { whileCollectionExists } from '../../store/collection/watch-collection.js';
import { deleteMarker } from '../../store/removal/markers.js';
import { mapConcurrently, retryInBackground } from '../../store/request/pacing.js';
import { readMarkers, type MarkersJob } from '../export/read-markers.js';
import type { KeyLines } from '../read/key-lines.js';

const DELETES_AT_A_TIME = 16;

export interface PruneJob extends MarkersJob {
  /** The keys of all rows of a file. */
  readonly keys: KeyLines;
  /** When the import began. Markers created later stay: whoever made the file cannot have known them. */
  readonly began: Date;
}

/** Yields how many markers a collection has, and those of them that a file no longer has, in parts. */
async function* absentIn({ keys, began, ...job }: PruneJob) {
  for await (const markers of readMarkers(job)) {
    const absent = markers.filter(({ key, createdAt }) => createdAt < began.toISOString() && !keys.has(key));
    yield { markers: markers.length, absent };
  }
}

/** Counts a collection's markers, and those that a file no longer has. */
export async function countAbsent(job: PruneJob): Promise<{ readonly markers: number; readonly absent: number }> {
  const counts = { markers: 0, absent: 0 };
  for await (const { markers, absent } of absentIn(job)) {
    counts.markers += markers;
    counts.absent += absent.length;
  }
  return counts;
}

/** Deletes a marker; returns whether it is gone, and not changed since it was read. */
async function remove({ collection, call }: PruneJob, { key, version: expectedVersion }: Marker): Promise<boolean> {
  const options = { now: new Date(call.db.clock.wall()).toISOString(), expectedVersion };
  try {
    await retryInBackground(() => deleteMarker(call, { collection, key }, options), call.signal);
    return true;
  } catch (error) {
    if (!(error instanceof CellportError) || call.signal?.aborted === true) throw error;
    // Deleted by others, or by an attempt whose answer was lost.
    if (error.code === 'NOT_FOUND') return true;
    if (error.code === 'CONFLICT') return false;
    throw error;
  }
}

/**
 * Deletes the markers that a file no longer has, except those that change meanwhile; may be repeated after an
 * interruption. Returns their number; `onRemoved` receives it so far.
 */
export function removeAbsent(job: PruneJob, onRemoved: (count: number) => void): Promise<number> {
  return whileCollectionExists(job.call, job.collection, async (call) => {
    let removed = 0;
    const own = { ...job, call };
    for await (const { absent } of absentIn(own)) {
      const gone = await mapConcurrently(absent, DELETES_AT_A_TIME, (marker) => remove(own, marker));
      removed += gone.filter(Boolean).length;
      onRemoved(removed);
    }
    return removed;
  });
}
