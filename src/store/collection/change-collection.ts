import { CellportError, notFound } from '../../errors.js';
import { isCollectionKey } from '../../keys/validate.js';
import type { Collection } from '../../model/collection.js';
import type { Call, Item } from '../database.js';
import { changeItem, readItem, type ConditionalChange } from '../request/conditional-write.js';
import { checkItemSize } from '../request/item-size.js';
import { collectionFromItem } from './collection-item.js';

/**
 * The effect of one write on a collection: its item before and after, and the collection as it is, or as it was before
 * its deletion.
 */
export interface CollectionWrite extends ConditionalChange {
  readonly collection: Collection;
}

/** Throws BAD_USER_INPUT with what follows, if a collection has no geo index. */
export function requireGeoIndex({ key, geoIndex }: Collection, so: string): void {
  if (!geoIndex)
    throw new CellportError('BAD_USER_INPUT', `collection ${key} has no geo index, ${so}`, { collection: key });
}

/** Reads the item of a collection, strongly consistent; undefined if it does not exist. */
export async function readCollectionItem(call: Call, key: string): Promise<Item | undefined> {
  return isCollectionKey(key) ? readItem(call, call.db.keys.collection(key)) : undefined;
}

/**
 * Changes attributes of a collection with one conditional write, which raises its version; `decide` receives the
 * collection as it is. Throws NOT_FOUND, and what `decide` throws.
 */
export async function changeCollection(
  call: Call,
  key: string,
  decide: (collection: Collection) => Item,
): Promise<CollectionWrite> {
  const inUse = (item: Item | undefined) => item && collectionFromItem(call.db.keys, item);
  const change = await changeItem(
    call,
    () => readCollectionItem(call, key),
    (item) => {
      const collection = inUse(item);
      if (item === undefined || collection === undefined) throw notFound('collection', key);
      const next: Item = { ...item, ...decide(collection), version: collection.version + 1 };
      checkItemSize(next, 'collection', 'description');
      return { found: item, next };
    },
  );
  const collection = inUse(change.after) ?? inUse(change.before);
  if (collection === undefined) throw notFound('collection', key);
  return { ...change, collection };
}
