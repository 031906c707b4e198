import { isDeepStrictEqual } from 'node:util';

import { elapsedSince, momentOf, systemClock } from '../../clock.js';
import { CellportError, notFound } from '../../errors.js';
import type { Collection } from '../../model/collection.js';
import type { Call } from '../database.js';
import { readItem } from '../request/conditional-write.js';
import { collectionFromItem } from './collection-item.js';

const CHECK_EVERY_MS = 5_000;
/** How long a successful check remains valid; jobs wait longer before they rely on what writers know. */
const TRUSTED_MS = 40_000;

/** The layout of the collection has changed: what was prepared for the former one must not be written. */
export class LayoutChanged extends CellportError {
  readonly collection: Collection;

  constructor(collection: Collection) {
    super('CONFLICT', `the layout of collection ${collection.key} has changed; retry`);
    this.collection = collection;
  }
}

const layoutOf = ({ prefixLength, writeShards, mapProperties, geoSlot, layoutChange }: Collection) => {
  return { prefixLength, writeShards, mapProperties, geoSlot, layoutChange };
};

/**
 * Runs writes to a collection with a call that is aborted when the collection is deleted, or when checks have failed
 * for 40 s. Throws NOT_FOUND if the collection was deleted, even if it was created again, and so does the call.
 */
export function whileCollectionExists<T>(
  call: Call,
  collection: Collection,
  write: (call: Call) => Promise<T>,
): Promise<T> {
  return whileValid(call, collection, () => undefined, write);
}

/** The same for writes that depend on the layout. Throws LayoutChanged if it is no longer that of `collection`. */
export function whileLayoutStays<T>(call: Call, collection: Collection, write: (call: Call) => Promise<T>): Promise<T> {
  const check = (found: Collection) => {
    if (!isDeepStrictEqual(layoutOf(found), layoutOf(collection))) throw new LayoutChanged(found);
  };
  return whileValid(call, collection, check, write);
}

/** Runs writes while the collection exists and `validate`, which may throw, accepts it. */
async function whileValid<T>(
  call: Call,
  { key, createdAt }: Collection,
  validate: (found: Collection) => void,
  write: (call: Call) => Promise<T>,
): Promise<T> {
  const stopped = new AbortController();
  const changed = new AbortController();
  const signal = AbortSignal.any([changed.signal, ...(call.signal === undefined ? [] : [call.signal])]);
  const watched = { ...call, signal };

  async function check(): Promise<void> {
    const item = await readItem(watched, call.db.keys.collection(key));
    const found = item && collectionFromItem(call.db.keys, item);
    if (found?.createdAt !== createdAt) throw notFound('collection', key);
    validate(found);
  }

  async function watch(): Promise<void> {
    for (let confirmed = momentOf(call.db.clock); ;) {
      await systemClock.sleep(CHECK_EVERY_MS, stopped.signal);
      if (stopped.signal.aborted) return;
      try {
        const began = momentOf(call.db.clock);
        await check();
        confirmed = began;
      } catch (error) {
        const transient =
          error instanceof CellportError && error.code !== 'NOT_FOUND' && !(error instanceof LayoutChanged);
        if (transient && elapsedSince(confirmed, call.db.clock) <= TRUSTED_MS) continue;
        return changed.abort(error);
      }
    }
  }

  await check();
  const watching = watch();
  try {
    return await write(watched);
  } catch (error) {
    throw changed.signal.aborted ? changed.signal.reason : error;
  } finally {
    stopped.abort();
    await watching;
  }
}
