import { setImmediate } from 'node:timers/promises';

import { chunks } from '../../store/request/concurrency.js';
import type { Database, Item } from '../../store/database.js';
import { countFrom } from '../../store/marker/marker-keys.js';
import { markerWriter } from '../../store/marker/markers.js';
import type { Call } from '../../store/request/meter.js';
import { type CheckJob, checkRows, itemOf, markerRules } from './check-rows.js';
import type { ImportCounts, ImportState, ImportStateFile } from './import-state.js';
import { shuffledOrder } from './order.js';
import type { RowOffset, RowOffsets } from '../read/row-offset.js';
import { upsertMarkers } from './upsert.js';
import { watchCollection } from './watch-collection.js';

/** Rows that are written together; after each such window the import could be interrupted and go on. */
const WINDOW_ROWS = 2000;
/** What the rows of a window may measure in the file, so that memory stays bounded whatever the rows are like. */
const WINDOW_BYTES = 8 * 1024 * 1024;
/** Rows that are read in one go: the writes of the window before need this thread in between, or DynamoDB runs dry. */
const SLICE_ROWS = 400;

export interface ImportProgress {
  readonly counts: ImportCounts;
  /** Rows that were done before this run, by an interrupted one. */
  readonly resumed: number;
  /** The part of the markers that is done, 0 to 1. */
  readonly part: number;
}

export interface ImportJob extends Omit<CheckJob, 'signal'> {
  readonly database: Database;
  /** Whether the collection was just made for this import, so that nothing has to be looked up before it is written. */
  readonly fresh: boolean;
  /** What the state is good for, see `importStateFile`. */
  readonly identity: string;
  readonly state: ImportStateFile;
  /** Whether to remember that it is done, so that another run does nothing; else another run compares every row anew. */
  readonly once: boolean;
  /** A whole number of 32 bits, by chance: where no interrupted run has left one, the order of writing follows from it. */
  readonly seed: number;
  readonly now: () => Date;
  /** Called after each window; no other begins until it is through, but the next one may be under way already. */
  readonly onProgress: (progress: ImportProgress) => void | Promise<void>;
  readonly call: Call;
  /** How many rows are written together, 2,000 where left out. */
  readonly windowRows?: number | undefined;
}

const markersIn = ({ created, updated, unchanged }: ImportCounts): number => created + updated + unchanged;

/** The places of the next window in the order, from the one with number `from`. */
function nextPlaces(places: RowOffsets, order: Uint32Array, from: number, rows: number): RowOffset[] {
  const next: RowOffset[] = [];
  let bytes = 0;
  for (let at = from; at < order.length && next.length < rows && bytes < WINDOW_BYTES; at += 1) {
    const place = places.at(order[at] ?? 0);
    next.push(place);
    bytes += place.length;
  }
  return next;
}

/** The items of one window after another, from the row with number `from` in the order. */
async function* windowsOf(
  job: ImportJob,
  places: RowOffsets,
  order: Uint32Array,
  from: number,
): AsyncGenerator<readonly Item[]> {
  const now = job.now().toISOString();
  for (let at = from; at < order.length;) {
    const next = nextPlaces(places, order, at, job.windowRows ?? WINDOW_ROWS);
    const items: Item[] = [];
    for (const slice of chunks(next, SLICE_ROWS)) {
      const rows = await job.source.read(slice);
      items.push(...rows.map((row) => itemOf(job, row, now)));
      await setImmediate();
    }
    yield items;
    at += next.length;
  }
}

/** How a window is written: `blind` where nothing can be there yet, `alone` where only a former run of ours can have written. */
type Way = 'blind' | 'alone' | 'beside others';

type Made = Omit<ImportCounts, 'rejected'>;

/** Writes the markers of a window; gives how many came to what. */
type WriteWindow = (items: readonly Item[]) => Promise<Made>;

function windowWriter({ database, call }: ImportJob, way: Way): WriteWindow {
  if (way === 'blind') {
    const put = markerWriter(database, call);
    return async (items) => {
      await put(items);
      return { created: items.length, updated: 0, unchanged: 0 };
    };
  }
  return async (items) => {
    const outcomes = await upsertMarkers(database, items, call, { alone: way === 'alone' });
    const count = (wanted: string): number => outcomes.filter((outcome) => outcome === wanted).length;
    return { created: count('created'), updated: count('updated'), unchanged: count('unchanged') };
  };
}

