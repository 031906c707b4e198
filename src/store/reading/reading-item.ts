import { badInput } from '../../errors.js';
import type { Keyspace } from '../../keys/keyspace.js';
import type { Collection } from '../../model/collection.js';
import { isInstant } from '../../model/instant.js';
import type { Reading } from '../../model/reading.js';
import { bucketOf, expiredUpTo, latestInstant, removableFrom } from '../../model/reading.js';
import type { Item } from '../database.js';
import { MAX_ITEM_BYTES, itemBytes } from '../request/item-size.js';
import { checkName, checkNumber, checkText } from '../marker/properties.js';

/** The marker that a reading is of. */
export interface ReadingOwner {
  readonly collection: Collection;
  readonly key: string;
  /** The marker's own: one that is made again under the same key has another one, and inherits no readings. */
  readonly life: string;
}

/** The values of a reading from a client. Throws BAD_USER_INPUT naming the one that is neither a number nor a text. */
export function readValues(field: string, values: unknown): Reading['values'] {
  if (typeof values !== 'object' || values === null || Array.isArray(values)) {
    throw badInput(field, values, 'a JSON object of numbers and texts');
  }
  for (const [name, value] of Object.entries(values)) {
    checkName(field, name);
    const path = `${field}.${name}`;
    if (typeof value === 'number') checkNumber(path, value);
    else if (typeof value === 'string') checkText(path, value);
    else if (typeof value === 'bigint') throw badInput(path, value, 'an integer of at most 53 bits, or a text');
    else throw badInput(path, value, 'a number or a text');
  }
  return values as Reading['values'];
}

/**
 * The item of a reading, ready to be put; undefined where it has expired at `now` (milliseconds since 1970). Throws
 * BAD_USER_INPUT naming what is wrong, with `field` before it: an instant too far ahead, or over 400 KB.
 */
export function newReadingItem(
  { keys }: { readonly keys: Keyspace },
  { collection, key, life }: ReadingOwner,
  { at, values }: Reading,
  now: number,
  field = '',
): Item | undefined {
  const { readingsTtlDays: ttlDays, readingsBucket } = collection;
  const time = Date.parse(at);
  if (time <= (expiredUpTo(ttlDays, now) ?? -Infinity)) return undefined;
  // Nobody would look for it there.
  const latest = latestInstant(readingsBucket, now);
  if (time > latest) throw badInput(`${field}at`, at, `no later than ${new Date(latest).toISOString()}`);
  const item: Item = {
    ...keys.reading({ scope: keys.scope(collection), key, bucket: bucketOf(readingsBucket, at) }, at),
    values,
    of: life === '' ? undefined : life,
    ttl: ttlDays === null ? undefined : removableFrom(ttlDays, time),
  };
  const bytes = itemBytes(item);
  if (bytes <= MAX_ITEM_BYTES) return item;
  throw badInput(`${field}values`, `${bytes} bytes`, `under ${MAX_ITEM_BYTES} bytes with its key`);
}

/** A number that JSON cannot hold, which only others write, as a text with all its digits. */
const shown = (value: unknown): unknown => (typeof value === 'bigint' ? String(value) : value);

/**
 * A reading from its item; undefined where it is to be shown no more (`now` is in milliseconds since 1970), where it
 * belongs to a former marker of the same key, and where it cannot be understood. `life` is the marker's. An item
 * without `of` was written by others, and is shown.
 */
export function readingFromItem(keys: Keyspace, item: Item, life: string, now: number): Reading | undefined {
  const { pk, sk, values, of, ttl } = item;
  if (typeof pk !== 'string' || typeof sk !== 'string') return undefined;
  const at = keys.parseReading({ pk, sk })?.instant;
  if (at === undefined || !isInstant(at)) return undefined;
  if (typeof values !== 'object' || values === null || Array.isArray(values)) return undefined;
  if (of !== undefined && of !== life) return undefined;
  // DynamoDB removes expired items late, by up to some days.
  if (typeof ttl === 'number' && ttl * 1000 <= now) return undefined;
  return { at, values: Object.fromEntries(Object.entries(values).map(([name, value]) => [name, shown(value)])) };
}
