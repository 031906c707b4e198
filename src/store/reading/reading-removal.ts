import { CellportError } from '../../errors.js';
import { SELF } from '../../keys/declarations.js';
import type { Collection } from '../../model/collection.js';
import { bucketsDown, expiredUpTo, latestInstant } from '../../model/reading.js';
import { readItem } from '../request/conditional-change.js';
import { deleteInBulk } from '../request/conditional-delete.js';
import type { Database, Item } from '../database.js';
import type { Call } from '../request/meter.js';
import { queryAll, queryPages } from '../request/query-pages.js';
import { rangeRequest } from '../request/ranges.js';
import { send } from '../request/send.js';

const KIND = 'readings';
/** So many readings are removed before a deletion is answered; the rest is left to the background. */
const AT_ONCE = 1_000;
/** No request that deletes a marker lasts as long. */
const REQUEST_LASTS_MS = 600_000;

/**
 * The partitions that readings of a marker can stand in: its own, and one for each bucket that has not expired. What has
 * expired DynamoDB removes by itself. `now` is in milliseconds since 1970.
 */
export function readingPartitions({ keys }: Database, collection: Collection, key: string, now: number): string[] {
  const { readingsBucket: bucket, readingsTtlDays } = collection;
  const scope = keys.scope(collection);
  const from = expiredUpTo(readingsTtlDays, now);
  const buckets = bucket === 'NONE' || from === undefined ? [] : bucketsDown(bucket, from, latestInstant(bucket, now));
  return [undefined, ...buckets].map((one) => keys.readingRange({ scope, key, bucket: one }, undefined, undefined).pk);
}

/** What remembers, from before a marker is deleted, that its readings are to be removed. */
function reminderOf({ keys }: Database, collection: Collection, marker: Item, now: string): Item {
  const { pk, sk, life } = marker;
  const { key = '' } = keys.parseMarker({ pk: String(pk), sk: String(sk) }) ?? {};
  return { ...keys.job(keys.scope(collection), KIND, key), key, life, at: now };
}

/** Leaves word that the readings of a marker, which is about to be deleted, are to be removed; gives it. */
export async function remember(
  database: Database,
  collection: Collection,
  marker: Item,
  now: string,
  call: Call,
): Promise<Item> {
  const reminder = reminderOf(database, collection, marker, now);
  await send(database, 'put', { TableName: database.tables.entities, Item: { ...reminder } }, call);
  return reminder;
}

/**
 * Deletes readings of one life of a marker from one partition, at most so many (Infinity for all); gives how many it
 * found, undefined where that may not be all. Those of a marker that was made again under the same key have another
 * life, and stay. May be repeated.
 */
async function removeFrom(
  database: Database,
  pk: string,
  life: unknown,
  most: number,
  call: Call,
): Promise<number | undefined> {
  const attributes = ['pk', 'sk', 'of'];
  const request = rangeRequest(database, { index: 'entities', pk, limit: Math.min(most, AT_ONCE), attributes });
  let found = 0;
  for await (const items of queryPages(database, request, call)) {
    const readings = items.filter(({ sk }) => sk !== SELF);
    const own = readings.filter(({ of }) => of === life || of === undefined);
    await deleteInBulk(database, own, call);
    found += readings.length;
    if (found >= most) return undefined;
  }
  return found;
}

/** Deletes the readings that a reminder is about, at most so many; gives whether none is left. */
async function removeReadings(
  database: Database,
  collection: Collection,
  { key, life, at }: Item,
  most: number,
  call: Call,
): Promise<boolean> {
  let left = most;
  for (const pk of readingPartitions(database, collection, String(key), Date.parse(String(at)))) {
    const found = await removeFrom(database, pk, life, left, call);
    if (found === undefined) return false;
    left -= found;
  }
  return true;
}

/**
 * Removes the readings that a reminder is about, and the reminder when none is left. What takes too long, or fails for
 * now, is left to the background: the marker is gone already, and nobody sees them.
 */
export async function removeReadingsNow(
  database: Database,
  collection: Collection,
  reminder: Item,
  call: Call,
): Promise<void> {
  try {
    const none = await removeReadings(database, collection, reminder, AT_ONCE, call);
    if (none) await deleteInBulk(database, [reminder], call);
  } catch (error) {
    if (!(error instanceof CellportError)) throw error;
  }
}

/** Takes a reminder back, as its marker was not deleted after all. */
export async function forget(database: Database, reminder: Item, call: Call): Promise<void> {
  await deleteInBulk(database, [reminder], call);
}

/**
 * Removes what processes that ended too early have left of the readings of deleted markers of a collection. `now`, in
 * milliseconds since 1970, leaves alone what a request may still be about; Infinity nothing.
 */
export async function removeLeftReadings(
  database: Database,
  collection: Collection,
  now: number,
  call: Call,
): Promise<void> {
  const { keys } = database;
  const request = rangeRequest(database, { index: 'entities', ...keys.jobs(keys.scope(collection), KIND) });
  for (const reminder of await queryAll(database, request, call)) {
    if (now - Date.parse(String(reminder['at'])) < REQUEST_LASTS_MS) continue;
    const marker = await readItem(database, keys.marker(keys.scope(collection), String(reminder['key'])), call);
    // A marker of this life that is still there was not deleted, and keeps its readings.
    if (marker === undefined || marker['life'] !== reminder['life']) {
      await removeReadings(database, collection, reminder, Infinity, call);
    }
    await deleteInBulk(database, [reminder], call);
  }
}
