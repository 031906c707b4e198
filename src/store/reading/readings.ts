import { badInput, limitExceeded, notFound } from '../../errors.js';
import { markerId } from '../../keys/ids.js';
import type { Collection } from '../../model/collection.js';
import { isInRows } from '../../model/grant.js';
import { readInstant } from '../../model/instant.js';
import type { Marker } from '../../model/marker.js';
import { expiredUpTo, type Reading } from '../../model/reading.js';
import type { Call, Database, Item } from '../database.js';
import { markerFromBase } from '../marker/marker-item.js';
import { getMarkers, type MarkerReference } from '../marker/markers.js';
import type { StoredRange } from '../request/ranges.js';
import { queryResponse } from '../table/query-responses.js';
import { openPastDays, putReadings } from './put-readings.js';
import { newReadingItem, readingFromItem, readValues } from './reading-item.js';
import { partitionsDown } from './reading-partitions.js';

/** Maximum number of readings that one call may record. */
const MAX_READINGS_A_CALL = 1_000;

/** A client's reading. Everything is checked at run time, too. */
export interface ReadingInput {
  /** RFC 3339; the time of the call if omitted. */
  readonly at?: string | null | undefined;
  readonly values: unknown;
}

/** Validates a client's readings. Throws BAD_USER_INPUT naming the invalid field. */
function readReadings(inputs: readonly ReadingInput[], now: Date): Reading[] {
  if (inputs.length > MAX_READINGS_A_CALL) {
    throw badInput('readings', `${inputs.length} readings`, `at most ${MAX_READINGS_A_CALL} readings per call`);
  }
  const dateless = inputs.filter(({ at }) => at === undefined || at === null).length;
  // They would all get the same instant, and only one of them would be stored.
  if (dateless > 1)
    throw badInput('readings', `${dateless} readings without at`, 'a list with at most one reading without at');
  return inputs.map(({ at, values }, index) => ({
    at: readInstant(`readings[${index}].at`, at ?? now.toISOString()),
    values: readValues(`readings[${index}].values`, values),
  }));
}

/**
 * Records readings of a marker; returns the number of instants stored. Of several readings at one instant the last one
 * wins, and it replaces a stored one, so that a call may be repeated. Expired readings are not stored. Throws
 * BAD_USER_INPUT or NOT_FOUND before anything is written; THROTTLED or UNAVAILABLE if some may not have been.
 */
export async function recordReadings(
  call: Call,
  reference: MarkerReference,
  inputs: readonly ReadingInput[],
  now: Date,
): Promise<number> {
  const { collection, key } = reference;
  const readings = readReadings(inputs, now);
  const [marker] = await getMarkers(call, [reference], { consistent: true });
  if (!marker || !isInRows(collection, marker)) throw notFound('marker', markerId(collection.key, key));
  const owner = { collection, key, incarnation: marker.incarnation };
  const items = new Map<string, Item>();
  readings.forEach((reading, index) => {
    const item = newReadingItem(call.db, owner, reading, now.getTime(), `readings[${index}].`);
    if (item !== undefined) items.set(reading.at, item);
  });
  const options = { now: now.getTime(), patient: false };
  await putReadings(call, collection, [...items.values()], options);
  await openPastDays(call, collection, [...items.values()], options);
  return items.size;
}

/** The readings wanted of a marker: its latest `last`, optionally from an instant on (RFC 3339). */
export interface LatestWanted {
  readonly last: number;
  readonly from?: string | undefined;
}

/** The same, optionally up to another instant. Both are included. */
export interface ReadingsWanted extends LatestWanted {
  readonly to?: string | undefined;
}

/** How to read readings. */
export interface ReadingsOptions {
  /** Milliseconds since 1970. */
  readonly now: number;
  /**
   * Number of items that may be skipped, because they have expired or are of another incarnation, before LIMIT_EXCEEDED
   * is thrown.
   */
  readonly mostPassed: number;
  /** Strongly consistent, at twice the read units. */
  readonly consistent?: boolean | undefined;
}

