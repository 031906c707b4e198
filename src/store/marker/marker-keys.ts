import { v7 as uuidv7, validate as isUuid } from 'uuid';

import { badInput } from '../../errors.js';
import type { Collection } from '../../model/collection.js';
import type { Database } from '../database.js';
import { isFailure } from '../request/failures.js';
import type { Call } from '../request/meter.js';
import { send } from '../request/send.js';

/** What counters of a collection count. */
export type Counted = 'marker' | 'zone';

/** A UUID of version 7: the time in milliseconds, then chance. */
export function newUuid(): string {
  return uuidv7();
}

/** The item that holds a collection's counter. */
export function counterKey({ keys }: Pick<Database, 'keys'>, collection: Collection, counted: Counted) {
  return keys.counter(keys.scope(collection), counted);
}

/** Throws BAD_USER_INPUT where a client names what a collection names itself. */
export function checkKeyGiven({ idStrategy }: Collection, key: unknown): void {
  if (idStrategy === 'GIVEN' || key === undefined || key === null) return;
  throw badInput('key', key, 'left out: this collection names what is in it itself');
}

/**
 * Keys for so many new markers or zones of a collection that names them itself. SEQUENCE takes the next numbers by one
 * atomic write, so that no two callers ever get the same; numbers of what is not made after all are left out for good.
 */
export async function takeKeys(
  database: Database,
  collection: Collection,
  count: number,
  call: Call,
  counted: Counted = 'marker',
): Promise<readonly string[]> {
  if (collection.idStrategy === 'UUID') return Array.from({ length: count }, newUuid);
  if (count === 0) return [];
  const { Attributes } = await send(
    database,
    'update',
    {
      TableName: database.tables.entities,
      Key: { ...counterKey(database, collection, counted) },
      UpdateExpression: 'ADD #n :count',
      ExpressionAttributeNames: { '#n': 'n' },
      ExpressionAttributeValues: { ':count': count },
      ReturnValues: 'UPDATED_NEW',
    },
    call,
  );
  const last = Number(Attributes?.['n']);
  return Array.from({ length: count }, (_, index) => String(last - count + 1 + index));
}

const WHOLE_NUMBER = /^[1-9]\d{0,14}$/;

/**
 * Throws BAD_USER_INPUT where what is brought along with its key, from a file, has one that the collection
 * would not have given: a number from 1 in digits for SEQUENCE, a UUID in lower case for UUID.
 */
export function checkImportedKey({ idStrategy }: Collection, key: string): void {
  if (idStrategy === 'SEQUENCE' && !WHOLE_NUMBER.test(key)) {
    throw badInput('key', key, 'a number from 1 to 999999999999999: the collection counts what is in it');
  }
  if (idStrategy === 'UUID' && !(isUuid(key) && key === key.toLowerCase())) {
    throw badInput('key', key, 'a UUID in lower case: the collection names what is in it so');
  }
}

/** Lets the counter of a SEQUENCE go on behind a number, if it is not there yet. */
export async function countFrom(
  database: Database,
  collection: Collection,
  number: number,
  call: Call,
  counted: Counted = 'marker',
): Promise<void> {
  try {
    await send(
      database,
      'update',
      {
        TableName: database.tables.entities,
        Key: { ...counterKey(database, collection, counted) },
        UpdateExpression: 'SET #n = :number',
        ConditionExpression: 'attribute_not_exists(#n) OR #n < :number',
        ExpressionAttributeNames: { '#n': 'n' },
        ExpressionAttributeValues: { ':number': number },
      },
      call,
    );
  } catch (error) {
    if (!isFailure(error, 'ConditionalCheckFailedException')) throw error;
  }
}

/** A UUID as it is stored; undefined for a text that is none. */
export function readUuid(text: string): string | undefined {
  return isUuid(text) ? text.toLowerCase() : undefined;
}
