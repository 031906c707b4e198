import { setMaxListeners } from 'node:events';

import { systemClock } from '../clock.js';
import { CellportError, notFound } from '../errors.js';
import type { Collection } from '../model/collection.js';
import { collectionFromItem } from '../store/collection/collections.js';
import type { Database } from '../store/database.js';
import { readItem } from '../store/request/conditional-change.js';
import type { Call } from '../store/request/meter.js';

const CHECK_EVERY_MS = 5_000;
/** Emptying a deleted collection starts later than this. */
const TRUSTED_MS = 40_000;

/**
 * Runs writes to a collection with a call that is aborted when the collection is deleted, or when nobody could check for
 * 40 s that it exists. Throws NOT_FOUND, as the call does, if it is gone or was created again.
 */
export async function whileCollectionExists<T>(
  database: Database,
  { key, createdAt }: Collection,
  call: Call,
  write: (call: Call) => Promise<T>,
): Promise<T> {
  const stopped = new AbortController();
  const gone = new AbortController();
  const signal = AbortSignal.any([gone.signal, ...(call.signal === undefined ? [] : [call.signal])]);
  // Every write in progress listens to it.
  setMaxListeners(0, signal);
  const watched = { ...call, signal };

  async function check(): Promise<void> {
    const item = await readItem(database, database.keys.collection(key), watched);
    const found = item && collectionFromItem(database, item);
    if (found?.createdAt !== createdAt) throw notFound('collection', key);
  }

  async function watch(): Promise<void> {
    // By the time of day: a machine that slept has to check first.
    for (let confirmed = systemClock.wall(); ;) {
      await systemClock.sleep(CHECK_EVERY_MS, stopped.signal);
      if (stopped.signal.aborted) return;
      try {
        const began = systemClock.wall();
        await check();
        confirmed = began;
      } catch (error) {
        const transient = error instanceof CellportError && error.code !== 'NOT_FOUND';
        if (transient && systemClock.wall() - confirmed <= TRUSTED_MS) continue;
        return gone.abort(error);
      }
    }
  }

  await check();
  const watching = watch();
  try {
    return await write(watched);
  } finally {
    stopped.abort();
    await watching;
  }
}
