import { CellportError } from '../errors.js';
import type { Collection } from '../model/collection.js';
import { getCollections, listCollections } from '../store/collection/collections.js';
import type { Database } from '../store/database.js';
import { newCall } from '../store/request/meter.js';

const MOST_NAMED = 20;

/** The collection with this key. Throws NOT_FOUND that names those there are. */
export async function findCollection(database: Database, key: string, signal: AbortSignal): Promise<Collection> {
  const call = newCall(signal);
  const [collection] = await getCollections(database, [key], call, { consistent: true });
  if (collection) return collection;
  const { collections, more } = await listCollections(database, { first: MOST_NAMED }, call);
  const names = collections.map((each) => each.key).join(', ');
  const others = names === '' ? 'there are none yet' : `there are: ${names}${more ? ', …' : ''}`;
  throw new CellportError('NOT_FOUND', `no collection ${key}; ${others}`, { collection: key });
}
