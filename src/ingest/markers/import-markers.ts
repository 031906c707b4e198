import { setImmediate } from 'node:timers/promises';

import type { Database, Item } from '../../store/database.js';
import { newMarkerItem } from '../../store/marker/marker-item.js';
import { checkImportedKey, countFrom } from '../../store/marker/marker-keys.js';
import { markerWriter } from '../../store/marker/markers.js';
import { chunks, mapAhead } from '../../store/request/concurrency.js';
import type { Call } from '../../store/request/meter.js';
import { type CheckJob, checkRows } from '../check-rows.js';
import type { RowOffset, RowOffsets } from '../read/row-offset.js';
import { whileCollectionExists } from '../watch-collection.js';
import { windowsOf } from '../windows.js';
import type { ImportCounts, ImportState, ImportStateFile } from './import-state.js';
import type { MarkerRow } from './marker-row.js';
import { shuffledOrder } from './order.js';
import { upsertMarkers } from './upsert.js';

/** Rows that are read at once: writes of the other window need this thread in between, or DynamoDB idles. */
const SLICE_ROWS = 400;
/** Windows in progress, so that DynamoDB does not idle at the end of one. */
const WINDOWS_AT_A_TIME = 2;

export interface ImportProgress {
  readonly counts: ImportCounts;
  /** Rows that an interrupted run had done. */
  readonly resumed: number;
  /** The part of the markers that is done, 0 to 1. */
  readonly part: number;
}

export interface ImportJob extends CheckJob<MarkerRow> {
  readonly database: Database;
  /** Whether the collection was created for this import, so that it is empty. */
  readonly fresh: boolean;
  /** What the state depends on, see `importStateFile`. */
  readonly identity: string;
  readonly state: ImportStateFile;
  /** Whether to remember that the import is complete, so that another run does nothing; otherwise it compares all rows. */
  readonly once: boolean;
  /** A random 32-bit integer; the order of writing follows from it, unless an interrupted run has left one. */
  readonly seed: number;
  readonly now: () => Date;
  /** Called after each window, which it holds up. */
  readonly onProgress: (progress: ImportProgress) => void | Promise<void>;
  readonly call: Call;
  /** Rows that are written together, 2,000 by default. */
  readonly windowRows?: number | undefined;
}

type Written = Omit<ImportCounts, 'rejected'>;

const markersIn = ({ created, updated, unchanged }: Written): number => created + updated + unchanged;

/** The item of a row. Throws CellportError if the row is not a valid marker; `now` is RFC 3339 in UTC. */
function itemOf({ database, collection }: ImportJob, row: MarkerRow, now: string): Item {
  checkImportedKey(collection, row.key);
  return newMarkerItem(database, collection, row as Parameters<typeof newMarkerItem>[2], now);
}

function* inOrder(offsets: RowOffsets, order: Uint32Array, from: number): Generator<RowOffset> {
  for (const number of order.subarray(from)) yield offsets.at(number);
}

async function readWindow(job: ImportJob, offsets: readonly RowOffset[], now: string): Promise<Item[]> {
  const items: Item[] = [];
  for (const slice of chunks(offsets, SLICE_ROWS)) {
    const rows = await job.source.read(slice);
    items.push(...rows.map((row) => itemOf(job, row, now)));
    await setImmediate();
  }
  return items;
}

/** How to write: `blind` if nothing can exist yet, `alone` if only an earlier run of this import can have written. */
type Way = 'blind' | 'alone' | 'beside others';

/** A function that writes the markers of a window. */
function windowWriter({ database, call }: ImportJob, way: Way): (items: readonly Item[]) => Promise<Written> {
  if (way === 'blind') {
    const put = markerWriter(database, call);
    return async (items) => {
      await put(items);
      return { created: items.length, updated: 0, unchanged: 0 };
    };
  }
  return async (items) => {
    const written = { created: 0, updated: 0, unchanged: 0 };
    const outcomes = await upsertMarkers(database, items, call, { alone: way === 'alone' });
    for (const outcome of outcomes) written[outcome] += 1;
    return written;
  };
}

