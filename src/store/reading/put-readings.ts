import { LRUCache } from 'lru-cache';

import type { MarkerDay } from '../../keys/derived-keyspace.js';
import type { Collection } from '../../model/collection.js';
import { dayOf, finalFrom } from '../../model/reading-summary.js';
import { DAY_MS, monthOf } from '../../model/reading.js';
import type { Call, Database, Item } from '../database.js';
import { putInBulk, type BulkOptions } from '../request/batches.js';
import { ensureMonthTable, monthTable } from '../table/month-tables.js';
import { describeTable } from '../table/tables.js';
import { openDays } from './kept-days.js';

interface MonthTable {
  readonly name: string;
  /** In milliseconds since 1970. */
  readonly created: number;
}

/** Tables of months that existed a moment ago, by client and name. */
const existing = new WeakMap<Database['client'], LRUCache<string, MonthTable>>();

/** The table of a month, which is created unless it existed a moment ago. */
async function tableOf(database: Database, month: string, now: number): Promise<MonthTable> {
  const { client, tables } = database;
  const known = existing.get(client) ?? new LRUCache<string, MonthTable>({ max: 1_000, ttl: 60_000 });
  existing.set(client, known);
  const name = monthTable(tables, month);
  const found = known.get(name);
  if (found !== undefined) return found;
  await ensureMonthTable(database, month, now);
  const { CreationDateTime } = (await describeTable(database, name)) ?? {};
  const table = { name, created: CreationDateTime?.getTime() ?? now };
  known.set(name, table);
  return table;
}

/** Older readings may be of a month whose table has no stream. Less than streams are followed, as clocks differ. */
const UNFOLLOWED_AFTER_MS = 28 * DAY_MS;
const isUnfollowed = (instant: string, now: number) => Date.parse(instant) < now - UNFOLLOWED_AFTER_MS;
/** Longer than it takes until the stream of a new table is followed. */
const FOLLOWED_WITHIN_MS = 120_000;
/** The session of a writer: each one of a consumer comes after it. */
const NO_SESSION = 0;

type DatedItem = readonly [item: Item, day: MarkerDay, instant: string];

/** Items with their days. */
function dated({ keys }: Database, items: readonly Item[]): DatedItem[] {
  return items.flatMap((item) => {
    const { scope, key, instant } = keys.parseReading({ pk: String(item['pk']), sk: String(item['sk']) }) ?? {};
    if (scope === undefined || key === undefined || instant === undefined) return [];
    return [[item, { scope, key, day: dayOf(instant) }, instant]];
  });
}

/** The days of selected readings, if they are to be summarized and not final. */
function daysOf(
  { readingsSummarized, readingsTtlDays }: Collection,
  items: readonly DatedItem[],
  now: number,
  isWanted: (instant: string) => boolean,
): MarkerDay[] {
  if (!readingsSummarized) return [];
  const days = new Map<string, MarkerDay>();
  for (const [, day, instant] of items) {
    if (finalFrom(day.day, readingsTtlDays) > now && isWanted(instant)) days.set(`${day.day} ${day.key}`, day);
  }
  return [...days.values()];
}

export interface PutOptions extends BulkOptions {
  /** Milliseconds since 1970. */
  readonly now: number;
}

/**
 * Puts items made by `newReadingItem`, replacing items with the same keys. Of several with one key the last one wins.
 * Missing tables of months are created. See `putInBulk` for retries.
 */
export async function putReadings(
  call: Call,
  collection: Collection,
  items: readonly Item[],
  options: PutOptions,
): Promise<void> {
  const { now } = options;
  if (collection.readingsTable === 'SHARED') {
    return putInBulk(call, call.db.tables.entities, items, options);
  }
  const months = new Map<string, DatedItem[]>();
  for (const each of dated(call.db, items)) {
    const month = monthOf(each[2]);
    const own = months.get(month);
    if (own === undefined) months.set(month, [each]);
    else own.push(each);
  }
  for (const [month, own] of months) {
    const table = await tableOf(call.db, month, now);
    const isYoung = table.created > now - FOLLOWED_WITHIN_MS;
    // Before the readings, as this process may stop at any time. The consumer waits until they must have been put.
    const unheard = daysOf(collection, own, now, (instant) => isYoung || isUnfollowed(instant, now));
    await openDays(call, unheard, NO_SESSION, { ...options, awaits: now });
    const readings = own.map(([item]) => item);
    await putInBulk(call, table.name, readings, options);
  }
}

/**
 * Opens the days of readings that have been put, so that summaries of all servers include them before the consumer hears
 * of them. The current day is always computed.
 */
export async function openPastDays(
  call: Call,
  collection: Collection,
  items: readonly Item[],
  options: PutOptions,
): Promise<void> {
  const { now } = options;
  if (!collection.readingsSummarized) return;
  const today = dayOf(new Date(now).toISOString());
  // Those of old months were opened before, for longer.
  const isHeard = (instant: string) => collection.readingsTable === 'SHARED' || !isUnfollowed(instant, now);
  const past = daysOf(collection, dated(call.db, items), now, (at) => dayOf(at) < today && isHeard(at));
  await openDays(call, past, NO_SESSION, options);
}
