import { CellportError } from '../errors.js';
import type { Collection } from '../model/collection.js';
import type { Database, Item } from '../store/database.js';
import { newMarkerItem } from '../store/marker-item.js';
import { putMarkersInBulk } from '../store/markers.js';
import type { Call } from '../store/meter.js';
import type { ImportCounts, ImportState, ImportStateFile } from './import-state.js';
import type { Reject, RejectsFile } from './rejects.js';
import type { Row } from './row.js';
import { SeenKeys } from './seen-keys.js';
import { upsertMarkers } from './upsert.js';

/** Rows that are written together; after each such window the import could be interrupted and go on. */
const WINDOW_ROWS = 2000;
/** What the rows of a window may measure in the file, so that memory stays bounded whatever the rows are like. */
const WINDOW_BYTES = 8 * 1024 * 1024;

export interface ImportProgress {
  readonly counts: ImportCounts;
  /** Rows that were done before this run, by an interrupted one. */
  readonly resumed: number;
  /** Bytes of the file that are done. */
  readonly end: number;
}

export interface ImportJob {
  readonly database: Database;
  readonly collection: Collection;
  readonly rows: AsyncIterable<Row>;
  /** Whether the collection was just made for this import, so that nothing has to be looked up before it is written. */
  readonly fresh: boolean;
  /** What the state is good for, see `importStateFile`. */
  readonly identity: string;
  readonly state: ImportStateFile;
  /** Whether to remember that it is done, so that another run does nothing; else another run compares every row anew. */
  readonly once: boolean;
  readonly rejects: RejectsFile;
  readonly now: () => Date;
  readonly onProgress: (progress: ImportProgress) => void;
  readonly call: Call;
  /** How many rows are written together, 2,000 where left out. */
  readonly windowRows?: number | undefined;
}

interface Window {
  readonly items: Item[];
  readonly rejects: Reject[];
  readonly end: number;
}

const total = ({ created, updated, unchanged, rejected }: ImportCounts): number =>
  created + updated + unchanged + rejected;

/** Another order than the file's: its neighbours are neighbours on the globe too, and would all go to one partition at once. */
function shuffled(items: readonly Item[]): Item[] {
  const mixed = [...items];
  for (let at = mixed.length - 1; at > 0; at -= 1) {
    const other = Math.floor(Math.random() * (at + 1));
    [mixed[at], mixed[other]] = [mixed[other] as Item, mixed[at] as Item];
  }
  return mixed;
}

/** Cuts rows into windows, from the first row behind `from`: those that cannot be markers are rejects with their reason. */
async function* windowsOf(job: ImportJob, from: number): AsyncGenerator<Window> {
  const seen = new SeenKeys();
  const now = job.now().toISOString();
  let items: Item[] = [];
  let rejects: Reject[] = [];
  let end = from;
  let bytes = 0;
  for await (const row of job.rows) {
    const { line, source, content } = row;
    // Also of rows that are done: their keys are taken.
    const before = 'marker' in content ? seen.add(content.marker.key, line) : undefined;
    if (row.end <= from) continue;
    try {
      if ('reason' in content) throw new CellportError('BAD_USER_INPUT', content.reason);
      const item = newMarkerItem(
        job.database,
        job.collection,
        content.marker as Parameters<typeof newMarkerItem>[2],
        now,
      );
      if (before !== undefined) {
        const key = JSON.stringify(content.marker.key);
        throw new CellportError('CONFLICT', `its key ${key} stands on line ${before} already`);
      }
      items.push(item);
    } catch (error) {
      if (!(error instanceof CellportError)) throw error;
      rejects.push({ line, reason: error.message, row: source });
    }
    end = row.end;
    bytes += row.bytes;
    if (items.length + rejects.length >= (job.windowRows ?? WINDOW_ROWS) || bytes >= WINDOW_BYTES) {
      yield { items, rejects, end };
      items = [];
      rejects = [];
      bytes = 0;
    }
  }
  if (items.length + rejects.length > 0) yield { items, rejects, end };
}

/** How a window is written: `blind` where nothing can be there yet, `alone` where only a former run of ours can have written. */
type Way = 'blind' | 'alone' | 'beside others';

/** Writes the markers of a window; gives how many came to what. */
async function writeWindow(job: ImportJob, items: readonly Item[], way: Way): Promise<Omit<ImportCounts, 'rejected'>> {
  const mixed = shuffled(items);
  if (way === 'blind') {
    await putMarkersInBulk(job.database, mixed, job.call);
    return { created: items.length, updated: 0, unchanged: 0 };
  }
  const outcomes = await upsertMarkers(job.database, mixed, job.call, { alone: way === 'alone' });
  const count = (wanted: string): number => outcomes.filter((outcome) => outcome === wanted).length;
  return { created: count('created'), updated: count('updated'), unchanged: count('unchanged') };
}

/**
 * Imports the rows of a file as markers of a collection and gives what came of them. An upsert: the same file again changes
 * nothing, rows that differ raise the version of their marker. Interrupted at any moment, it goes on behind the last window
 * that was done; a window that was half done is compared with what is there. Memory does not grow with the file but for
 * some 40 bytes a key. Rejects with the signal's reason when the call is aborted.
 */
export async function importMarkers(job: ImportJob): Promise<ImportProgress> {
  const { state: stateFile, rejects: rejectsFile, identity } = job;
  const interrupted = await stateFile.read();
  const begun: ImportState = interrupted ?? {
    identity,
    end: 0,
    rejectsBytes: 0,
    counts: { created: 0, updated: 0, unchanged: 0, rejected: 0 },
    bulk: job.fresh,
    done: false,
  };
  const resumed = total(begun.counts);
  let { counts, end } = begun;
  if (begun.done) return { counts, resumed, end };
  await rejectsFile.begin(begun.rejectsBytes);
  const windows = windowsOf(job, begun.end);
  try {
    await stateFile.write(begun);
    job.onProgress({ counts, resumed, end });

    // The window that was being written when the last run ended may be there in part.
    let compare = interrupted !== undefined;
    let next = windows.next();
    for (let result = await next; result.done !== true; result = await next) {
      const window = result.value;
      const written = writeWindow(job, window.items, begun.bulk ? (compare ? 'alone' : 'blind') : 'beside others');
      // Read and checked while the one before is written. A failure there must not go unhandled before it is awaited.
      next = windows.next();
      next.catch(() => undefined);
      const made = await written;
      await rejectsFile.write(window.rejects);
      compare = false;
      end = window.end;
      counts = {
        created: counts.created + made.created,
        updated: counts.updated + made.updated,
        unchanged: counts.unchanged + made.unchanged,
        rejected: counts.rejected + window.rejects.length,
      };
      await stateFile.write({ ...begun, end, rejectsBytes: rejectsFile.bytes, counts });
      job.onProgress({ counts, resumed, end });
    }
    if (job.once) await stateFile.write({ ...begun, end, rejectsBytes: rejectsFile.bytes, counts, done: true });
    else await stateFile.clear();
    return { counts, resumed, end };
  } finally {
    await windows.return(undefined);
    await rejectsFile.close();
  }
}
