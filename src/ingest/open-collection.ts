import { CellportError } from '../errors.js';
import type { Collection } from '../model/collection.js';
import { newCollection, type CollectionInput } from '../store/collection/collection-item.js';
import { createCollection, getCollections } from '../store/collection/collections.js';
import { newCall, type Database } from '../store/database.js';
import { ownCollection } from '../store/source/source-mapping.js';

export interface OpenedCollection {
  readonly collection: Collection;
  /** Whether it is missing. */
  readonly created: boolean;
  /** Creates it if it is missing; returns what others have created meanwhile. */
  readonly create: () => Promise<Collection>;
}

/** Opens the collection with this key, or one that can be created. */
export async function openCollection(database: Database, input: CollectionInput): Promise<OpenedCollection> {
  const call = newCall(database);
  const [found] = await getCollections(call, [input.key], { consistent: true });
  if (found) return { collection: ownCollection(found, 'import'), created: false, create: async () => found };
  const now = new Date(database.clock.wall()).toISOString();
  const collection = newCollection(input, now);
  // Throws if keys need a code and there is none.
  database.keys.scope(collection);
  async function createOrFind(): Promise<Collection> {
    try {
      return await createCollection(call, input, now);
    } catch (error) {
      if (!(error instanceof CellportError) || error.code !== 'CONFLICT') throw error;
      const [others] = await getCollections(call, [input.key], { consistent: true });
      if (!others) throw error;
      return others;
    }
  }
  let creating: Promise<Collection> | undefined;
  return { collection, created: true, create: () => (creating ??= createOrFind()) };
}
