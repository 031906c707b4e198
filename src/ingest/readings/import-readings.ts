import { LRUCache } from 'lru-cache';

import type { Collection } from '../../model/collection.js';
import type { Call, Item } from '../../store/database.js';
import { getMarkers } from '../../store/marker/markers.js';
import { putReadings } from '../../store/reading/put-readings.js';
import { newReadingItem } from '../../store/reading/reading-item.js';
import { retryInBackground } from '../../store/request/pacing.js';
import type { Reject, RejectsFile } from '../read/rejects.js';
import { contentOf, isInvalid, type Invalid, type Row } from '../read/row.js';
import { windowsOf } from '../windows.js';
import type { ReadingRow } from './reading-row.js';

/** Memory for cached markers, so that they are not read again for each row. */
const KNOWN_BYTES = 16 * 1024 * 1024;

/** Number of rows by outcome; `expired` rows were skipped. */
export type ReadingCounts = Readonly<Record<'recorded' | 'expired' | 'rejected', number>>;

export interface ReadingsProgress {
  readonly counts: ReadingCounts;
  /** Fraction of the file completed, 0 to 1. */
  readonly part: number;
}

export interface ReadingsJob {
  readonly collection: Collection;
  readonly rows: AsyncIterable<readonly Row<ReadingRow>[]>;
  /** Size of the file in bytes. */
  readonly size: number;
  readonly rejects: RejectsFile;
  readonly now: () => Date;
  readonly onProgress: (progress: ReadingsProgress) => void;
  readonly call: Call;
}

/** The incarnation of the marker named by a row: an earlier marker may have had the same key. */
type Found = { readonly incarnation: string } | Invalid;
/** Incarnations of markers by key. */
type Known = LRUCache<string, string>;

async function* flat<T>(batches: AsyncIterable<readonly T[]>, signal: AbortSignal | undefined): AsyncGenerator<T> {
  for await (const batch of batches) {
    // Also while a table is surveyed, of which no row comes.
    signal?.throwIfAborted();
    yield* batch;
  }
}

/** The markers of a window; known ones are not read again. */
async function findMarkers(
  job: ReadingsJob,
  window: readonly Row<ReadingRow>[],
  known: Known,
): Promise<ReadonlyMap<string, Found>> {
  const { collection, call } = job;
  const keys = new Set(window.flatMap(({ content }) => (isInvalid(content) ? [] : content.key)));
  const found = new Map<string, Found>();
  for (const key of keys) {
    const incarnation = known.get(key);
    // No marker can have some keys.
    const item = contentOf(() => call.db.keys.marker(call.db.keys.scope(collection), key));
    if (incarnation !== undefined) found.set(key, { incarnation });
    else if (isInvalid(item)) found.set(key, item);
  }
  const unknown = [...keys].filter((key) => !found.has(key)).map((key) => ({ collection, key }));
  const read = () => getMarkers(call, unknown, { consistent: true });
  const markers = await retryInBackground(read, call.signal);
  for (const [index, { key }] of unknown.entries()) {
    const marker = markers[index];
    if (marker) known.set(key, marker.incarnation);
    found.set(key, marker ?? { reason: `no marker ${JSON.stringify(key)} in collection ${collection.key}` });
  }
  return found;
}

/** The item of a row, unless it has expired or is invalid. */
function itemOf(
  job: ReadingsJob,
  row: ReadingRow,
  markers: ReadonlyMap<string, Found>,
): { readonly item: Item } | 'expired' | Invalid {
  const marker = markers.get(row.key);
  if (marker === undefined) throw new Error(`the marker ${row.key} was not read`);
  if ('reason' in marker) return marker;
  const owner = { collection: job.collection, key: row.key, incarnation: marker.incarnation };
  return contentOf(() => {
    const item = newReadingItem(job.call.db, owner, row, job.now().getTime());
    return item === undefined ? 'expired' : { item };
  });
}

/** Writes a window; returns the counts of its rows. */
async function writeWindow(job: ReadingsJob, window: readonly Row<ReadingRow>[], known: Known): Promise<ReadingCounts> {
  const markers = await findMarkers(job, window, known);
  const items: Item[] = [];
  const rejects: Reject[] = [];
  let expired = 0;
  for (const { line, text, isJson, content } of window) {
    const made = isInvalid(content) ? content : itemOf(job, content, markers);
    if (made === 'expired') expired += 1;
    else if ('reason' in made) rejects.push({ line, reason: made.reason, text, isJson });
    else items.push(made.item);
  }
  await putReadings(job.call, job.collection, items, { now: job.now().getTime() });
  await job.rejects.write(rejects);
  return { recorded: items.length, expired, rejected: rejects.length };
}

/**
 * Imports the rows of a file as readings of a collection's markers, window by window in file order. Of several rows
 * with the same marker and instant, the last one wins. Idempotent: after an interruption, repeat the import. Memory
 * does not grow with the file. Rejects with the signal's reason on abort.
 */
export async function importReadings(job: ReadingsJob): Promise<ReadingCounts> {
  const known: Known = new LRUCache({
    maxSize: KNOWN_BYTES,
    sizeCalculation: (incarnation, key) => 200 + incarnation.length + 2 * key.length,
  });
  let counts: ReadingCounts = { recorded: 0, expired: 0, rejected: 0 };
  await job.rejects.begin();
  try {
    for await (const window of windowsOf(flat(job.rows, job.call.signal))) {
      job.call.signal?.throwIfAborted();
      const made = await writeWindow(job, window, known);
      counts = {
        recorded: counts.recorded + made.recorded,
        expired: counts.expired + made.expired,
        rejected: counts.rejected + made.rejected,
      };
      const last = window.at(-1);
      // Text converted to UTF-8 may become longer than the file.
      const part = last ? Math.min(1, (last.start + last.length) / Math.max(1, job.size)) : 0;
      job.onProgress({ counts, part });
    }
  } finally {
    await job.rejects.close();
  }
  return counts;
}
