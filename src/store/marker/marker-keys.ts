import { randomBytes } from 'node:crypto';
import { validate as isUuid, v7 as uuidv7 } from 'uuid';

import { badInput } from '../../errors.js';
import type { Keyspace } from '../../keys/keyspace.js';
import type { Collection } from '../../model/collection.js';
import type { Call } from '../database.js';
import { holds } from '../request/failures.js';
import { send } from '../request/send.js';

/** The kinds of object that a collection numbers. */
export type Counted = 'marker' | 'zone';

/** A version 7 UUID: the time in milliseconds, then random bits. */
export function newUuid(): string {
  return uuidv7();
}

/** Has the length of the longest key that a collection generates: a UUID. */
export const LONGEST_OWN_KEY = 'x'.repeat(36);

/** A value that distinguishes successive items with the same key. */
export function newIncarnation(): string {
  return randomBytes(6).toString('base64url');
}

/** The key of the item that holds a counter of a collection. */
export function counterKey(keys: Keyspace, collection: Collection, counted: Counted) {
  return keys.counter(keys.scope(collection), counted);
}

/** Throws BAD_USER_INPUT if a client supplies a key to a collection that generates its keys. */
export function checkKeyGiven({ idStrategy }: Collection, key: unknown): void {
  if (idStrategy === 'GIVEN' || key === undefined || key === null) return;
  throw badInput('key', key, 'omitted: this collection generates its keys');
}

/**
 * Keys for `count` new markers or zones of a collection that generates its keys. SEQUENCE takes the next numbers with
 * one atomic write, so that no two callers ever get the same; unused numbers are never issued again.
 */
export async function takeKeys(
  call: Call,
  collection: Collection,
  count: number,
  counted: Counted = 'marker',
): Promise<readonly string[]> {
  if (collection.idStrategy === 'UUID') return Array.from({ length: count }, newUuid);
  if (count === 0) return [];
  const { Attributes } = await send(call, 'update', {
    TableName: call.db.tables.entities,
    Key: { ...counterKey(call.db.keys, collection, counted) },
    UpdateExpression: 'ADD #n :count',
    ExpressionAttributeNames: { '#n': 'n' },
    ExpressionAttributeValues: { ':count': count },
    ReturnValues: 'UPDATED_NEW',
  });
  const last = Number(Attributes?.['n']);
  return Array.from({ length: count }, (_, index) => String(last - count + 1 + index));
}

const WHOLE_NUMBER = /^[1-9]\d{0,14}$/;

/**
 * Throws BAD_USER_INPUT for an imported key that the collection would not generate: integers from 1 for SEQUENCE,
 * lower-case UUIDs for UUID.
 */
export function checkImportedKey({ idStrategy }: Collection, key: string): void {
  if (idStrategy === 'SEQUENCE' && !WHOLE_NUMBER.test(key)) {
    throw badInput('key', key, 'a number from 1 to 999999999999999, because the collection numbers its keys');
  }
  if (idStrategy === 'UUID' && !(isUuid(key) && key === key.toLowerCase())) {
    throw badInput('key', key, 'a UUID in lower case, because the collection generates UUIDs as keys');
  }
}

/** Raises the counter of a SEQUENCE to a number if it is lower. */
export async function countFrom(
  call: Call,
  collection: Collection,
  number: number,
  counted: Counted = 'marker',
): Promise<void> {
  const raise = {
    TableName: call.db.tables.entities,
    Key: { ...counterKey(call.db.keys, collection, counted) },
    UpdateExpression: 'SET #n = :number',
    ConditionExpression: 'attribute_not_exists(#n) OR #n < :number',
    ExpressionAttributeNames: { '#n': 'n' },
    ExpressionAttributeValues: { ':number': number },
  };
  await holds(send(call, 'update', raise));
}

/** A UUID in stored form; undefined if the text is not a UUID. */
export function readUuid(text: string): string | undefined {
  return isUuid(text) ? text.toLowerCase() : undefined;
}
