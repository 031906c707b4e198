import { systemClock } from '../clock.js';
import { CellportError, notFound } from '../errors.js';
import type { Collection } from '../model/collection.js';
import { collectionFromItem } from '../store/collection/collection-item.js';
import type { Database } from '../store/database.js';
import { readItem } from '../store/request/conditional-change.js';
import type { Call } from '../store/request/meter.js';

const CHECK_EVERY_MS = 5_000;
/** How long a successful check remains valid; a deleted collection is emptied only after this time. */
const TRUSTED_MS = 40_000;

/**
 * Runs writes to a collection with a call that is aborted when the collection is deleted, or when checks have failed
 * for 40 s. Throws NOT_FOUND if the collection was deleted, even if it was created again, and so does the call.
 */
export async function whileCollectionExists<T>(
  database: Database,
  { key, createdAt }: Collection,
  call: Call,
  write: (call: Call) => Promise<T>,
): Promise<T> {
  const stopped = new AbortController();
  const deleted = new AbortController();
  const signal = AbortSignal.any([deleted.signal, ...(call.signal === undefined ? [] : [call.signal])]);
  const watched = { ...call, signal };

  async function check(): Promise<void> {
    const item = await readItem(database, database.keys.collection(key), watched);
    const found = item && collectionFromItem(database, item);
    if (found?.createdAt !== createdAt) throw notFound('collection', key);
  }

  async function watch(): Promise<void> {
    // Wall-clock time, because a monotonic clock may stop while the machine sleeps.
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
        return deleted.abort(error);
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
