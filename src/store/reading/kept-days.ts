import { randomUUID } from 'node:crypto';
import { deflateRawSync, inflateRawSync } from 'node:zlib';

import type { MarkerDay } from '../../keys/derived-keyspace.js';
import type { Key } from '../../keys/document-id.js';
import type { Collection } from '../../model/collection.js';
import { DayFold, formatDay } from '../../model/reading-summary.js';
import type { Call, Item } from '../database.js';
import { getMarkers } from '../marker/markers.js';
import { batchGet, deleteInBulk, putInBulk, type BulkOptions } from '../request/batches.js';
import { holds } from '../request/failures.js';
import { itemBytes, MAX_ITEM_BYTES } from '../request/item-size.js';
import { send } from '../request/send.js';
import { queryResponses } from '../table/query-responses.js';
import { readingFromItem } from './reading-item.js';
import { partitionsDown } from './reading-partitions.js';

// A day's item is open (`open`) from its first reading until it is over, and again after each later one: then its
// summaries are computed from the readings. Once closed, it has the summaries (`d`) and the incarnation of the marker
// that they belong to (`of`). `v` changes with every write, and `e` is the session of the consumer that wrote it.

/** A day that must be summarized once it is over, as it was listed. */
export interface DueDay extends MarkerDay {
  readonly token: string;
}

/** An open day as it was read. */
export interface OpenDay {
  readonly version: string;
  readonly epoch: number;
  /** When it was opened by a writer whose readings may still be on their way, in milliseconds since 1970. */
  readonly awaits?: number | undefined;
}

export interface OpeningOptions extends BulkOptions {
  /** See `OpenDay`. */
  readonly awaits?: number | undefined;
}

export interface StoredDay extends OpenDay {
  /** Undefined while it is open. */
  readonly kept: KeptDay | undefined;
}

/** The summaries of a day. */
export interface KeptDay {
  readonly incarnation: string;
  /** See `formatDay`. */
  readonly text: string;
}

const token = () => randomUUID().slice(0, 8);

/**
 * Opens days whose readings have changed, and lists them as due: in this order, so that whatever is listed is open. May be
 * repeated.
 */
export async function openDays(
  call: Call,
  days: readonly MarkerDay[],
  epoch: number,
  options: OpeningOptions = {},
): Promise<void> {
  const { awaits } = options;
  const { keys, tables } = call.db;
  const open = days.map((day) => ({ ...keys.daySummary(day), open: true, v: token(), e: epoch, awaits }));
  await putInBulk(call, tables.derived, open, options);
  const due = days.map((day) => ({ ...keys.dueDay(day), t: token() }));
  await putInBulk(call, tables.derived, due, options);
}

/** The days of a collection, up to one, that must be summarized. */
export async function* listDueDays(call: Call, scope: string, upTo: string): AsyncGenerator<readonly DueDay[]> {
  for (const range of call.db.keys.dueDayRanges(scope, upTo)) {
    for await (const items of queryResponses(call, { index: 'derived', ...range })) {
      yield items.flatMap(({ pk, sk, t }) => {
        const day = call.db.keys.parseDueDay({ pk: String(pk), sk: String(sk) });
        return day ? [{ ...day, token: String(t) }] : [];
      });
    }
  }
}

/** The summaries in the item of a day; undefined while it is open. */
export function keptIn({ d, of }: Item): KeptDay | undefined {
  return d instanceof Uint8Array ? { text: inflateRawSync(d).toString(), incarnation: String(of) } : undefined;
}

/** Summaries as they are stored: compressed, they take half of the units. */
export const storedText = (text: string): Uint8Array => deflateRawSync(text);

/** Days as they are stored, strongly consistent, in order; undefined for those that are not. */
export async function readDays(call: Call, days: readonly MarkerDay[]): Promise<readonly (StoredDay | undefined)[]> {
  const { keys, tables } = call.db;
  const names = days.map((day) => keys.daySummary(day));
  const items = await batchGet(call, tables.derived, names, { consistent: true });
  return items.map((item) => {
    if (item === undefined) return undefined;
    const awaits = typeof item['awaits'] === 'number' ? item['awaits'] : undefined;
    return { version: String(item['v']), epoch: Number(item['e']), awaits, kept: keptIn(item) };
  });
}

