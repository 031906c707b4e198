import { CellportError } from '../../errors.js';
import { isCollectionKey } from '../../keys/validate.js';
import type { Collection } from '../../model/collection.js';
import type { Database, Item } from '../database.js';
import { batchGet, type BatchGetOptions } from '../request/batch-get.js';
import { putIfAbsent, putIfAbsentRequest } from '../request/conditional-put.js';
import type { Call } from '../request/meter.js';
import { rangeRequest } from '../request/ranges.js';
import { send } from '../request/send.js';
import { transact } from '../request/transact.js';
import { queryResponses } from '../table/query-responses.js';
import { collectionFromItem, collectionItem, newCollection, type CollectionInput } from './collection-item.js';

/** The key of the collection that has this code; undefined if there is none. */
export async function collectionOfCode(database: Database, code: string, call: Call): Promise<string | undefined> {
  const request = { TableName: database.tables.entities, Key: { ...database.keys.codeClaim(code) } };
  const { Item: claim } = await send(database, 'get', request, call);
  return typeof claim?.['collection'] === 'string' ? claim['collection'] : undefined;
}

function keyTaken(key: string): CellportError {
  const message = `there is a collection ${JSON.stringify(key)} already, or one that is still being emptied`;
  return new CellportError('CONFLICT', message, { key });
}

/** Puts a collection and the item that reserves its code in one transaction. */
async function putWithCode(database: Database, item: Item, key: string, code: string, call: Call): Promise<void> {
  const { keys, tables } = database;
  const claim = { ...keys.codeClaim(code), collection: key };
  const writes = [item, claim].map((put) => ({ Put: putIfAbsentRequest(tables.entities, put) }));
  const [refused] = await transact(database, writes, call);
  if (refused === 0) throw keyTaken(key);
  if (refused === 1) throw new CellportError('CONFLICT', `code ${code} belongs to another collection`, { code });
}

/**
 * Creates a collection; if keys are compact, its code is reserved in the same transaction. `now` is RFC 3339 in UTC.
 * Throws BAD_USER_INPUT naming the field, or CONFLICT if its key or its code is taken.
 */
export async function createCollection(
  database: Database,
  input: CollectionInput,
  now: string,
  call: Call,
): Promise<Collection> {
  const collection = newCollection(input, now);
  // Throws if keys need a code and there is none, before anything is written.
  database.keys.scope(collection);
  const item = collectionItem(database.keys, collection);
  if (database.keys.style === 'compact' && collection.code !== null) {
    await putWithCode(database, item, collection.key, collection.code, call);
  } else if (!(await putIfAbsent(database, database.tables.entities, item, call))) {
    throw keyTaken(collection.key);
  }
  return collection;
}

/** Collections by key, in the order of the keys; null for missing ones. */
export async function getCollections(
  database: Database,
  keys: readonly string[],
  call: Call,
  options: BatchGetOptions = {},
): Promise<(Collection | null)[]> {
  // An invalid key has no key in the table either.
  const possible = keys.filter(isCollectionKey);
  const items = await batchGet(
    database,
    database.tables.entities,
    possible.map((key) => database.keys.collection(key)),
    call,
    options,
  );
  const found = new Map(possible.map((key, index) => [key, items[index]]));
  return keys.map((key) => {
    const item = found.get(key);
    return item === undefined ? null : (collectionFromItem(database.keys, item) ?? null);
  });
}

/** The number of collections with these keys, or beginnings of keys and `*`, of at most `most`; strongly consistent. */
export async function countCollections(
  database: Database,
  patterns: readonly string[],
  most: number,
  call: Call,
): Promise<number> {
  const { keys } = database;
  const found = new Set<string>();
  for (const pattern of patterns) {
    const from = pattern.replace('*', '');
    // After all characters of keys.
    const bounds = from === '' ? {} : { from, to: pattern === from ? from : `${from}~` };
    const range = { index: 'entities', pk: keys.collectionsPartition, ...bounds, consistent: true } as const;
    for await (const items of queryResponses(database, rangeRequest(database, range), call)) {
      for (const item of items) if (collectionFromItem(keys, item)) found.add(String(item['sk']));
      if (found.size >= most) return most;
    }
  }
  return found.size;
}

export interface CollectionList {
  readonly collections: readonly Collection[];
  /** Whether there are more after the last one. */
  readonly more: boolean;
}

/** The first `first` collections by key in byte order, or the first ones after the key `after`. */
export async function listCollections(
  database: Database,
  { first, after }: { readonly first: number; readonly after?: string | undefined },
  call: Call,
): Promise<CollectionList> {
  const { keys } = database;
  const behind = after === undefined ? undefined : keys.collection(after).sk;
  // One more than requested shows whether there are more.
  const range = { index: 'entities', pk: keys.collectionsPartition, behind, limit: first + 1 } as const;
  const collections: Collection[] = [];
  for await (const items of queryResponses(database, rangeRequest(database, range), call)) {
    collections.push(...items.flatMap((item) => collectionFromItem(database.keys, item) ?? []));
    if (collections.length > first) break;
  }
  return { collections: collections.slice(0, first), more: collections.length > first };
}
