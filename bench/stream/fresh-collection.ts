import type { EngineAddress } from '../../src/engine/start.js';
import type { Collection } from '../../src/model/collection.js';
import { createCollection } from '../../src/store/collection/collections.js';
import { newCall, type Database } from '../../src/store/database.js';
import { withFreshTables } from '../rig/fresh-tables.js';

export interface FreshCollection {
  readonly engine: EngineAddress;
  readonly database: Database;
  readonly collection: Collection;
  readonly now: string;
}

/** Runs work on an empty collection in fresh tables. */
export function withFreshCollection<T>(work: (fresh: FreshCollection) => Promise<T>): Promise<T> {
  return withFreshTables(async ({ engine, database }) => {
    const now = new Date().toISOString();
    const collection = await createCollection(newCall(database), { key: 'places', name: 'Places' }, now);
    return work({ engine, database, collection, now });
  });
}