/**
 * Maximum number of items per response after the first, which is needed only if readings are skipped as expired or of
 * another incarnation.
 */
const FURTHER_ITEMS = 1_000;

/** The items of a range, last ones first, of which the first call reads `first`. */
async function* itemsDown(
  call: Call,
  range: StoredRange,
  first: number,
  { mostPassed, consistent }: ReadingsOptions,
): AsyncGenerator<Item, void, undefined> {
  let after: Item | undefined;
  for (let read = 0, limit = first; ; limit = Math.min(FURTHER_ITEMS, mostPassed)) {
    const down = { ...range, limit, consistent, descending: true };
    const response = await queryResponse(call, down, after);
    const items = response.Items ?? [];
    yield* items;
    read += items.length;
    after = response.LastEvaluatedKey;
    if (after === undefined) return;
    if (read - first >= mostPassed) {
      const passed = `${read - first} or more that are skipped`;
      throw limitExceeded('readings', passed, mostPassed, 'request readings from a later time');
    }
  }
}

/** The instant to start from, so that expired readings are not even read; undefined if there is no bound. */
export function startOf({ readingsTtlDays }: Collection, from: string | undefined, now: number): string | undefined {
  const expired = expiredUpTo(readingsTtlDays, now);
  if (expired === undefined) return from;
  const kept = new Date(expired + 1).toISOString();
  return from === undefined || kept > from ? kept : from;
}

async function firstReadings(
  { keys }: Database,
  items: AsyncGenerator<Item, void, undefined>,
  count: number,
  incarnation: string,
  now: number,
): Promise<Reading[]> {
  const readings: Reading[] = [];
  for await (const item of items) {
    const reading = readingFromItem(keys, item, incarnation, now);
    if (reading !== undefined) readings.push(reading);
    if (readings.length >= count) break;
  }
  return readings;
}

/** A marker with readings of it, newest first. */
export interface MarkerWithReadings {
  readonly marker: Marker | null;
  /** Empty if the marker does not exist, even if readings of a deleted one remain. */
  readonly readings: readonly Reading[];
}

/**
 * A marker and its latest readings from one Query, because the marker's sort key follows those of all its readings.
 * More calls are needed only if readings have to be skipped. Throws LIMIT_EXCEEDED if too many have to be.
 */
export async function readMarkerWithReadings(
  call: Call,
  reference: MarkerReference,
  { last, from }: LatestWanted,
  options: ReadingsOptions,
): Promise<MarkerWithReadings> {
  const { keys } = call.db;
  const { collection, key } = reference;
  const scope = keys.scope(collection);
  const start = startOf(collection, from, options.now);
  const { pk, from: lower } = keys.readingRange({ scope, key }, start, undefined);
  const range: StoredRange = { index: 'entities', pk, from: lower, to: keys.marker(scope, key).sk };
  const items = itemsDown(call, range, last + 1, options);
  const first = await items.next();
  const marker = first.done === true ? undefined : markerFromBase(keys, first.value, collection.key);
  if (marker === undefined) return { marker: null, readings: [] };
  return { marker, readings: await firstReadings(call.db, items, last, marker.incarnation, options.now) };
}

/**
 * Readings of a marker, newest first: from one Query, or from one per bucket or month until there are enough. Empty ones
 * also cost a Query, but there are only as many as have not expired.
 */
export async function readReadingsOf(
  call: Call,
  reference: MarkerReference,
  incarnation: string,
  { last, from, to }: ReadingsWanted,
  options: ReadingsOptions,
): Promise<readonly Reading[]> {
  const { now } = options;
  const start = startOf(reference.collection, from, now);
  // DynamoDB refuses bounds in the wrong order.
  if (start !== undefined && to !== undefined && start > to) return [];
  const found: Reading[] = [];
  for (const { range } of partitionsDown(call.db, reference, start, to, now)) {
    const left = last - found.length;
    const items = itemsDown(call, range, left, options);
    found.push(...(await firstReadings(call.db, items, left, incarnation, now)));
    if (found.length >= last) break;
  }
  return found;
}
