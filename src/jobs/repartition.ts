import { geoIndexOf } from '../keys/indexes.js';
import { type Collection, type GeoLayout, type LayoutChange, otherLayout } from '../model/collection.js';
import { type Prefixes, allPrefixes, hasFewPartitions } from '../store/cell/partition-prefixes.js';
import { getCollections } from '../store/collection/collections.js';
import { endPhase, repartitionJob } from '../store/collection/layout-change.js';
import { LayoutChanged, whileLayoutStays } from '../store/collection/watch-collection.js';
import type { Sighting } from '../store/lease.js';
import { relocateMarker } from '../store/marker/marker-relocation.js';
import { mapConcurrently } from '../store/request/concurrency.js';
import { type Call, newCall } from '../store/request/meter.js';
import { queryPages } from '../store/request/query-pages.js';
import { rangeRequest } from '../store/request/ranges.js';
import { retryInBackground } from '../store/request/retries.js';
import { notFound } from '../errors.js';
import { type OwnJob, type Worker, doJob } from './job.js';
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
  readonly occupied: (collection: Collection, signal: AbortSignal) => Promise<Prefixes>;
  /** Maximum number of write units per second. */
  readonly maxWcu: number;
  readonly onProgress: (progress: RepartitionProgress) => void;
}

const PARTITIONS_AT_A_TIME = 8;
const ENTRIES_A_PAGE = 100;
const MARKERS_AT_A_TIME = 16;

/** One phase of a change. */
interface Phase {
  readonly options: RepartitionOptions;
  readonly collection: Collection;
  readonly change: LayoutChange;
  readonly job: OwnJob;
  /** Its signal ends the phase if the collection is changed by others. */
  readonly call: Call & { readonly signal: AbortSignal };
}

/** Gives every marker in one geo index of a collection the entries of its phase; returns how many changed. */
async function walk({ options, collection, change, job, call }: Phase, layout: GeoLayout): Promise<number> {
  const { worker, occupied, maxWcu, onProgress } = options;
  const { database, clock } = worker;
  const { keys } = database;
  const { phase, step } = change;
  const { signal } = call;
  const pace = paceWrites(call.meter, maxWcu, clock);
  let markers = 0;
  let changed = 0;

  async function relocate(pk: string): Promise<void> {
    const request = rangeRequest(database, { index: geoIndexOf(layout.geoSlot), pk, limit: ENTRIES_A_PAGE });
    for await (const items of queryPages(database, request, call)) {
      const results = await mapConcurrently(items, MARKERS_AT_A_TIME, (item) =>
        retryInBackground(() => relocateMarker(database, collection, item, call), signal),
      );
      markers += items.length;
      changed += results.filter(Boolean).length;
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
    await mapConcurrently(partitions, PARTITIONS_AT_A_TIME, relocate);
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

async function settle({ options, change: { phase }, call }: Phase): Promise<void> {
  options.onProgress({ phase, markers: 0, changed: 0, part: undefined });
  await options.settle(call.signal);
  call.signal.throwIfAborted();
}

/** Does everything of a phase. */
async function runPhase(now: Phase): Promise<void> {
  const { collection, change, job } = now;
  const other = otherLayout(collection);
  if (job.done(change.step) === 0) {
    await settle(now);
    job.reach(1, change.step);
  }
  if (change.phase === 'FILL') {
    await walk(now, collection);
    // Until the index, which follows the table, shows all of it.
    await settle(now);
  }
  if (change.phase === 'DRAIN' && other !== undefined) {
    // Again, for markers that a process wrote which had stopped for longer than the wait.
    while ((await walk(now, other)) > 0) job.reach(1, change.step);
  }
}

/** Does all phases of a change in progress; returns the collection as it is then. */
async function repartitionAs(options: RepartitionOptions, key: string, job: OwnJob): Promise<void> {
  const { database } = options.worker;
  const call = newCall(job.signal);
  for (;;) {
    const [collection] = await getCollections(database, [key], call, { consistent: true });
    if (!collection) throw notFound('collection', key);
    const change = collection.layoutChange;
    if (change === undefined) return;
    try {
      await whileLayoutStays(database, collection, call, async ({ signal = job.signal, ...rest }) => {
        await runPhase({ options, collection, change, job, call: { ...rest, signal } });
      });
      await endPhase(database, collection, call);
    } catch (error) {
      // Undone meanwhile, for example.
      if (!(error instanceof LayoutChanged)) throw error;
    }
  }
}

/**
 * Completes the change of a collection's layout in progress (see `beginLayoutChange`) while the collection is read and
 * written; returns false if another process is doing so. Resumes where an earlier run stopped.
 *
 * At every moment, the index that any reader may use is complete, because each phase waits until every process knows
 * it. FILL: writers enter markers into both indexes; then every marker of the index in use is entered into the other
 * one. SWITCH: readers use that one. DRAIN: writers leave the former index, then every marker does.
 */
export function repartition(
  options: RepartitionOptions,
  collection: Collection,
  seen: Sighting,
  signal: AbortSignal,
): Promise<boolean> {
  const { worker } = options;
  const key = repartitionJob(worker.database, collection);
  return doJob(worker, key, seen, (job) => repartitionAs(options, collection.key, job), signal);
}