/** Writes all windows that are not done, and keeps the state and its reader up to date; gives the last state. */
async function writeWindows(job: ImportJob, begun: ImportState, places: RowOffsets, way: Way): Promise<ImportState> {
  let state = begun;
  const resumed = markersIn(begun.counts);
  const report = () =>
    job.onProgress({
      counts: state.counts,
      resumed,
      part: places.count === 0 ? 1 : state.written / places.count,
    });
  await report();
  const windows = windowsOf(job, places, shuffledOrder(places.count, begun.seed), begun.written);
  const write = windowWriter(job, way);
  // Puts without a question overlap, so that DynamoDB has no pause at the end of a window; a comparison asks for enough.
  const atATime = way === 'blind' ? 2 : 1;
  const underWay: { readonly rows: number; readonly making: Promise<Made> }[] = [];
  let saved = Promise.resolve();

  /** Waits for the first window under way and notes it. One that has failed stays the first: none behind it counts. */
  const settle = async (): Promise<void> => {
    const [first] = underWay;
    if (first === undefined) return;
    const made = await first.making;
    underWay.shift();
    state = {
      ...state,
      written: state.written + first.rows,
      counts: {
        ...state.counts,
        created: state.counts.created + made.created,
        updated: state.counts.updated + made.updated,
        unchanged: state.counts.unchanged + made.unchanged,
      },
    };
    // Beside the next window's writes: a state that lags behind makes a resumed import compare more, nothing worse.
    await saved;
    saved = job.state.write(state);
    saved.catch(() => undefined);
    await report();
  };
  const settleAll = async (): Promise<void> => {
    while (underWay.length > 0) await settle();
    await saved;
  };

  try {
    let next = windows.next();
    for (let result = await next; result.done !== true; result = await next) {
      const making = write(result.value);
      // Read while others are written. A failure of either must not go unhandled before it is awaited.
      next = windows.next();
      making.catch(() => undefined);
      next.catch(() => undefined);
      underWay.push({ rows: result.value.length, making });
      if (underWay.length >= atATime) await settle();
    }
    await settleAll();
    return state;
  } catch (error) {
    // The first failure is told; what was written beside it and lacks nothing before it counts all the same.
    await settleAll().catch(() => undefined);
    throw error;
  } finally {
    await Promise.allSettled([windows.return(undefined), saved, ...underWay.map(({ making }) => making)]);
  }
}

/**
 * Imports the rows of a source as markers of a collection and gives what came of them. All rows are checked first; then
 * those that are markers are written in an order that leads over the whole source, so that no partition takes a burst. An
 * upsert: the same file again changes nothing, rows that differ raise the version of their marker. Interrupted at any
 * moment, it goes on in the same order behind the last window before which nothing is missing, and compares what follows
 * with what is there.
 * Memory grows with the source by some 60 bytes a row. Rejects with the signal's reason when the call is aborted.
 */
export async function importMarkers(job: ImportJob): Promise<ImportProgress> {
  const none = { created: 0, updated: 0, unchanged: 0, rejected: 0 };
  const anew: ImportState = {
    identity: job.identity,
    seed: job.seed,
    written: 0,
    counts: none,
    bulk: job.fresh,
    done: false,
  };
  const interrupted = await job.state.read();
  if (interrupted?.done === true) {
    const { counts } = interrupted;
    return { counts, resumed: markersIn(counts) + counts.rejected, part: 1 };
  }
  // Before anything is read: a run that is killed while it checks leaves word that the collection was made for it.
  await job.state.write(interrupted ?? anew);
  try {
    const { places, rejected, greatest } = await checkRows({ ...job, signal: job.call.signal }, markerRules(job));
    const usable = interrupted !== undefined && (interrupted.markers ?? places.count) === places.count;
    // Another release may see other markers in the same file; then the order is another one too.
    const from = usable ? interrupted : { ...anew, bulk: anew.bulk || interrupted?.bulk === true };
    const begun = { ...from, markers: places.count, counts: { ...from.counts, rejected } };
    await job.state.write(begun);
    const way = !begun.bulk ? 'beside others' : interrupted === undefined ? 'blind' : 'alone';
    const watch = await watchCollection(job.database, job.collection, job.call);
    let state: ImportState;
    try {
      // Before the first of them is written: nobody may be given a number that a marker of the file will have.
      if (greatest > 0) await countFrom(job.database, job.collection, greatest, watch.call);
      state = await writeWindows({ ...job, call: watch.call }, begun, places, way);
    } finally {
      await watch.stop();
    }
    if (job.once) await job.state.write({ ...state, done: true });
    else await job.state.clear();
    return { counts: state.counts, resumed: markersIn(begun.counts), part: 1 };
  } finally {
    await job.source.close();
  }
}
