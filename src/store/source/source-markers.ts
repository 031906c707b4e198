import type { BatchGetCommandInput } from '@aws-sdk/lib-dynamodb';

import { encode, LONGEST_Z } from '../../geo/geohash.js';
import { REQUEST_LIMITS } from '../../model/dynamodb-limits.js';
import type { Marker } from '../../model/marker.js';
import { detailsOf, markerOf } from '../../sources/marker.js';
import { primaryKeyOf } from '../../sources/primary-key.js';
import type { Database, Item } from '../database.js';
import type { BatchGetOptions } from '../request/batch-get.js';
import { chunks, mapConcurrently } from '../request/concurrency.js';
import type { Call } from '../request/meter.js';
import { processAll } from '../request/retries.js';
import { send } from '../request/send.js';
import { mappingOf, type SourceCollection } from './source-mapping.js';

const BATCHES_AT_A_TIME = 8;
const ATTEMPTS = 8;

/** A marker of a source, from its item; undefined if the item is none, or has expired. */
function markerIn(collection: SourceCollection, item: Item, now: number): Marker | undefined {
  const mapping = mappingOf(collection.source);
  const found = markerOf(mapping, item, now);
  if (found.kind !== 'marker') return undefined;
  const { key, position, name, category, place, properties, expiresAt } = found;
  const details = detailsOf(mapping, item);
  return {
    collection: collection.key,
    key,
    position,
    geohash: encode(position, LONGEST_Z),
    name,
    category,
    // Newer than any copy in a page.
    mapVersion: Number.MAX_SAFE_INTEGER,
    mapProperties: properties,
    complete: mapping.details.length === 0,
    properties: details.properties,
    place,
    globalId: null,
    incarnation: '',
    version: details.version ?? 1,
    createdAt: details.createdAt ?? collection.createdAt,
    updatedAt: details.updatedAt ?? details.createdAt ?? collection.createdAt,
    ...(expiresAt === undefined ? {} : { expiresAt }),
  };
}

/** Reads markers of a source from its table, by key; undefined for those that do not exist. */
export async function readSourceMarkers(
  database: Database,
  collection: SourceCollection,
  keys: readonly string[],
  call: Call,
  { consistent = false }: BatchGetOptions,
): Promise<Map<string, Marker>> {
  const { table, tableKey } = collection.source;
  const mapping = mappingOf(collection.source);
  const wanted = [...new Set(keys)].flatMap((key) => primaryKeyOf(mapping, tableKey, key) ?? []);
  const found: Item[] = [];
  async function read(left: readonly Item[]): Promise<readonly Item[]> {
    const request: BatchGetCommandInput = {
      RequestItems: { [table]: { Keys: [...left], ...(consistent ? { ConsistentRead: true } : {}) } },
    };
    const { Responses, UnprocessedKeys } = await send(database, 'batchGet', request, call);
    found.push(...(Responses?.[table] ?? []));
    return (UnprocessedKeys?.[table]?.Keys ?? []) as readonly Item[];
  }
  await mapConcurrently(chunks(wanted, REQUEST_LIMITS.batchGet), BATCHES_AT_A_TIME, (batch) =>
    processAll<Item>(batch, read, { attempts: ATTEMPTS, signal: call.signal }),
  );
  const now = database.clock.wall();
  const markers = found.flatMap((item) => markerIn(collection, item, now) ?? []);
  return new Map(markers.map((marker) => [marker.key, marker]));
}
