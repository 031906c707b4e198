import { badInput } from '../../errors.js';
import type { Key } from '../../keys/document-id.js';
import type { Collection } from '../../model/collection.js';
import type { Database, Item } from '../database.js';
import { counterKey } from '../marker/marker-keys.js';
import type { BatchGetOptions } from '../request/batch-get.js';
import { checkVersion } from '../request/conditional-change.js';
import { isFailure } from '../request/failures.js';
import type { Call } from '../request/meter.js';
import { rangeRequest } from '../request/ranges.js';
import { send } from '../request/send.js';
import { queryResponses } from '../table/query-responses.js';
import { changeCollection, readCollectionItem, type CollectionWrite } from './change-collection.js';
import { anyCollectionFromItem, EMPTYING, readDescription, readRankBy, readText } from './collection-item.js';
import { repartitionJob } from './layout-change.js';

/** Changes to a collection; omitted fields keep their values. */
export interface CollectionUpdate {
  readonly name?: string | null | undefined;
  readonly description?: string | null | undefined;
  readonly rankBy?: string | null | undefined;
}

/**
 * Updates a collection with one conditional write; `now` is RFC 3339 in UTC. Throws NOT_FOUND, BAD_USER_INPUT naming
 * the field, or CONFLICT with the current version if it is not the expected one.
 */
export async function updateCollection(
  database: Database,
  key: string,
  { name, description, rankBy }: CollectionUpdate,
  { now, expectedVersion }: { readonly now: string; readonly expectedVersion?: number | null | undefined },
  call: Call,
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
  return changeCollection(database, key, decide, call);
}

/**
 * Deletes a collection with one conditional write: it is no longer visible, but its key and code remain taken until a
 * background job has emptied it. Returns the collection as it was. `now` is RFC 3339 in UTC. Throws NOT_FOUND.
 */
export function deleteCollection(database: Database, key: string, now: string, call: Call): Promise<CollectionWrite> {
  return changeCollection(database, key, () => ({ [EMPTYING]: now }), call);
}

/** Yields all collections, response by response: those in use, or those deleted but not yet emptied. */
export async function* everyCollection(
  database: Database,
  state: 'in use' | 'emptying',
  call: Call,
  { consistent = false }: BatchGetOptions = {},
): AsyncGenerator<readonly Collection[]> {
  const request = rangeRequest(database, { index: 'entities', pk: database.keys.collectionsPartition, consistent });
  for await (const items of queryResponses(database, request, call)) {
    const wanted = items.filter((item) => (item[EMPTYING] !== undefined) === (state === 'emptying'));
    yield wanted.flatMap((item) => anyCollectionFromItem(database.keys, item) ?? []);
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
export async function releaseCollection(database: Database, collection: Collection, call: Call): Promise<void> {
  const { keys, tables } = database;
  const { key, code, createdAt } = collection;
  const own = {
    TableName: tables.entities,
    Key: { ...keys.collection(key) },
    ConditionExpression: 'attribute_exists(#emptying) AND createdAt = :createdAt',
    ExpressionAttributeNames: { '#emptying': EMPTYING },
    ExpressionAttributeValues: { ':createdAt': createdAt },
  };
  const claims = keys.style === 'compact' && code !== null ? [keys.codeClaim(code)] : [];
  const counters = (['marker', 'zone'] as const).map((counted) => counterKey(database.keys, collection, counted));
  const jobs = [emptyingJob(database, collection), repartitionJob(database, collection)];
  const others = [...counters, ...jobs, ...claims].map((other) => ({
    TableName: tables.entities,
    Key: { ...other },
  }));
  try {
    const deletes = [own, ...others].map((Delete) => ({ Delete }));
    await send(database, 'transactWrite', { TransactItems: deletes }, call);
  } catch (error) {
    if (!isFailure(error, 'TransactionCanceledException')) throw error;
    const item = await readCollectionItem(database, key, call);
    if (item?.[EMPTYING] !== undefined && item['createdAt'] === createdAt) throw error;
  }
}
