import { notFound } from '../../errors.js';
import { parseId } from '../../keys/ids.js';
import type { Collection } from '../../model/collection.js';
import { ownCollection } from '../../store/source/source-mapping.js';
import { isMutation, MUTATIONS, requireAction } from '../actions.js';
import type { RequestContext } from '../context.js';

/**
 * The collection with this key whose markers are Cellport's own; errors name `field`. Throws NOT_FOUND, and BAD_USER_INPUT
 * for one that follows a table.
 */
export async function storedCollection(context: RequestContext, key: string, field: string): Promise<Collection> {
  const collection = await collectionFor(context, key, field);
  if (!collection) throw notFound('collection', key);
  return ownCollection(collection, field);
}

/** The collection of this key for a mutation, or for reading. Throws FORBIDDEN or NOT_FOUND if the principal may not. */
async function collectionFor({ access, map }: RequestContext, key: string, field: string): Promise<Collection | null> {
  const { collections } = map.loaders;
  if (!isMutation(field)) return collections.get(key);
  requireAction(access, field, key);
  return collections.get(key, collections.lagging, MUTATIONS[field].action);
}

/**
 * The collection and the key of the marker or zone with this ID, which may not exist; errors name `field`. Throws
 * NOT_FOUND if the ID is of another kind or its collection does not exist, and BAD_USER_INPUT for one of a collection
 * that follows a table.
 */
export async function referenceOf(
  context: RequestContext,
  kind: 'marker' | 'zone',
  id: string,
  field: string,
): Promise<{ readonly collection: Collection; readonly key: string }> {
  const name = parseId(id);
  if (name === undefined || name.type === 'collection' || name.type !== kind) throw notFound(kind, id);
  const collection = await collectionFor(context, name.collection, field);
  if (!collection) throw notFound(kind, id);
  return { collection: ownCollection(collection, field), key: name.key };
}