const unchanged = ({ version, epoch }: OpenDay) => ({
  ConditionExpression: 'v = :v AND e = :e',
  ExpressionAttributeValues: { ':v': version, ':e': epoch },
});

/** Takes an open day over from an earlier session; undefined if it has changed. */
export async function claimDay(call: Call, day: MarkerDay, seen: OpenDay, epoch: number): Promise<OpenDay | undefined> {
  const { keys, tables } = call.db;
  const next = { version: token(), epoch };
  const item = { ...keys.daySummary(day), open: true, v: next.version, e: epoch };
  const put = { TableName: tables.derived, Item: item, ...unchanged(seen) };
  return (await holds(send(call, 'put', put))) ? next : undefined;
}

/**
 * Computes the summaries of a day from the readings of the marker, strongly consistent; undefined if it has none.
 */
export async function summarizeDay(
  call: Call,
  collection: Collection,
  { key, day }: MarkerDay,
  now: number,
): Promise<KeptDay | undefined> {
  const reference = { collection, key };
  const [marker] = await getMarkers(call, [reference], { consistent: true });
  // Readings that another program wrote before their marker: its incarnation will be another, and have them computed.
  const incarnation = marker?.incarnation ?? '';
  const fold = new DayFold();
  const partitions = partitionsDown(call.db, reference, `${day}T00:00:00.000Z`, `${day}T23:59:59.999Z`, now);
  for (const { range } of partitions.toReversed()) {
    for await (const items of queryResponses(call, { ...range, consistent: true })) {
      for (const item of items) {
        const reading = readingFromItem(call.db.keys, item, incarnation, now);
        if (reading !== undefined) fold.add(reading);
      }
      await call.db.scheduler.takeTurn(call.signal);
    }
  }
  const summaries = fold.summaries();
  return summaries.size === 0 ? undefined : { incarnation, text: formatDay(summaries) };
}

/**
 * Replaces an open day by its summaries, or deletes it if there are none; returns false, having changed nothing, if it has
 * changed since it was read. A day whose summaries are too large for an item stays open.
 */
export async function closeDay(call: Call, day: MarkerDay, seen: OpenDay, kept: KeptDay | undefined): Promise<boolean> {
  const { keys, tables } = call.db;
  const Key = keys.daySummary(day);
  if (kept === undefined) {
    const deletion = { TableName: tables.derived, Key, ...unchanged(seen) };
    return holds(send(call, 'delete', deletion));
  }
  const item: Item = { ...Key, d: storedText(kept.text), of: kept.incarnation, v: token(), e: seen.epoch };
  if (itemBytes(item) > MAX_ITEM_BYTES) return true;
  return holds(send(call, 'put', { TableName: tables.derived, Item: { ...item }, ...unchanged(seen) }));
}

/** Removes a day from the list of those that are due, unless it was listed again. */
export async function forgetDueDay(call: Call, due: DueDay): Promise<void> {
  const { keys, tables } = call.db;
  const condition = { ConditionExpression: 't = :t', ExpressionAttributeValues: { ':t': due.token } };
  await holds(send(call, 'delete', { TableName: tables.derived, Key: keys.dueDay(due), ...condition }));
}

/** Deletes days, open or not. */
export function removeDays(call: Call, days: readonly MarkerDay[]): Promise<void> {
  const { keys, tables } = call.db;
  const names = days.map((day) => keys.daySummary(day));
  return deleteInBulk(call, tables.derived, names);
}

/**
 * Deletes the summaries of one incarnation of a deleted marker, or all. Open days of one incarnation stay: they are empty
 * when they are closed.
 */
export async function removeSummaries(
  call: Call,
  collection: Collection,
  key: string,
  incarnation: unknown,
): Promise<void> {
  if (!collection.readingsSummarized) return;
  const { keys, tables } = call.db;
  const range = keys.daySummaryRange(keys.scope(collection), key, '0', '9:');
  for await (const items of queryResponses(call, { index: 'derived', ...range, attributes: ['pk', 'sk', 'of'] })) {
    const own = incarnation === 'all' ? items : items.filter(({ of }) => of === (incarnation ?? ''));
    await deleteInBulk(call, tables.derived, own as unknown as readonly Key[]);
  }
}
