import { CellportError } from '../../errors.js';
import { SELF } from '../../keys/declarations.js';
import type { Collection } from '../../model/collection.js';
import { areApart, expiredUpTo } from '../../model/reading.js';
import type { Call, Database, Item } from '../database.js';
import { removeSummaries } from '../reading/kept-days.js';
import { partitionsDown } from '../reading/reading-partitions.js';
import { deleteReadItems } from '../request/batches.js';
import { readItem } from '../request/conditional-write.js';
import type { StoredPartition } from '../request/ranges.js';
import { send } from '../request/send.js';
import { queryAll, queryResponses } from '../table/query-responses.js';

const KIND = 'readings';
/**
 * Maximum number of readings removed before the deletion of a marker is answered; the rest are removed in the
 * background.
 */
const AT_ONCE = 1_000;
/** Longer than any request that deletes a marker. */
const REQUEST_LASTS_MS = 600_000;

/**
 * The partitions that can hold readings of a marker: its own, and one per bucket or month that has not expired by `now`
 * (milliseconds since 1970). DynamoDB removes expired readings.
 */
export function readingPartitions(
  database: Database,
  collection: Collection,
  key: string,
  now: number,
): StoredPartition[] {
  const own = database.keys.marker(database.keys.scope(collection), key);
  const expired = expiredUpTo(collection.readingsTtlDays, now);
  if (!areApart(collection) || expired === undefined) return [{ pk: own.pk }];
  const from = new Date(expired).toISOString();
  const apart = partitionsDown(database, { collection, key }, from, undefined, now);
  return [{ pk: own.pk }, ...apart.map(({ range: { table, pk } }) => ({ table, pk }))];
}

/** The reminder, written before a marker is deleted, to remove its readings. */
function reminderOf({ keys }: Database, collection: Collection, marker: Item, now: string): Item {
  const { pk, sk, life } = marker;
  const { key = '' } = keys.parseMarker({ pk: String(pk), sk: String(sk) }) ?? {};
  return { ...keys.job(keys.scope(collection), KIND, key), key, life, at: now };
}

/** Writes a reminder to remove the readings of a marker that is about to be deleted; returns the reminder. */
export async function remember(call: Call, collection: Collection, marker: Item, now: string): Promise<Item> {
  const reminder = reminderOf(call.db, collection, marker, now);
  await send(call, 'put', { TableName: call.db.tables.entities, Item: { ...reminder } });
  return reminder;
}

/**
 * Deletes readings of one incarnation of a marker from one partition, at most `most` (Infinity for all); returns how
 * many it found, undefined if there may be more. Readings of other incarnations stay. May be repeated.
 */
async function removeFrom(
  call: Call,
  { table, pk }: StoredPartition,
  incarnation: unknown,
  most: number,
): Promise<number | undefined> {
  const attributes = ['pk', 'sk', 'of'];
  const range = { index: 'entities', table, pk, limit: Math.min(most, AT_ONCE), attributes } as const;
  let found = 0;
  for await (const items of queryResponses(call, range)) {
    const readings = items.filter(({ sk }) => sk !== SELF);
    const own = readings.filter(({ of }) => of === incarnation || of === undefined);
    await deleteReadItems(call, own, table);
    found += readings.length;
    if (found >= most) return undefined;
  }
  return found;
}

/** Deletes at most `most` readings of a reminder's marker; returns whether none are left. */
async function removeReadings(
  call: Call,
  collection: Collection,
  { key, life, at }: Item,
  most: number,
): Promise<boolean> {
  let left = most;
  for (const partition of readingPartitions(call.db, collection, String(key), Date.parse(String(at)))) {
    const found = await removeFrom(call, partition, life, left);
    if (found === undefined) return false;
    left -= found;
  }
  await removeSummaries(call, collection, String(key), life);
  return true;
}

/**
 * Removes the readings of a reminder's marker, and the reminder when none are left. Whatever takes too long or fails is
 * left to the background: the marker has been deleted, so its readings are no longer visible.
 */
export async function removeReadingsNow(call: Call, collection: Collection, reminder: Item): Promise<void> {
  try {
    const none = await removeReadings(call, collection, reminder, AT_ONCE);
    if (none) await deleteReadItems(call, [reminder]);
  } catch (error) {
    if (!(error instanceof CellportError)) throw error;
  }
}

/** Removes a reminder whose marker was not deleted after all. */
export async function forget(call: Call, reminder: Item): Promise<void> {
  await deleteReadItems(call, [reminder]);
}

/**
 * Removes readings of deleted markers that were left behind, for example by processes that died. `now` is in
 * milliseconds since 1970: reminders that a request may still be using are skipped; with Infinity, none are.
 */
export async function removeLeftReadings(call: Call, collection: Collection, now: number): Promise<void> {
  const { keys } = call.db;
  const range = { index: 'entities', ...keys.jobs(keys.scope(collection), KIND) } as const;
  for (const reminder of await queryAll(call, range)) {
    if (now - Date.parse(String(reminder['at'])) < REQUEST_LASTS_MS) continue;
    const marker = await readItem(call, keys.marker(keys.scope(collection), String(reminder['key'])));
    // A marker of this incarnation that still exists was not deleted, and keeps its readings.
    if (marker === undefined || marker['life'] !== reminder['life']) {
      await removeReadings(call, collection, reminder, Infinity);
    }
    await deleteReadItems(call, [reminder]);
  }
}
