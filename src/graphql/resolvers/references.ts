import { notFound } from '../../errors.js';
import { parseId } from '../../keys/ids.js';
import type { Collection } from '../../model/collection.js';
import { requireCollection } from '../../read/context.js';
import type { RequestContext } from '../context.js';

/**
 * The stored collection with this key; errors name `field`. Throws NOT_FOUND, and BAD_USER_INPUT for a table of the Geo
 * Library.
 */
export async function storedCollection({ answers }: RequestContext, key: string, field: string): Promise<Collection> {
  return requireCollection(answers(key).stored(field), key);
}

/**
 * The collection and the key of the marker or zone with this ID, which may not exist; errors name `field`. Throws
 * NOT_FOUND if the ID is of another kind or its collection does not exist, and BAD_USER_INPUT for a table of the Geo
 * Library.
 */
export async function referenceOf(
  { answers }: RequestContext,
  kind: 'marker' | 'zone',
  id: string,
  field: string,
): Promise<{ readonly collection: Collection; readonly key: string }> {
  const name = parseId(id);
  if (name === undefined || name.type === 'collection' || name.type !== kind) throw notFound(kind, id);
  const collection = await answers(name.collection).stored(field).loaders.collections.get(name.collection);
  if (!collection) throw notFound(kind, id);
  return { collection, key: name.key };
}
