import { setImmediate } from 'node:timers/promises';

import { LayoutChanged, whileLayoutStays } from '../../store/collection/watch-collection.js';
import type { Item } from '../../store/database.js';
import { newMarkerItem } from '../../store/marker/marker-item.js';
import { checkImportedKey, countFrom } from '../../store/marker/marker-keys.js';
import { upsertItems } from '../../store/marker/upsert.js';
import { bulkWriter } from '../../store/request/batches.js';
import { chunks, mapAhead } from '../../store/request/pacing.js';
import { checkRows, type CheckJob } from '../check-rows.js';
import type { RowOffset, RowOffsets } from '../read/row.js';
import type { MarkerRow } from '../rows/marker-row.js';
import { windowsOf } from '../windows.js';
import type { ImportCounts, ImportState, ImportStateFile } from './import-state.js';
import { orderOf } from './order.js';

/** Number of rows read before yielding the event loop to the other window's writes; otherwise DynamoDB idles. */
const SLICE_ROWS = 400;
/** Number of concurrent windows, so that DynamoDB does not idle at the end of one. */
const WINDOWS_AT_A_TIME = 2;

export interface ImportProgress {
  readonly counts: ImportCounts;
  /** Rows completed by an interrupted run. */
  readonly resumed: number;
  /** Fraction of the markers completed, 0 to 1. */
  readonly part: number;
}

export interface ImportJob extends CheckJob<MarkerRow> {
  /** Whether the collection was created for this import and is empty. */
  readonly fresh: boolean;
  /** See `importStateFile`. */
  readonly identity: string;
  readonly state: ImportStateFile;
  /**
   * Whether to keep the state of a complete import, so that the next run does nothing; otherwise the next run compares
   * all rows.
   */
  readonly once: boolean;
  /** The order of writing: that of the source, or shuffled (default), so that no partition gets a burst of writes. */
  readonly order?: ImportState['order'] | undefined;
  /** A random 32-bit integer that determines the order of writing; a resumed import uses the seed of the first run. */
  readonly seed: number;
  readonly now: () => Date;
  /** Called and awaited after each window. */
  readonly onProgress: (progress: ImportProgress) => void | Promise<void>;
  /** Rows written together, 2,000 by default. */
  readonly windowRows?: number | undefined;
}

type Written = Omit<ImportCounts, 'rejected'>;

const markersIn = ({ created, updated, unchanged }: Written): number => created + updated + unchanged;

/** The item of a row. Throws CellportError if the row is not a valid marker; `now` is RFC 3339 in UTC. */
function itemOf({ call, collection }: ImportJob, row: MarkerRow, now: string): Item {
  checkImportedKey(collection, row.key);
  return newMarkerItem(call.db, collection, row as Parameters<typeof newMarkerItem>[2], now);
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

/**
 * `blind`: no markers can exist yet. `alone`: only an earlier run of this import can have written. `shared`: others may
 * have written.
 */
type WriteMode = 'blind' | 'alone' | 'shared';

/** Returns a function that writes the markers of a window. */
function windowWriter({ call }: ImportJob, mode: WriteMode): (items: readonly Item[]) => Promise<Written> {
  if (mode === 'blind') {
    const put = bulkWriter(call, call.db.tables.entities);
    return async (items) => {
      await put(items);
      return { created: items.length, updated: 0, unchanged: 0 };
    };
  }
  return async (items) => {
    const written = { created: 0, updated: 0, unchanged: 0 };
    const upserted = await upsertItems(call, items, { alone: mode === 'alone' });
    for (const { outcome } of upserted) written[outcome] += 1;
    return written;
  };
}

/** The rows to be written, and the state of the import when this run began. */
interface Remaining {
  readonly offsets: RowOffsets;
  /** The greatest number that is a key in the file. */
  readonly greatest: number;
  readonly begun: ImportState;
}

/** Writes all windows that remain in a state and saves the state after each; returns the last one. */
async function writeWindows(
  job: ImportJob,
  { offsets, begun }: Remaining,
  from: ImportState,
  mode: WriteMode,
): Promise<ImportState> {
  let state = from;
  const report = () =>
    job.onProgress({
      counts: state.counts,
      resumed: markersIn(begun.counts),
      part: offsets.count === 0 ? 1 : state.written / offsets.count,
    });
  await report();
  const now = job.now().toISOString();
  const write = windowWriter(job, mode);
  const remaining = inOrder(offsets, orderOf(offsets.count, begun), from.written);
  const windows = windowsOf(remaining, job.windowRows);
  let failed = false;
  const writeNext = async (window: readonly RowOffset[]): Promise<Written> => {
    // After a failure, no window starts. The caller gets the error of the window that failed.
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
 * The same, whatever the layout of the collection: when it changes, the windows in progress are abandoned, and compared
 * like those of an interrupted run.
 */
async function writeInAnyLayout(job: ImportJob, rows: Remaining, mode: WriteMode): Promise<ImportState> {
  let { collection } = job;
  let state = rows.begun;
  let next = mode;
  for (;;) {
    try {
      return await whileLayoutStays(job.call, collection, async (call) => {
        // Before the first write, so that no other writer is assigned such a number.
        if (rows.greatest > 0) await countFrom(call, collection, rows.greatest);
        return writeWindows({ ...job, collection, call }, rows, state, next);
      });
    } catch (error) {
      if (!(error instanceof LayoutChanged)) throw error;
      collection = error.collection;
      state = (await job.state.read()) ?? state;
      if (next === 'blind') next = 'alone';
    }
  }
}

/**
 * Imports the rows of a source as markers of a collection. All rows are checked first; then the valid ones are written in
 * the order of the job. An import is an upsert: repeating it changes nothing, and
 * rows that differ increment the version of their marker. After an interruption it resumes in the same order after the
 * last window up to which all are complete, and compares the remaining rows with existing markers. Memory grows with the
 * source by about 60 bytes per row. Rejects with the signal's reason on abort.
 */
export async function importMarkers(job: ImportJob): Promise<ImportProgress> {
  const { order = 'shuffled' } = job;
  const fromStart: ImportState = {
    identity: job.identity,
    seed: job.seed,
    order,
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
  // Saved before the collection is created: if the run is killed after that, the state must record that the collection
  // was created for it.
  await job.state.write(interrupted ?? fromStart);
  try {
    const { collection, offsets, rejected, greatest } = await checkRows(job, (row) => itemOf(job, row, ''));
    const usable = interrupted?.order === order && (interrupted.markers ?? offsets.count) === offsets.count;
    // Another version of Cellport may accept other rows of the same file, or write them in another order.
    const from = usable ? interrupted : { ...fromStart, bulk: fromStart.bulk || interrupted?.bulk === true };
    // Others may write to a collection that they have created.
    const bulk = from.bulk && collection.createdAt === job.collection.createdAt;
    const begun = { ...from, bulk, markers: offsets.count, counts: { ...from.counts, rejected } };
    await job.state.write(begun);
    const mode = !begun.bulk ? 'shared' : interrupted === undefined ? 'blind' : 'alone';
    // Without a valid row, there may be no collection.
    const rows = { offsets, greatest, begun };
    const state = offsets.count === 0 ? begun : await writeInAnyLayout({ ...job, collection }, rows, mode);
    if (job.once) await job.state.write({ ...state, done: true });
    else await job.state.clear();
    return { counts: state.counts, resumed: markersIn(begun.counts), part: 1 };
  } finally {
    await job.source.close();
  }
}