/** Writes all windows that are not done and saves the state after each; gives the last state. */
async function writeWindows(job: ImportJob, begun: ImportState, offsets: RowOffsets, way: Way): Promise<ImportState> {
  let state = begun;
  const report = () =>
    job.onProgress({
      counts: state.counts,
      resumed: markersIn(begun.counts),
      part: offsets.count === 0 ? 1 : state.written / offsets.count,
    });
  await report();
  const now = job.now().toISOString();
  const write = windowWriter(job, way);
  const remaining = inOrder(offsets, shuffledOrder(offsets.count, begun.seed), begun.written);
  const windows = windowsOf(remaining, job.windowRows);
  let failed = false;
  const writeNext = async (window: readonly RowOffset[]): Promise<Written> => {
    // Nothing starts after a failure; the error of the window that failed is the one that is thrown.
    if (failed) throw new Error('an earlier window has failed');
    try {
      return await write(await readWindow(job, window, now));
    } catch (error) {
      failed = true;
      throw error;
    }
  };
  for await (const { created, updated, unchanged } of mapAhead(windows, WINDOWS_AT_A_TIME, writeNext)) {
    const { counts } = state;
    state = {
      ...state,
      written: state.written + created + updated + unchanged,
      counts: {
        ...counts,
        created: counts.created + created,
        updated: counts.updated + updated,
        unchanged: counts.unchanged + unchanged,
      },
    };
    await job.state.write(state);
    await report();
  }
  return state;
}

/**
 * Imports the rows of a source as markers of a collection. All rows are checked first; then the valid ones are written in
 * an order that is spread over the whole source, so that no partition takes a burst. Importing is an upsert: the same file
 * again changes nothing; rows that differ raise the version of their marker. After an interruption at any moment it
 * resumes in the same order after the last window up to which nothing is missing, and compares what follows with what
 * exists. Memory grows with the source by some 60 bytes a row. Rejects with the signal's reason when the call is aborted.
 */
export async function importMarkers(job: ImportJob): Promise<ImportProgress> {
  const fromStart: ImportState = {
    identity: job.identity,
    seed: job.seed,
    written: 0,
    counts: { created: 0, updated: 0, unchanged: 0, rejected: 0 },
    bulk: job.fresh,
    done: false,
  };
  const interrupted = await job.state.read();
  if (interrupted?.done === true) {
    const { counts } = interrupted;
    return { counts, resumed: markersIn(counts) + counts.rejected, part: 1 };
  }
  // Before anything is read: a run that is killed while it checks leaves a note that the collection was created for it.
  await job.state.write(interrupted ?? fromStart);
  try {
    const { offsets, rejected, greatest } = await checkRows(job, (row) => itemOf(job, row, ''));
    const usable = interrupted !== undefined && (interrupted.markers ?? offsets.count) === offsets.count;
    // Another release may find other rows valid in the same file; then the order is a different one.
    const from = usable ? interrupted : { ...fromStart, bulk: fromStart.bulk || interrupted?.bulk === true };
    const begun = { ...from, markers: offsets.count, counts: { ...from.counts, rejected } };
    await job.state.write(begun);
    const way = !begun.bulk ? 'beside others' : interrupted === undefined ? 'blind' : 'alone';
    const state = await whileCollectionExists(job.database, job.collection, job.call, async (call) => {
      // Before the first is written: nobody else may be given a number that a marker of the file will have.
      if (greatest > 0) await countFrom(job.database, job.collection, greatest, call);
      return writeWindows({ ...job, call }, begun, offsets, way);
    });
    if (job.once) await job.state.write({ ...state, done: true });
    else await job.state.clear();
    return { counts: state.counts, resumed: markersIn(begun.counts), part: 1 };
  } finally {
    await job.source.close();
  }
}
