import type { Clock } from '../clock.js';
import type { Log } from '../log.js';
import type { Collection, SpreadPrefix } from '../model/collection.js';
import { everyCollection } from '../store/collection/collections.js';
import { completeSpread } from '../store/collection/spread.js';
import { newCall, type Database } from '../store/database.js';
import type { Sighting } from '../store/lease.js';
import { removeLeftReadings } from '../store/removal/readings.js';
import { emptyCollection, type EmptyingOptions } from './emptying.js';
import { MonthKeeper } from './month-tables.js';

/**
 * Lets writers spread a prefix once this process has seen for long enough that readers gather it. Any number of processes
 * may do so: the last to see it is only later.
 */
export class Spreader {
  readonly #database: Database;
  readonly #clock: Clock;
  readonly #settleMs: number;
  readonly #log: Log;
  /** When prefixes were first seen to be gathered. */
  readonly #seen = new Map<string, number>();

  /** `settleMs`: milliseconds after which no reader still uses a collection as it was before. */
  constructor(database: Database, clock: Clock, settleMs: number, log: Log) {
    this.#database = database;
    this.#clock = clock;
    this.#settleMs = settleMs;
    this.#log = log;
  }

  /** Looks at collections as they were read since the call before. */
  async look(collections: readonly Collection[]): Promise<void> {
    const spreadKey = ({ key, createdAt }: Collection, { prefix, geoSlot }: SpreadPrefix) =>
      [key, createdAt, geoSlot, prefix].join('\n');
    const gathered = new Set<string>();
    for (const collection of collections) {
      const gathering = (collection.spread ?? []).filter(({ phase }) => phase === 'GATHER');
      const known = gathering.filter((each) => {
        const name = spreadKey(collection, each);
        gathered.add(name);
        const seen = this.#seen.get(name) ?? this.#clock.now();
        this.#seen.set(name, seen);
        return this.#clock.now() - seen >= this.#settleMs;
      });
      if (known.length === 0) continue;
      const isKnown = ({ prefix, geoSlot }: SpreadPrefix) =>
        known.some((each) => each.prefix === prefix && each.geoSlot === geoSlot);
      await completeSpread(newCall(this.#database), collection, isKnown);
      const prefixes = known.map(({ prefix }) => prefix);
      const message = 'Every reader gathers these prefixes; writers spread them now';
      this.#log.info({ collection: collection.key, prefixes }, message);
    }
    // The same prefix may be spread again after a repartition.
    for (const name of this.#seen.keys()) if (!gathered.has(name)) this.#seen.delete(name);
  }
}

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
  const { worker, log, settleMs, everyMs } = options;
  const { database, clock } = worker;
  const seen = new Map<string, Sighting>();
  const inProgress = new Map<string, Promise<void>>();
  const months = new MonthKeeper(database, log);
  const spreader = new Spreader(database, clock, settleMs, log);
  let removing: Promise<void> | undefined;

  async function removeReadings(collections: readonly Collection[]): Promise<void> {
    try {
      for (const each of collections) await removeLeftReadings(newCall(database, signal), each, clock.wall());
    } catch (err) {
      if (!signal.aborted) log.warn({ err }, 'Cannot remove readings of deleted markers; retrying');
    }
  }

  async function search(readings: boolean): Promise<void> {
    const left = new Set(seen.keys());
    for await (const collections of everyCollection(newCall(database, signal), 'emptying')) {
      for (const collection of collections) {
        const { key } = collection;
        left.delete(key);
        if (inProgress.has(key)) continue;
        const sighting = seen.get(key) ?? {};
        seen.set(key, sighting);
        const work = emptyCollection(options, collection, sighting, signal)
          .then(() => undefined)
          .catch((err: unknown) => {
            if (!signal.aborted) log.warn({ err, collection: key }, 'Cannot empty a deleted collection; retrying');
          })
          .finally(() => inProgress.delete(key));
        inProgress.set(key, work);
      }
    }
    for (const key of left) seen.delete(key);
    const inUse: Collection[] = [];
    for await (const collections of everyCollection(newCall(database, signal), 'in use')) inUse.push(...collections);
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
      if (!signal.aborted) log.warn({ err }, 'Cannot search for background work; retrying');
    }
    await clock.sleep(everyMs, signal);
  }
  await Promise.all([...inProgress.values(), removing]);
}
