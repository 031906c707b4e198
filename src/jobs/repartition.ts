import type { Clock } from '../clock.js';
import { notFound } from '../errors.js';
import { geoIndexOf } from '../keys/indexes.js';
import { otherLayout, type Collection, type GeoLayout } from '../model/collection.js';
import { allPrefixes, hasFewPartitions } from '../store/cell/partition-prefixes.js';
import { getCollections } from '../store/collection/collections.js';
import { endPhase, repartitionJob } from '../store/collection/layout-change.js';
import { LayoutChanged, whileLayoutStays } from '../store/collection/watch-collection.js';
import { newCall } from '../store/database.js';
import type { Sighting } from '../store/lease.js';
import type { Meter } from '../store/request/meter.js';
import { mapConcurrently } from '../store/request/pacing.js';
import { queryResponses } from '../store/table/query-responses.js';
import { fitMarkers } from './fit-markers.js';
import { doJob, type OwnJob } from './job.js';
import type { Phase, RepartitionOptions, RepartitionProgress } from './layout-phase.js';

/** Unused capacity of at most this long may be consumed later. */
const SAVED_MS = 1_000;

/**
 * Returns a function that waits until the write units of a meter are no more than `maxWcu` per second, on average over
 * a second. Call it between pieces of work.
 */
export function paceWrites(meter: Meter, maxWcu: number, clock: Clock): (signal: AbortSignal) => Promise<void> {
  let paid = meter.writeUnits;
  /** When what was consumed so far is within the limit. */
  let dueAt = clock.now();
  return async (signal) => {
    const spent = meter.writeUnits - paid;
    paid = meter.writeUnits;
    dueAt = Math.max(dueAt, clock.now() - SAVED_MS) + (spent / maxWcu) * 1_000;
    const wait = dueAt - clock.now();
    if (wait > 0) await clock.sleep(wait, signal);
    signal.throwIfAborted();
  };
}

const PARTITIONS_AT_A_TIME = 8;
const ENTRIES_AT_A_TIME = 100;

/** Fits every marker in a geo index to its phase; returns how many changes that took. */
async function walkOnce(now: Phase, layout: GeoLayout): Promise<number> {
  const { options, collection, change, job, call } = now;
  const { worker, occupied, maxWcu, onProgress } = options;
  const { database, clock } = worker;
  const { keys } = database;
  const { phase, step } = change;
  const { signal } = call;
  const pace = paceWrites(call.meter, maxWcu, clock);
  let markers = 0;
  let changed = 0;
  let part = 0;
  const tell = () => onProgress({ phase, markers, changed, part });

  async function walkPartition(pk: string): Promise<void> {
    const range = { index: geoIndexOf(layout.geoSlot), pk, limit: ENTRIES_AT_A_TIME };
    for await (const entries of queryResponses(call, range)) {
      const changes = await fitMarkers(now, entries);
      changed += changes;
      markers += entries.length;
      // Most markers may be in one partition.
      tell();
      await pace(signal);
    }
  }

  const own: Collection = { ...collection, ...layout };
  const isWhole = hasFewPartitions(own);
  const prefixes = isWhole ? allPrefixes(own) : await occupied(own, signal);
  // Progress is 1 when the phase has settled. Prefixes of cells have other numbers in each run, which begins again.
  const begin = isWhole ? Math.max(0, job.done(step) - 1) : 0;
  part = begin / Math.max(1, prefixes.total);
  tell();
  let wave: string[] = [];
  async function flush(next: number): Promise<void> {
    const partitions = wave.flatMap((prefix) => keys.spreadPartitions(keys.scope(own), own, prefix).flat());
    wave = [];
    await mapConcurrently(partitions, PARTITIONS_AT_A_TIME, walkPartition);
    if (isWhole) job.reach(next + 1, step);
    part = prefixes.total === 0 ? 1 : next / prefixes.total;
    tell();
  }
  for (const { number, prefix } of prefixes.list(begin)) {
    wave.push(prefix);
    if (wave.length >= PARTITIONS_AT_A_TIME) await flush(number + 1);
  }
  await flush(prefixes.total);
  return changed;
}

async function settle(
  { options, change: { phase }, call }: Phase,
  waitsFor: NonNullable<RepartitionProgress['waitsFor']>,
): Promise<void> {
  options.onProgress({ phase, markers: 0, changed: 0, part: undefined, waitsFor });
  await options.settle(call.signal);
  call.signal.throwIfAborted();
}

/** Does everything of a phase. */
async function runPhase(now: Phase): Promise<void> {
  const { collection, change, job } = now;
  if (job.done(change.step) === 0) {
    await settle(now, 'PROCESSES');
    job.reach(1, change.step);
  }
  if (change.phase === 'SWITCH') return;
  const layout = change.phase === 'FILL' ? collection : (otherLayout(collection) ?? collection);
  // Again, for markers that a process wrote which had stopped for longer than the wait.
  while ((await walkOnce(now, layout)) > 0 && change.phase === 'DRAIN') job.reach(1, change.step);
  // The index follows the table.
  if (change.phase === 'FILL') await settle(now, 'INDEX');
}

/** Does all phases of a change in progress; returns the collection as it is then. */
async function repartitionAs(options: RepartitionOptions, key: string, job: OwnJob): Promise<void> {
  const { database } = options.worker;
  const call = newCall(database, job.signal);
  for (;;) {
    const [collection] = await getCollections(call, [key], { consistent: true });
    if (!collection) throw notFound('collection', key);
    const change = collection.layoutChange;
    if (change === undefined) return;
    try {
      await whileLayoutStays(call, collection, async ({ signal = job.signal, ...rest }) => {
        await runPhase({ options, collection, change, job, call: { ...rest, signal } });
      });
      await endPhase(call, collection);
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
 * one. SWITCH: readers use that one. DRAIN: writers leave the former index, then every marker does. So it is with map
 * properties: markers have the former and the new ones while readers may rely on either.
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
