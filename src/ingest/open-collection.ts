import type { Collection } from '../model/collection.js';
import { type CollectionInput, createCollection, getCollections } from '../store/collection/collections.js';
import type { Database } from '../store/database.js';
import { newCall } from '../store/request/meter.js';

/** The collection with this key, created if it is missing. */
export async function openCollection(
  database: Database,
  input: CollectionInput,
): Promise<{ readonly collection: Collection; readonly created: boolean }> {
  const call = newCall();
  const [found] = await getCollections(database, [input.key], call, { consistent: true });
  if (found) return { collection: found, created: false };
  return { collection: await createCollection(database, input, new Date().toISOString(), call), created: true };
}
