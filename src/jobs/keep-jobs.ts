import { everyCollection } from '../store/collection/collection-changes.js';
import { newCall } from '../store/request/meter.js';
import { removeLeftReadings } from '../store/reading/reading-removal.js';
import { type EmptyingOptions, emptyCollection } from './emptying.js';
import type { Sighting } from '../store/lease.js';

export interface JobsOptions extends EmptyingOptions {
  /** Milliseconds between two looks for work. */
  readonly everyMs: number;
}

/** Looks between two for readings that were left behind, which cost a Query for each collection. */
const LOOKS_FOR_READINGS = 40;

/**
 * Does what other work has left for the background, until the signal is aborted: empties collections that were deleted,
 * and removes readings of deleted markers. Any number of processes may do so at once.
 */
export async function keepJobs(options: JobsOptions, signal: AbortSignal): Promise<void> {
  const { worker, log, everyMs } = options;
  const { database, clock } = worker;
  const seen = new Map<string, Sighting>();
  const underWay = new Map<string, Promise<void>>();

  async function look(readings: boolean): Promise<void> {
    for await (const collections of everyCollection(database, 'emptying', newCall(signal))) {
      for (const collection of collections) {
        const { key } = collection;
        if (underWay.has(key)) continue;
        const sighting = seen.get(key) ?? {};
        seen.set(key, sighting);
        const work = emptyCollection(options, collection, sighting, signal)
          .then(() => undefined)
          .catch((err: unknown) => {
            if (!signal.aborted) log.warn({ err, collection: key }, 'a collection could not be emptied for now');
          })
          .finally(() => underWay.delete(key));
        underWay.set(key, work);
      }
    }
    if (!readings) return;
    for await (const collections of everyCollection(database, 'in use', newCall(signal))) {
      for (const collection of collections)
        await removeLeftReadings(database, collection, clock.wall(), newCall(signal));
    }
  }

  for (let looks = 0; !signal.aborted; looks += 1) {
    try {
      await look(looks % LOOKS_FOR_READINGS === 0);
    } catch (err) {
      if (!signal.aborted) log.warn({ err }, 'work in the background could not be looked for and will be again');
    }
    await clock.sleep(everyMs, signal);
  }
  await Promise.all(underWay.values());
}
