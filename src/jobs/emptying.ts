import { CellportError } from '../errors.js';
import { GEOHASH_ALPHABET } from '../geo/geohash.js';
import type { Log } from '../log.js';
import type { Collection } from '../model/collection.js';
import { getBlocks } from '../store/cell/blocks.js';
import {
  allPrefixes,
  hasFewPartitions,
  occupiedPrefixes,
  type PartitionPrefixes,
} from '../store/cell/partition-prefixes.js';
import { CONSUMER, loadStreamState } from '../store/cell/stream-state.js';
import { emptyingJob, releaseCollection } from '../store/collection/collections.js';
import { newCall, type Call } from '../store/database.js';
import type { Sighting } from '../store/lease.js';
import { walkPages } from '../store/page/walk-pages.js';
import { removeByKey, removePartition } from '../store/removal/markers.js';
import { removeLeftReadings } from '../store/removal/readings.js';
import { mapConcurrently } from '../store/request/pacing.js';
import { hasSource, type SourceCollection } from '../store/source/source-mapping.js';
import { removeZones } from '../store/zone/zones.js';
import { doJob, type OwnJob, type Worker } from './job.js';

export interface EmptyingOptions {
  readonly worker: Worker;
  /** Resolves once the cells include every write before the call, with whether they are exact. Rejects on abort. */
  readonly cellsCaughtUp: (signal: AbortSignal) => Promise<boolean>;
  /** Removes what was derived from a table of others. */
  readonly removeSource: (collection: SourceCollection, signal: AbortSignal) => Promise<void>;
  /** Milliseconds after which no process still writes to a deleted collection. */
  readonly settleMs: number;
  readonly log: Log;
}

const PARTITIONS_AT_A_TIME = 8;
const PARTITIONS_BETWEEN_REPORTS = 64;
/** Number of passes over the partitions named by the cells before all partitions are read. */
const GUIDED_ROUNDS = 3;

/** Removes all markers under some prefixes, starting with prefix number `from`. */
async function sweep(
  call: Call,
  collection: Collection,
  prefixes: PartitionPrefixes,
  from = 0,
  reached: (number: number) => void = () => undefined,
): Promise<void> {
  const { keys } = call.db;
  const scope = keys.scope(collection);
  let wave: string[] = [];
  async function flush(next: number): Promise<void> {
    const partitions = wave.flatMap((prefix) => keys.spreadPartitions(scope, collection, prefix).flat());
    wave = [];
    await mapConcurrently(partitions, PARTITIONS_AT_A_TIME, (pk) => removePartition(call, collection, pk));
    reached(next);
  }
  for (const { number, prefix } of prefixes.list(from)) {
    wave.push(prefix);
    if (wave.length >= PARTITIONS_BETWEEN_REPORTS) await flush(number + 1);
  }
  await flush(prefixes.total);
}

/** Removes all markers of a collection without a geo index: those on its pages. Throws UNAVAILABLE if these may lack some. */
async function removeUnindexed(
  { worker: { database }, cellsCaughtUp }: EmptyingOptions,
  collection: Collection,
  signal: AbortSignal,
): Promise<void> {
  const call = newCall(database, signal);
  const generation = async () => (await loadStreamState(call, CONSUMER))?.pages?.generation;
  const walked = { scope: database.keys.scope(collection), generation, partitions: Array.from(GEOHASH_ALPHABET) };
  for (let removed = Infinity; removed > 0;) {
    if (!(await cellsCaughtUp(signal))) {
      const message = `the pages of ${collection.key}, which show what markers it has, may be wrong: run \`cellport recount\``;
      throw new CellportError('UNAVAILABLE', message);
    }
    removed = 0;
    for await (const { markers } of walkPages(call, walked)) {
      removed += await removeByKey(call, collection, markers);
    }
  }
}

/** Removes all markers of a collection that no process writes to any more. */
async function removeMarkers(options: EmptyingOptions, collection: Collection, job: OwnJob): Promise<void> {
  const { worker, cellsCaughtUp } = options;
  const call = newCall(worker.database, job.signal);
  if (!collection.geoIndex) return removeUnindexed(options, collection, job.signal);
  if (!hasFewPartitions(collection)) {
    for (let round = 0; round < GUIDED_ROUNDS && (await cellsCaughtUp(job.signal)); round += 1) {
      const prefixes = await occupiedPrefixes(call, collection);
      if (prefixes.total === 0) return;
      await sweep(call, collection, prefixes);
    }
  }
  // Progress starts at 1, because 0 means that the job has not waited yet.
  const from = job.done() - 1;
  await sweep(call, collection, allPrefixes(collection), from, (next) => job.reach(next + 1));
}

async function empty(options: EmptyingOptions, collection: Collection, job: OwnJob): Promise<void> {
  const { worker, removeSource, settleMs, log } = options;
  const { database, clock } = worker;
  if (job.done() === 0) {
    await clock.sleep(settleMs, job.signal);
    job.signal.throwIfAborted();
    job.reach(1);
  }
  if (hasSource(collection)) await removeSource(collection, job.signal);
  else await removeOwn(options, collection, job);
  await releaseCollection(newCall(database), collection);
  log.info({ collection: collection.key }, 'A deleted collection has been emptied; its key can be used again');
}

/** Removes all markers, zones and readings of a collection, and waits until they no longer count. */
async function removeOwn(options: EmptyingOptions, collection: Collection, job: OwnJob): Promise<void> {
  const { worker, cellsCaughtUp, log } = options;
  const { database } = worker;
  await removeMarkers(options, collection, job);
  const call = newCall(database, job.signal);
  await removeLeftReadings(call, collection, Infinity);
  await removeZones(call, collection);
  // A new collection with the same key must start with empty cells.
  const exact = await cellsCaughtUp(job.signal);
  const [total] = await getBlocks(call, database.keys.scope(collection), [''], { consistent: true });
  if (total !== undefined && total.children.size > 0) {
    log.error(
      { collection: collection.key, exact },
      'Cells of an emptied collection still count markers; run `cellport recount`',
    );
  }
}

/**
 * Empties a deleted collection and frees its key; returns false if another process is doing so. It first waits until no
 * process can still be writing markers, so that one pass finds all of them. It reads the partitions of the geo index:
 * all of them if there are few, otherwise those named by the cells, provided that the cells are exact. It deletes an
 * item only in the incarnation that it read, so that a process that resumes after a suspension does no harm.
 */
export function emptyCollection(
  options: EmptyingOptions,
  collection: Collection,
  seen: Sighting,
  signal: AbortSignal,
): Promise<boolean> {
  const { worker } = options;
  const key = emptyingJob(worker.database, collection);
  return doJob(worker, key, seen, (job) => empty(options, collection, job), signal);
}
