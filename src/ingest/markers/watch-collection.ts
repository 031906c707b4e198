import { setMaxListeners } from 'node:events';
import { setTimeout as sleep } from 'node:timers/promises';

import { CellportError, notFound } from '../../errors.js';
import type { Collection } from '../../model/collection.js';
import { collectionFromItem } from '../../store/collection/collections.js';
import { readItem } from '../../store/request/conditional-change.js';
import type { Database } from '../../store/database.js';
import type { Call } from '../../store/request/meter.js';

const LOOK_EVERY_MS = 5_000;
/** Whoever empties a deleted collection waits longer than this before the first marker is removed. */
const BELIEVED_MS = 40_000;

/** A call that is aborted when the collection is gone, or nobody can tell whether it is still there. */
export interface Watch {
  readonly call: Call;
  stop(): Promise<void>;
}

/**
 * Looks at a collection before the first of many writes and every five seconds from then on, so that none goes into one
 * that was deleted meanwhile. Throws NOT_FOUND, as the call does later, where it is gone or another one by now.
 */
export async function watchCollection(database: Database, collection: Collection, call: Call): Promise<Watch> {
  const { key, createdAt } = collection;
  const stopped = new AbortController();
  const gone = new AbortController();
  const signal = AbortSignal.any([gone.signal, ...(call.signal === undefined ? [] : [call.signal])]);
  // Every write under way listens to it.
  setMaxListeners(0, signal);
  const watched = { ...call, signal };

  async function look(): Promise<void> {
    const item = await readItem(database, database.keys.collection(key), { ...call, signal });
    const found = item && collectionFromItem(database, item);
    if (found?.createdAt !== createdAt) throw notFound('collection', key);
  }

  async function watch(): Promise<void> {
    // By the time of day: a machine that slept has to look first.
    for (let confirmed = Date.now(); !stopped.signal.aborted;) {
      await sleep(LOOK_EVERY_MS, undefined, { signal: stopped.signal }).catch(() => undefined);
      if (stopped.signal.aborted) return;
      try {
        const began = Date.now();
        await look();
        confirmed = began;
      } catch (error) {
        const passing = error instanceof CellportError && error.code !== 'NOT_FOUND';
        if (!passing || Date.now() - confirmed > BELIEVED_MS) gone.abort(error);
        if (gone.signal.aborted) return;
      }
    }
  }

  await look();
  const watching = watch();
  return {
    call: watched,
    async stop() {
      stopped.abort();
      await watching;
    },
  };
}
