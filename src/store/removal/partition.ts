import { SELF } from '../../keys/declarations.js';
import { geoIndexOf } from '../../keys/indexes.js';
import type { Collection } from '../../model/collection.js';
import type { Database, Item } from '../database.js';
import { removeSummaries } from '../reading/kept-days.js';
import { mapConcurrently } from '../request/concurrency.js';
import { deleteReadItems, INCARNATION_ATTRIBUTES } from '../request/conditional-delete.js';
import type { Call } from '../request/meter.js';
import { rangeRequest, type StoredPartition } from '../request/ranges.js';
import { queryResponses } from '../table/query-responses.js';
import { readingPartitions } from './readings.js';

const MARKERS_AT_A_TIME = 16;
const ENTRIES_AT_A_TIME = 400;

/** Removes all items under a marker, in all its partitions; returns the marker's own item if it exists. */
async function removeUnder(
  database: Database,
  partitions: readonly StoredPartition[],
  call: Call,
): Promise<Item | undefined> {
  let own: Item | undefined;
  for (const one of partitions) own = (await removeIn(database, one, call)) ?? own;
  return own;
}

/** The same for one partition. */
async function removeIn(database: Database, { table, pk }: StoredPartition, call: Call): Promise<Item | undefined> {
  let own: Item | undefined;
  const attributes = ['pk', 'sk', ...INCARNATION_ATTRIBUTES];
  const request = rangeRequest(database, { index: 'entities', table, pk, consistent: true, attributes });
  for await (const items of queryResponses(database, request, call)) {
    own ??= items.find(({ sk }) => sk === SELF);
    const others = items.filter(({ sk }) => sk !== SELF);
    await deleteReadItems(database, others, call, table);
  }
  return own;
}

/**
 * Removes all markers in one partition of a collection's geo index, each after the items under it, so that a later run
 * finds whatever an interruption leaves. Items are removed only in the incarnation that was read, so nothing created
 * later is. Returns the number of markers removed.
 */
export async function removePartition(
  database: Database,
  collection: Collection,
  pk: string,
  call: Call,
): Promise<number> {
  const index = geoIndexOf(collection.geoSlot);
  const request = rangeRequest(database, { index, pk, limit: ENTRIES_AT_A_TIME });
  let removed = 0;
  for await (const items of queryResponses(database, request, call)) {
    const names = items.flatMap(
      (item) => database.keys.parseMarker({ pk: String(item['pk']), sk: String(item['sk']) }) ?? [],
    );
    removed += await removeByKey(database, collection, names, call);
  }
  return removed;
}

/** The same for markers with these keys. */
export async function removeByKey(
  database: Database,
  collection: Collection,
  names: readonly { readonly key: string }[],
  call: Call,
): Promise<number> {
  const own = await mapConcurrently(names, MARKERS_AT_A_TIME, async ({ key }) => {
    await removeSummaries(database, collection, key, 'all', call);
    return removeUnder(database, readingPartitions(database, collection, key, database.clock.wall()), call);
  });
  const there = own.filter((item) => item !== undefined);
  await deleteReadItems(database, there, call);
  return there.length;
}
