import { geoIndexOf } from '../keys/indexes.js';
import type { Collection, GeoLayout, LayoutChange } from '../model/collection.js';
import { type PartitionPrefixes, allPrefixes, hasFewPartitions } from '../store/cell/partition-prefixes.js';
import type { Item } from '../store/database.js';
import { redrawMarker } from '../store/marker/marker-redraw.js';
import { relocateMarker } from '../store/marker/marker-relocation.js';
import { batchGet } from '../store/request/batch-get.js';
import { mapConcurrently } from '../store/request/concurrency.js';
import type { Call } from '../store/request/meter.js';
import { queryPages } from '../store/request/query-pages.js';
import { rangeRequest } from '../store/request/ranges.js';
import { retryInBackground } from '../store/request/retries.js';
import type { OwnJob, Worker } from './job.js';
import { paceWrites } from './pace.js';

/** How far a change of a layout is. */
export interface RepartitionProgress {
  readonly phase: LayoutChange['phase'];
  /** Markers read in this phase, by this process. */
  readonly markers: number;
  /** Those whose entries changed. */
  readonly changed: number;
  /** Fraction of the phase's markers that are done; undefined while waiting for other processes. */
  readonly part: number | undefined;
}

export interface RepartitionOptions {
  readonly worker: Worker;
  /**
   * Resolves once every process has read the collection since the call: readers and writers that know an earlier state
   * have ended.
   */
  readonly settle: (signal: AbortSignal) => Promise<void>;
  /** The prefixes under which the collection may have markers; used if there are too many to read all. */
  readonly occupied: (collection: Collection, signal: AbortSignal) => Promise<PartitionPrefixes>;
  /** Maximum number of write units per second. */
  readonly maxWcu: number;
  readonly onProgress: (progress: RepartitionProgress) => void;
}

const PARTITIONS_AT_A_TIME = 8;
const ENTRIES_A_PAGE = 100;
const MARKERS_AT_A_TIME = 16;

/** One phase of a change. */
export interface Phase {
  readonly options: RepartitionOptions;
  readonly collection: Collection;
  readonly change: LayoutChange;
  readonly job: OwnJob;
  /** Its signal ends the phase if the collection is changed by others. */
  readonly call: Call & { readonly signal: AbortSignal };
}

/** One pass over the markers in a geo index. */
export interface Walk {
  readonly layout: GeoLayout;
  /** Gives markers what their phase requires, by their entries in the index; returns how many changed. */
  readonly fit: (phase: Phase, entries: readonly Item[]) => Promise<number>;
}

async function fitEach(
  { call }: Phase,
  items: readonly Item[],
  fit: (item: Item) => Promise<boolean>,
): Promise<number> {
  const retried = (item: Item) => retryInBackground(() => fit(item), call.signal);
  return (await mapConcurrently(items, MARKERS_AT_A_TIME, retried)).filter(Boolean).length;
}

/** Gives markers the entries in the geo indexes of the phase, and no others. */
export function relocateMarkers(now: Phase, entries: readonly Item[]): Promise<number> {
  const { options, collection, call } = now;
  return fitEach(now, entries, (entry) => relocateMarker(options.worker.database, collection, entry, call));
}

/** Gives markers the map properties of the phase; those are not read of which the index has all properties. */
export async function redrawMarkers(now: Phase, entries: readonly Item[]): Promise<number> {
  const { options, collection, call } = now;
  const { database } = options.worker;
  const keys = entries.filter(({ mc }) => mc !== true).map(({ pk, sk }) => ({ pk: String(pk), sk: String(sk) }));
  const read = () => batchGet(database, database.tables.entities, keys, call, { consistent: true });
  const items = (await retryInBackground(read, call.signal)).filter((item) => item !== undefined);
  return fitEach(now, items, (item) => redrawMarker(database, collection, item, call));
}

/** Fits every marker in a geo index to its phase; returns how many changed. */
export async function walkOnce(now: Phase, { layout, fit }: Walk): Promise<number> {
  const { options, collection, change, job, call } = now;
  const { worker, occupied, maxWcu, onProgress } = options;
  const { database, clock } = worker;
  const { keys } = database;
  const { phase, step } = change;
  const { signal } = call;
  const pace = paceWrites(call.meter, maxWcu, clock);
  let markers = 0;
  let changed = 0;

  async function walkPartition(pk: string): Promise<void> {
    const request = rangeRequest(database, { index: geoIndexOf(layout.geoSlot), pk, limit: ENTRIES_A_PAGE });
    for await (const entries of queryPages(database, request, call)) {
      changed += await fit(now, entries);
      markers += entries.length;
      await pace(signal);
    }
  }

  const own: Collection = { ...collection, ...layout };
  const isWhole = hasFewPartitions(own);
  const prefixes = isWhole ? allPrefixes(own) : await occupied(own, signal);
  // Progress is 1 when the phase has settled. Prefixes of cells have other numbers in each run, which begins again.
  const begin = isWhole ? Math.max(0, job.done(step) - 1) : 0;
  let wave: string[] = [];
  async function flush(next: number): Promise<void> {
    const partitions = wave.flatMap((prefix) => keys.spreadPartitions(keys.scope(own), own, prefix).flat());
    wave = [];
    await mapConcurrently(partitions, PARTITIONS_AT_A_TIME, walkPartition);
    if (isWhole) job.reach(next + 1, step);
    onProgress({ phase, markers, changed, part: prefixes.total === 0 ? 1 : next / prefixes.total });
  }
  for (const { number, prefix } of prefixes.list(begin)) {
    wave.push(prefix);
    if (wave.length >= PARTITIONS_AT_A_TIME) await flush(number + 1);
  }
  await flush(prefixes.total);
  return changed;
}
