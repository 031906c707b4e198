import { systemClock } from '../clock.js';
import type { Collection } from '../model/collection.js';
import type { CollectionInput } from '../store/collection/collection-item.js';
import { createCollection, getCollections } from '../store/collection/collections.js';
import type { Database } from '../store/database.js';
import { newCall } from '../store/request/meter.js';

export interface OpenedCollection {
  readonly collection: Collection;
  /** Whether it was missing before. */
  readonly created: boolean;
}

/** Opens the collection with this key; creates it if it is missing. */
export async function openCollection(database: Database, input: CollectionInput): Promise<OpenedCollection> {
  const call = newCall();
  const [found] = await getCollections(database, [input.key], call, { consistent: true });
  if (found) return { collection: found, created: false };
  return {
    collection: await createCollection(database, input, new Date(systemClock.wall()).toISOString(), call),
    created: true,
  };
}
