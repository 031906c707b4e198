import { systemClock } from '../clock.js';
import type { Collection } from '../model/collection.js';
import type { CollectionInput } from '../store/collection/collection-item.js';
import { newCollection } from '../store/collection/collection-item.js';
import { createCollection, getCollections } from '../store/collection/collections.js';
import type { Database } from '../store/database.js';
import { newCall } from '../store/request/meter.js';

export interface OpenedCollection {
  readonly collection: Collection;
  /** Whether it is missing. */
  readonly created: boolean;
  /** Creates it, if it is missing. */
  readonly create: () => Promise<unknown>;
}

/** Opens the collection with this key, or one that can be created. */
export async function openCollection(database: Database, input: CollectionInput): Promise<OpenedCollection> {
  const call = newCall();
  const [found] = await getCollections(database, [input.key], call, { consistent: true });
  if (found) return { collection: found, created: false, create: async () => undefined };
  const now = new Date(systemClock.wall()).toISOString();
  const collection = newCollection(input, now);
  // Throws if keys need a code and there is none.
  database.keys.scope(collection);
  return { collection, created: true, create: () => createCollection(database, input, now, call) };
}
