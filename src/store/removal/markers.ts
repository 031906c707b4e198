import { CellportError, notFound } from '../../errors.js';
import { SELF } from '../../keys/declarations.js';
import { geoIndexOf } from '../../keys/indexes.js';
import type { Collection } from '../../model/collection.js';
import { areApart } from '../../model/reading.js';
import type { Call, Item } from '../database.js';
import { describeMarker, requireMarker } from '../marker/marker-update.js';
import {
  failuresIn,
  independentWrites,
  type MarkerFailure,
  type MarkerReference,
  type MarkerWrite,
} from '../marker/markers.js';
import { removeSummaries } from '../reading/kept-days.js';
import { deleteReadItems, INCARNATION_ATTRIBUTES } from '../request/batches.js';
import { changeItem, checkVersion } from '../request/conditional-write.js';
import { mapConcurrently } from '../request/pacing.js';
import type { StoredPartition } from '../request/ranges.js';
import { queryResponse, queryResponses } from '../table/query-responses.js';
import { forget, readingPartitions, remember, removeReadingsNow } from './readings.js';

/** Reads a marker's item, if it exists, and whether the marker has readings, in one strongly consistent Query. */
async function readWithLatestReading(
  call: Call,
  collection: Collection,
  key: string,
): Promise<{ readonly item: Item | undefined; readonly hasReadings: boolean }> {
  const { keys } = call.db;
  const { pk, sk } = keys.marker(keys.scope(collection), key);
  const range = { index: 'entities', pk, limit: 2, consistent: true, descending: true } as const;
  const { Items = [] } = await queryResponse(call, range);
  const item = Items.find((found) => found['sk'] === sk);
  return { item, hasReadings: Items.length > (item === undefined ? 0 : 1) };
}

/**
 * Deletes a marker with one conditional write, and then its readings. A marker created again under its key is another
 * incarnation, so remaining readings belong to no marker: those beyond a thousand, or left when this process dies, are
 * removed in the background. `now` is RFC 3339 in UTC. Throws NOT_FOUND, or CONFLICT with the current version if it is
 * not the expected one.
 */
export async function deleteMarker(
  call: Call,
  reference: MarkerReference,
  { now, expectedVersion }: { readonly now: string; readonly expectedVersion?: number | null | undefined },
): Promise<MarkerWrite> {
  const { collection, key } = reference;
  const read = await readWithLatestReading(call, collection, key);
  const checked = (current: Item | undefined) => {
    const { item } = requireMarker(call.db, reference, current);
    checkVersion(describeMarker(reference), item, expectedVersion);
    // Another incarnation than the one to be deleted.
    if (read.item !== undefined && item['life'] !== read.item['life']) throw notFound('marker', key);
    return { found: item, next: undefined };
  };
  const { found } = checked(read.item);
  // Before the write, so that the readings will be removed whatever happens after it.
  const mayHave = read.hasReadings || areApart(collection);
  const reminder = mayHave ? await remember(call, collection, found, now) : undefined;
  try {
    const change = await changeItem(call, async () => found, checked);
    if (reminder) await removeReadingsNow(call, collection, reminder);
    return { ...change, marker: requireMarker(call.db, reference, change.before).marker };
  } catch (error) {
    const refused = error instanceof CellportError && (error.code === 'CONFLICT' || error.code === 'NOT_FOUND');
    if (refused && reminder) await forget(call, reminder);
    throw error;
  }
}

const DELETES_AT_A_TIME = 16;

/**
 * Deletes markers, each as `deleteMarker` does; one that fails, or is an error already, is reported by its index and does
 * not affect the others. Those that do not exist are neither deleted nor failures, but `missing`. When DynamoDB throttles or is
 * unavailable even after retries, those not tried yet fail at once with the same code.
 */
export async function deleteMarkers(
  call: Call,
  markers: readonly (MarkerReference | CellportError)[],
  now: string,
): Promise<{
  readonly written: readonly (MarkerWrite & Pick<MarkerReference, 'collection'>)[];
  readonly failures: readonly MarkerFailure[];
  readonly missing: readonly MarkerFailure[];
}> {
  const attempt = independentWrites(call);
  const outcomes = await mapConcurrently(markers, DELETES_AT_A_TIME, async (marker) => {
    if (marker instanceof CellportError) return marker;
    return attempt(async () => ({ ...(await deleteMarker(call, marker, { now })), collection: marker.collection }));
  });
  const failed = failuresIn(outcomes);
  return {
    written: outcomes.filter((outcome) => 'marker' in outcome),
    failures: failed.filter(({ code }) => code !== 'NOT_FOUND'),
    missing: failed.filter(({ code }) => code === 'NOT_FOUND'),
  };
}

const MARKERS_AT_A_TIME = 16;
const ENTRIES_AT_A_TIME = 400;

/** Removes all items under a marker, in all its partitions; returns the marker's own item if it exists. */
async function removeUnder(call: Call, partitions: readonly StoredPartition[]): Promise<Item | undefined> {
  let own: Item | undefined;
  for (const one of partitions) own = (await removeIn(call, one)) ?? own;
  return own;
}

/** The same for one partition. */
async function removeIn(call: Call, { table, pk }: StoredPartition): Promise<Item | undefined> {
  let own: Item | undefined;
  const attributes = ['pk', 'sk', ...INCARNATION_ATTRIBUTES];
  const range = { index: 'entities', table, pk, consistent: true, attributes } as const;
  for await (const items of queryResponses(call, range)) {
    own ??= items.find(({ sk }) => sk === SELF);
    const others = items.filter(({ sk }) => sk !== SELF);
    await deleteReadItems(call, others, table);
  }
  return own;
}

/**
 * Removes all markers in one partition of a collection's geo index, each after the items under it, so that a later run
 * finds whatever an interruption leaves. Items are removed only in the incarnation that was read, so nothing created
 * later is. Returns the number of markers removed.
 */
export async function removePartition(call: Call, collection: Collection, pk: string): Promise<number> {
  const index = geoIndexOf(collection.geoSlot);
  const range = { index, pk, limit: ENTRIES_AT_A_TIME };
  let removed = 0;
  for await (const items of queryResponses(call, range)) {
    const names = items.flatMap(
      (item) => call.db.keys.parseMarker({ pk: String(item['pk']), sk: String(item['sk']) }) ?? [],
    );
    removed += await removeByKey(call, collection, names);
  }
  return removed;
}

/** The same for markers with these keys. */
export async function removeByKey(
  call: Call,
  collection: Collection,
  names: readonly { readonly key: string }[],
): Promise<number> {
  const own = await mapConcurrently(names, MARKERS_AT_A_TIME, async ({ key }) => {
    await removeSummaries(call, collection, key, 'all');
    return removeUnder(call, readingPartitions(call.db, collection, key, call.db.clock.wall()));
  });
  const there = own.filter((item) => item !== undefined);
  await deleteReadItems(call, there);
  return there.length;
}
