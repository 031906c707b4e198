import { badInput } from '../../errors.js';
import type { Keyspace } from '../../keys/keyspace.js';
import type { Collection } from '../../model/collection.js';
import { isInstant } from '../../model/instant.js';
import { bucketOf, expiredUpTo, latestInstant, removableFrom, type Reading } from '../../model/reading.js';
import type { Item } from '../database.js';
import { checkName, checkNumber, checkText, pathTo } from '../marker/properties.js';
import { checkItemSize } from '../request/item-size.js';

/** The marker that a reading belongs to. */
export interface ReadingOwner {
  readonly collection: Collection;
  readonly key: string;
  /** Incarnation of the marker: one created again under the same key has another, and inherits no readings. */
  readonly incarnation: string;
}

/** Validates a client's values. Throws BAD_USER_INPUT naming the one that is neither a number nor text. */
export function readValues(field: string, values: unknown): Reading['values'] {
  if (typeof values !== 'object' || values === null || Array.isArray(values)) {
    throw badInput(field, values, 'a JSON object of numbers and text values');
  }
  for (const [name, value] of Object.entries(values)) {
    checkName(field, name);
    const path = pathTo(field, name);
    if (typeof value === 'number') checkNumber(path, value);
    else if (typeof value === 'string') checkText(path, value);
    else if (typeof value === 'bigint') throw badInput(path, value, 'an integer of at most 53 bits, or text');
    else throw badInput(path, value, 'a number or text');
  }
  return values as Reading['values'];
}

/**
 * The item of a reading, ready to be put; undefined if it has expired by `now` (milliseconds since 1970). Throws
 * BAD_USER_INPUT, with its field prefixed by `field`, for an instant too far in the future or more than 400 KB.
 */
export function newReadingItem(
  { keys }: { readonly keys: Keyspace },
  { collection, key, incarnation }: ReadingOwner,
  { at, values }: Reading,
  now: number,
  field = '',
): Item | undefined {
  const { readingsTtlDays: ttlDays, readingsBucket } = collection;
  const time = Date.parse(at);
  if (time <= (expiredUpTo(ttlDays, now) ?? -Infinity)) return undefined;
  // Queries would not search that bucket.
  const latest = latestInstant(collection, now);
  if (time > latest) throw badInput(`${field}at`, at, `no later than ${new Date(latest).toISOString()}`);
  const item: Item = {
    ...keys.reading({ scope: keys.scope(collection), key, bucket: bucketOf(readingsBucket, at) }, at),
    values,
    of: incarnation === '' ? undefined : incarnation,
    ttl: ttlDays === null ? undefined : removableFrom(ttlDays, time),
  };
  checkItemSize(item, 'reading', `${field}values`);
  return item;
}

/** The values of a reading, with integers that JSON cannot represent, which only other programs write, as text. */
export const shownValues = (values: object): Reading['values'] =>
  Object.fromEntries(
    Object.entries(values).map(([name, value]) => [name, typeof value === 'bigint' ? String(value) : value]),
  );

/**
 * A reading from its item; undefined if it has expired by `now` (milliseconds since 1970), belongs to another
 * incarnation of the marker than `incarnation`, or is invalid. An item without `of` was written by another program, and
 * is shown.
 */
export function readingFromItem(keys: Keyspace, item: Item, incarnation: string, now: number): Reading | undefined {
  const { pk, sk, values, of, ttl } = item;
  if (typeof pk !== 'string' || typeof sk !== 'string') return undefined;
  const at = keys.parseReading({ pk, sk })?.instant;
  if (at === undefined || !isInstant(at)) return undefined;
  if (typeof values !== 'object' || values === null || Array.isArray(values)) return undefined;
  if (of !== undefined && of !== incarnation) return undefined;
  // DynamoDB removes expired items up to some days late.
  if (typeof ttl === 'number' && ttl * 1000 <= now) return undefined;
  return { at, values: shownValues(values) };
}
