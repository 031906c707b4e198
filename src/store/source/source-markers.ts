import type { AttributeValue } from '@aws-sdk/client-dynamodb';

import { encode, LONGEST_Z } from '../../geo/geohash.js';
import { REQUEST_LIMITS } from '../../model/dynamodb-limits.js';
import type { Marker } from '../../model/marker.js';
import { detailsOf, markerOf } from '../../sources/marker.js';
import { keyText } from '../../sources/path.js';
import { primaryKeyOf, type KeyAttribute } from '../../sources/primary-key.js';
import type { Database, Item } from '../database.js';
import { getMarkers, type MarkerReference } from '../marker/markers.js';
import type { BatchGetOptions } from '../request/batch-get.js';
import { chunks, mapConcurrently } from '../request/concurrency.js';
import type { Call } from '../request/meter.js';
import { processAll } from '../request/retries.js';
import { send } from '../request/send.js';
import { exactItemOf, type WireMap } from '../request/wire.js';
import { hasSource, mappingOf, type SourceCollection } from './source-mapping.js';

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

type WireKey = Record<string, AttributeValue>;

/** The wire format of a primary key. */
function wireKey(tableKey: readonly KeyAttribute[], key: Item): WireKey {
  const valueOf = ({ name, type }: KeyAttribute): AttributeValue => {
    const value = key[name];
    if (type === 'B') return { B: value as Uint8Array };
    const text = keyText(value) ?? '';
    return type === 'N' ? { N: text } : { S: text };
  };
  return Object.fromEntries(tableKey.map((attribute) => [attribute.name, valueOf(attribute)]));
}

/** Reads markers of a source from its table, by key; those that do not exist are missing. */
async function readFromTable(
  database: Database,
  collection: SourceCollection,
  keys: readonly string[],
  call: Call,
  { consistent = false }: BatchGetOptions,
): Promise<Map<string, Marker>> {
  const { table, tableKey } = collection.source;
  const mapping = mappingOf(collection.source);
  const wanted = [...new Set(keys)].flatMap((key) => {
    const primaryKey = primaryKeyOf(mapping, tableKey, key);
    return primaryKey === undefined ? [] : [wireKey(tableKey, primaryKey)];
  });
  const found: Item[] = [];
  async function read(left: readonly WireKey[]): Promise<readonly WireKey[]> {
    const RequestItems = { [table]: { Keys: [...left], ...(consistent ? { ConsistentRead: true } : {}) } };
    const { Responses, UnprocessedKeys } = await send(database, 'wireBatchGet', { RequestItems }, call);
    for (const item of Responses?.[table] ?? []) found.push(exactItemOf(item as unknown as WireMap));
    return UnprocessedKeys?.[table]?.Keys ?? [];
  }
  await mapConcurrently(chunks(wanted, REQUEST_LIMITS.batchGet), BATCHES_AT_A_TIME, (batch) =>
    processAll<WireKey>(batch, read, { attempts: ATTEMPTS, signal: call.signal }),
  );
  const now = database.clock.wall();
  const markers = found.flatMap((item) => markerIn(collection, item, now) ?? []);
  return new Map(markers.map((marker) => [marker.key, marker]));
}

/** Reads markers as `getMarkers` does, those of sources from the tables that they follow. */
export async function markersByKey(
  database: Database,
  references: readonly MarkerReference[],
  call: Call,
  options: BatchGetOptions = {},
): Promise<(Marker | null)[]> {
  const own = references.filter(({ collection }) => !hasSource(collection));
  const read = await getMarkers(database, own, call, options);
  const found = new Map<MarkerReference, Marker | null>(own.map((one, index) => [one, read[index] ?? null]));
  for (const collection of new Set(references.map((one) => one.collection))) {
    if (!hasSource(collection)) continue;
    const wanted = references.filter((one) => one.collection === collection);
    const keys = wanted.map(({ key }) => key);
    const markers = await readFromTable(database, collection, keys, call, options);
    for (const one of wanted) found.set(one, markers.get(one.key) ?? null);
  }
  return references.map((one) => found.get(one) ?? null);
}
