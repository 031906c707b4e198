import { badInput, CellportError, limitExceeded } from '../../errors.js';
import type { Key } from '../../keys/document-id.js';
import { isCollectionKey } from '../../keys/validate.js';
import type { Collection } from '../../model/collection.js';
import { QUOTA_ADVICE } from '../../model/quotas.js';
import type { Call, Database, Item } from '../database.js';
import { counterKey } from '../marker/marker-keys.js';
import { batchGet, type BatchGetOptions } from '../request/batches.js';
import { checkVersion, putIfAbsent, putIfAbsentRequest, readItem } from '../request/conditional-write.js';
import { isFailure } from '../request/failures.js';
import { TooManyUpdates } from '../request/pacing.js';
import { send } from '../request/send.js';
import { transact, type Write } from '../request/transact.js';
import { queryResponses } from '../table/query-responses.js';
import { changeCollection, readCollectionItem, type CollectionWrite } from './change-collection.js';
import {
  anyCollectionFromItem,
  collectionFromItem,
  collectionItem,
  EMPTYING,
  newCollection,
  readDescription,
  readRankBy,
  readText,
  type CollectionInput,
} from './collection-item.js';
import { repartitionJob } from './layout-change.js';

/** The key of the collection that has this code; undefined if there is none. */
export async function collectionOfCode(call: Call, code: string): Promise<string | undefined> {
  const request = { TableName: call.db.tables.entities, Key: { ...call.db.keys.codeClaim(code) } };
  const { Item: claim } = await send(call, 'get', request);
  return typeof claim?.['collection'] === 'string' ? claim['collection'] : undefined;
}

function keyTaken(key: string): CellportError {
  const message = `there is a collection ${JSON.stringify(key)} already, or one that is still being emptied`;
  return new CellportError('CONFLICT', message, { key });
}

/** What limits the collections with some keys, as in `countCollections`. */
export interface CollectionQuota {
  readonly patterns: readonly string[];
  readonly most: number;
}

/** How often a collection is counted among others that are being created. */
const ROUNDS = 20;

/**
 * A write that fails if another collection has been created within a quota since now: servers that count at the same time
 * would each find room. Throws LIMIT_EXCEEDED if there is none.
 */
async function turnWithin(call: Call, { patterns, most }: CollectionQuota): Promise<Write> {
  const key = call.db.keys.access('collections');
  const turn = Number((await readItem(call, key))?.['turn'] ?? 0);
  const count = await countCollections(call, patterns, most);
  if (count >= most) throw limitExceeded('number of your collections', `more than ${most}`, most, QUOTA_ADVICE);
  const put = { TableName: call.db.tables.entities, Item: { ...key, turn: turn + 1 } };
  const condition = 'attribute_not_exists(pk) OR #turn = :turn';
  const names = { '#turn': 'turn' };
  return {
    Put: {
      ...put,
      ConditionExpression: condition,
      ExpressionAttributeNames: names,
      ExpressionAttributeValues: { ':turn': turn },
    },
  };
}

/** Puts a collection with the item that reserves its code, if keys need one, and within a quota, if there is one. */
async function put(call: Call, item: Item, collection: Collection, quota: CollectionQuota | undefined) {
  const { keys, tables } = call.db;
  const { key, code } = collection;
  const claims = keys.style === 'compact' && code !== null ? [{ ...keys.codeClaim(code), collection: key }] : [];
  if (claims.length === 0 && quota === undefined) {
    if (await putIfAbsent(call, tables.entities, item)) return;
    throw keyTaken(key);
  }
  const puts = [item, ...claims].map((each): Write => ({ Put: putIfAbsentRequest(tables.entities, each) }));
  for (let round = 0; round < ROUNDS; round += 1) {
    const turns = quota === undefined ? [] : [await turnWithin(call, quota)];
    const [refused] = await transact(call, [...puts, ...turns]);
    if (refused === undefined) return;
    if (refused === 0) throw keyTaken(key);
    if (refused < puts.length)
      throw new CellportError('CONFLICT', `code ${code} belongs to another collection`, { code });
  }
  throw new TooManyUpdates();
}

/**
 * Creates a collection; if keys are compact, its code is reserved in the same transaction. `now` is RFC 3339 in UTC.
 * Throws BAD_USER_INPUT naming the field, CONFLICT if its key or its code is taken, or LIMIT_EXCEEDED beyond the quota.
 */
export async function createCollection(
  call: Call,
  input: CollectionInput,
  now: string,
  quota?: CollectionQuota,
): Promise<Collection> {
  const collection = newCollection(input, now);
  // Throws if keys need a code and there is none, before anything is written.
  call.db.keys.scope(collection);
  await put(call, collectionItem(call.db.keys, collection), collection, quota);
  return collection;
}

/** Collections by key, in the order of the keys; null for missing ones. */
export async function getCollections(
  call: Call,
  keys: readonly string[],
  options: BatchGetOptions = {},
): Promise<(Collection | null)[]> {
  // An invalid key has no key in the table either.
  const possible = keys.filter(isCollectionKey);
  const items = await batchGet(
    call,
    call.db.tables.entities,
    possible.map((key) => call.db.keys.collection(key)),
    options,
  );
  const found = new Map(possible.map((key, index) => [key, items[index]]));
  return keys.map((key) => {
    const item = found.get(key);
    return item === undefined ? null : (collectionFromItem(call.db.keys, item) ?? null);
  });
}

