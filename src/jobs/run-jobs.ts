import { everyCollection } from '../store/collection/collection-changes.js';
import { newCall } from '../store/request/meter.js';
import { removeLeftReadings } from '../store/marker/reading-removal.js';
import { type EmptyingOptions, emptyCollection } from './emptying.js';
import type { Sighting } from '../store/lease.js';
import type { Collection } from '../model/collection.js';
import { MonthKeeper } from './month-tables.js';
import { Spreader } from './spread.js';

export interface JobsOptions extends EmptyingOptions {
  /** Milliseconds between two searches for jobs. */
  readonly everyMs: number;
}

/** One in this many searches includes orphaned readings and tables of months: that takes a Query per collection. */
const SEARCHES_PER_READINGS = 40;

/**
 * Runs background jobs until the signal is aborted: empties deleted collections, removes readings of deleted markers, and
 * keeps the tables of months of readings.
 * Any number of processes may do so at the same time.
 */
export async function runJobs(options: JobsOptions, signal: AbortSignal): Promise<void> {
  const { worker, log, everyMs } = options;
  const { database, clock } = worker;
  const seen = new Map<string, Sighting>();
  const inProgress = new Map<string, Promise<void>>();
  const months = new MonthKeeper(database, log);
  const spreader = new Spreader({ ...options, database, clock });
  let removing: Promise<void> | undefined;

  async function removeReadings(collections: readonly Collection[]): Promise<void> {
    try {
      for (const each of collections) await removeLeftReadings(database, each, clock.wall(), newCall(signal));
    } catch (err) {
      if (!signal.aborted) log.warn({ err }, 'cannot remove readings of deleted markers; retrying');
    }
  }

  async function search(readings: boolean): Promise<void> {
    const left = new Set(seen.keys());
    for await (const collections of everyCollection(database, 'emptying', newCall(signal))) {
      for (const collection of collections) {
        const { key } = collection;
        left.delete(key);
        if (inProgress.has(key)) continue;
        const sighting = seen.get(key) ?? {};
        seen.set(key, sighting);
        const work = emptyCollection(options, collection, sighting, signal)
          .then(() => undefined)
          .catch((err: unknown) => {
            if (!signal.aborted) log.warn({ err, collection: key }, 'cannot empty a deleted collection; retrying');
          })
          .finally(() => inProgress.delete(key));
        inProgress.set(key, work);
      }
    }
    for (const key of left) seen.delete(key);
    const inUse: Collection[] = [];
    for await (const collections of everyCollection(database, 'in use', newCall(signal))) inUse.push(...collections);
    await spreader.look(inUse);
    if (!readings) return;
    // A marker may have had millions of readings: other jobs do not wait.
    removing ??= removeReadings(inUse).finally(() => (removing = undefined));
    await months.keep(inUse, clock.wall());
  }

  for (let searches = 0; !signal.aborted; searches += 1) {
    try {
      await search(searches % SEARCHES_PER_READINGS === 0);
    } catch (err) {
      if (!signal.aborted) log.warn({ err }, 'cannot search for background work; retrying');
    }
    await clock.sleep(everyMs, signal);
  }
  await Promise.all([...inProgress.values(), removing]);
}
