import { CellportError } from '../errors.js';
import type { Collection } from '../model/collection.js';
import { getCollections, listCollections } from '../store/collection/collections.js';
import type { Call } from '../store/database.js';
import { hasSource, type SourceCollection } from '../store/source/source-mapping.js';

const MOST_NAMED = 20;

/** The collection with this key. Throws NOT_FOUND listing existing collections. */
export async function findCollection(call: Call, key: string): Promise<Collection> {
  const [collection] = await getCollections(call, [key], { consistent: true });
  if (collection) return collection;
  const { collections, more } = await listCollections(call, { first: MOST_NAMED });
  const names = collections.map((each) => each.key).join(', ');
  const others = names === '' ? 'there are no collections yet' : `existing collections: ${names}${more ? ', …' : ''}`;
  throw new CellportError('NOT_FOUND', `there is no collection ${key}; ${others}`, { collection: key });
}

/** The collection with this key, which follows a table. Throws NOT_FOUND, and BAD_USER_INPUT if it has markers of its own. */
export async function findSource(call: Call, key: string): Promise<SourceCollection> {
  const collection = await findCollection(call, key);
  if (hasSource(collection)) return collection;
  throw new CellportError('BAD_USER_INPUT', `collection ${key} follows no table: its markers are its own`, {
    collection: key,
  });
}