/** The number of collections with these keys, or beginnings of keys and `*`, of at most `most`; strongly consistent. */
export async function countCollections(call: Call, patterns: readonly string[], most: number): Promise<number> {
  const { keys } = call.db;
  const found = new Set<string>();
  for (const pattern of patterns) {
    const from = pattern.replace('*', '');
    // After all characters of keys.
    const bounds = from === '' ? {} : { from, to: pattern === from ? from : `${from}~` };
    const range = { index: 'entities', pk: keys.collectionsPartition, ...bounds, consistent: true } as const;
    for await (const items of queryResponses(call, range)) {
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
  call: Call,
  { first, after }: { readonly first: number; readonly after?: string | undefined },
): Promise<CollectionList> {
  const { keys } = call.db;
  const behind = after === undefined ? undefined : keys.collection(after).sk;
  // One more than requested shows whether there are more.
  const range = { index: 'entities', pk: keys.collectionsPartition, behind, limit: first + 1 } as const;
  const collections: Collection[] = [];
  for await (const items of queryResponses(call, range)) {
    collections.push(...items.flatMap((item) => collectionFromItem(call.db.keys, item) ?? []));
    if (collections.length > first) break;
  }
  return { collections: collections.slice(0, first), more: collections.length > first };
}

/** Changes to a collection; omitted fields keep their values. */
interface CollectionUpdate {
  readonly name?: string | null | undefined;
  readonly description?: string | null | undefined;
  readonly rankBy?: string | null | undefined;
}

/**
 * Updates a collection with one conditional write; `now` is RFC 3339 in UTC. Throws NOT_FOUND, BAD_USER_INPUT naming
 * the field, or CONFLICT with the current version if it is not the expected one.
 */
export async function updateCollection(
  call: Call,
  key: string,
  { name, description, rankBy }: CollectionUpdate,
  { now, expectedVersion }: { readonly now: string; readonly expectedVersion?: number | null | undefined },
): Promise<CollectionWrite> {
  if (name === null) throw badInput('name', name, 'non-empty text of Unicode characters, or omitted');
  const decide = (collection: Collection): Item => {
    checkVersion(`collection ${key}`, { version: collection.version }, expectedVersion);
    return {
      ...(name === undefined ? {} : { name: readText('name', name) }),
      description: (description === undefined ? collection.description : readDescription(description)) ?? undefined,
      rankBy: (rankBy === undefined ? collection.rankBy : readRankBy(rankBy)) ?? undefined,
      updatedAt: now,
    };
  };
  return changeCollection(call, key, decide);
}

/**
 * Deletes a collection with one conditional write: it is no longer visible, but its key and code remain taken until a
 * background job has emptied it. Returns the collection as it was. `now` is RFC 3339 in UTC. Throws NOT_FOUND.
 */
export function deleteCollection(call: Call, key: string, now: string): Promise<CollectionWrite> {
  return changeCollection(call, key, () => ({ [EMPTYING]: now }));
}

/** Yields all collections, response by response: those in use, or those deleted but not yet emptied. */
export async function* everyCollection(
  call: Call,
  state: 'in use' | 'emptying',
  { consistent = false }: BatchGetOptions = {},
): AsyncGenerator<readonly Collection[]> {
  const range = { index: 'entities', pk: call.db.keys.collectionsPartition, consistent } as const;
  for await (const items of queryResponses(call, range)) {
    const wanted = items.filter((item) => (item[EMPTYING] !== undefined) === (state === 'emptying'));
    yield wanted.flatMap((item) => anyCollectionFromItem(call.db.keys, item) ?? []);
  }
}

const EMPTYING_JOB = 'emptying';

/** The key of the job that empties a collection. */
export function emptyingJob({ keys }: Database, collection: Collection): Key {
  return keys.job(keys.scope(collection), EMPTYING_JOB);
}

/**
 * Removes the rest of an emptied collection in one transaction: its item, counters, code reservation and jobs. Its key
 * and code can then be used again. Changes nothing if the key meanwhile belongs to another collection.
 */
export async function releaseCollection(call: Call, collection: Collection): Promise<void> {
  const { keys, tables } = call.db;
  const { key, code, createdAt } = collection;
  const own = {
    TableName: tables.entities,
    Key: { ...keys.collection(key) },
    ConditionExpression: 'attribute_exists(#emptying) AND createdAt = :createdAt',
    ExpressionAttributeNames: { '#emptying': EMPTYING },
    ExpressionAttributeValues: { ':createdAt': createdAt },
  };
  const claims = keys.style === 'compact' && code !== null ? [keys.codeClaim(code)] : [];
  const counters = (['marker', 'zone'] as const).map((counted) => counterKey(call.db.keys, collection, counted));
  const jobs = [emptyingJob(call.db, collection), repartitionJob(call.db, collection)];
  const others = [...counters, ...jobs, ...claims].map((other) => ({
    TableName: tables.entities,
    Key: { ...other },
  }));
  try {
    const deletes = [own, ...others].map((Delete) => ({ Delete }));
    await send(call, 'transactWrite', { TransactItems: deletes });
  } catch (error) {
    if (!isFailure(error, 'TransactionCanceledException')) throw error;
    const item = await readCollectionItem(call, key);
    if (item?.[EMPTYING] !== undefined && item['createdAt'] === createdAt) throw error;
  }
}
