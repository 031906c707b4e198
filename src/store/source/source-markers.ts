import type { AttributeValue } from '@aws-sdk/client-dynamodb';

import { encode, LONGEST_Z } from '../../geo/geohash.js';
import type { CollectionSource, TableKeyAttribute } from '../../model/collection.js';
import { REQUEST_LIMITS } from '../../model/dynamodb-limits.js';
import type { Marker } from '../../model/marker.js';
import { keyText } from '../../sources/mapping.js';
import { detailsOf, markersOf, type SourceMarker } from '../../sources/marker.js';
import type { Call, Item } from '../database.js';
import { getMarkers, type MarkerReference } from '../marker/markers.js';
import { chunks, mapConcurrently, processAll } from '../request/pacing.js';
import { send, type Operations } from '../request/send.js';
import { exactItemOf, wireOf, type WireMap } from '../request/wire.js';
import {
  attributesRead,
  hasSource,
  keysOf,
  mappingOf,
  onlyItemOf,
  partOfKey,
  type SourceCollection,
} from './source-mapping.js';
import { readWinners } from './winners.js';

const BATCHES_AT_A_TIME = 8;
const ATTEMPTS = 8;

/** The markers in an item of a source that have not expired. */
function markersIn(collection: SourceCollection, item: Item, now: number): readonly Marker[] {
  const found = markersOf(mappingOf(collection.source), item, now);
  return found.flatMap((one) => (one.kind === 'marker' ? wholeMarker(collection, one) : []));
}

function wholeMarker(collection: SourceCollection, found: SourceMarker): Marker {
  const mapping = mappingOf(collection.source);
  const { key, position, name, category, place, properties, expiresAt } = found;
  const details = detailsOf(mapping, found.item);
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
export function wireKey(tableKey: readonly TableKeyAttribute[], key: Item): WireKey {
  const valueOf = ({ name, type }: TableKeyAttribute): AttributeValue => {
    const value = key[name];
    if (type === 'B') return wireOf(value) as unknown as AttributeValue;
    const text = keyText(value) ?? '';
    return type === 'N' ? { N: text } : { S: text };
  };
  return Object.fromEntries(tableKey.map((attribute) => [attribute.name, valueOf(attribute)]));
}

/** Responses of up to 1 MB that are read of a partition at most: a table of readings may have years of them in one. */
const MOST_RESPONSES = 8;

async function* partitionItems(call: Call, source: CollectionSource, partition: Item) {
  const [hash] = source.tableKey;
  const attributes = attributesRead(source);
  const request = {
    TableName: source.table,
    ConsistentRead: true,
    // The newest are where they are added.
    ScanIndexForward: false,
    KeyConditionExpression: '#0 = :partition',
    // The first attribute is that of the partition.
    ExpressionAttributeNames: Object.fromEntries(attributes.map((name, index) => [`#${index}`, name])),
    ExpressionAttributeValues: {
      ':partition': wireKey(source.tableKey.slice(0, 1), partition)[hash?.name ?? ''] ?? { NULL: true },
    },
    ProjectionExpression: attributes.map((_, index) => `#${index}`).join(', '),
  };
  let after: Operations['wireQuery']['output']['LastEvaluatedKey'];
  for (let response = 0; response < MOST_RESPONSES && (response === 0 || after !== undefined); response += 1) {
    const start = after === undefined ? {} : { ExclusiveStartKey: after };
    const page: Operations['wireQuery']['output'] = await send(call, 'wireQuery', { ...request, ...start });
    yield page.Items ?? [];
    after = page.LastEvaluatedKey;
  }
}

/**
 * The items in the partition that has all those with a marker's key, the last ones first, response by response;
 * undefined if the key does not tell the partition.
 */
export function itemsAround(
  call: Call,
  source: CollectionSource,
  key: string,
): AsyncIterable<readonly WireMap[]> | undefined {
  const partition = partOfKey(source, source.tableKey.slice(0, 1), key);
  return partition && partitionItems(call, source, partition);
}

/** Reads markers of a source from its table, by key; those that do not exist are missing. */
async function readFromTable(
  call: Call,
  collection: SourceCollection,
  keys: readonly string[],
): Promise<Map<string, Marker>> {
  const { source } = collection;
  const { table, tableKey } = source;
  const unique = [...new Set(keys)];
  const only = unique.map((key) => onlyItemOf(source, key));
  const others = unique.filter((_, index) => only[index] === undefined);
  const winners = await readWinners(call, call.db.keys.scope(collection), others);
  const chosen = new Map(others.map((key, index) => [key, winners[index]?.ranking.best[0]?.item]));
  const named = [...chosen.values()].map((item) => item && exactItemOf(JSON.parse(item) as WireMap));
  const keysRead = [...only, ...named].flatMap((key) => (key ? [wireKey(tableKey, key)] : []));
  // Two keys may name one item: it has several markers, or has just got the other key.
  const wanted = [...new Map(keysRead.map((key) => [JSON.stringify(key), key])).values()];
  const now = call.db.clock.wall();
  const found = new Map<string, Marker>();
  async function read(left: readonly WireKey[]): Promise<readonly WireKey[]> {
    const RequestItems = { [table]: { Keys: [...left] } };
    const { Responses, UnprocessedKeys } = await send(call, 'wireBatchGet', { RequestItems });
    for (const item of (Responses?.[table] ?? []) as unknown as readonly WireMap[]) {
      for (const marker of markersIn(collection, exactItemOf(item), now)) {
        const isChosen = !chosen.has(marker.key) || chosen.get(marker.key) === JSON.stringify(keysOf(source, item));
        if (isChosen) found.set(marker.key, marker);
      }
    }
    return UnprocessedKeys?.[table]?.Keys ?? [];
  }
  await mapConcurrently(chunks(wanted, REQUEST_LIMITS.batchGet), BATCHES_AT_A_TIME, (batch) =>
    processAll<WireKey>(batch, read, { attempts: ATTEMPTS, signal: call.signal }),
  );
  return found;
}

/** Reads markers as `getMarkers` does, those of sources from the tables that they follow. */
export async function markersByKey(call: Call, references: readonly MarkerReference[]): Promise<(Marker | null)[]> {
  const own = references.filter(({ collection }) => !hasSource(collection));
  const read = await getMarkers(call, own);
  const found = new Map<MarkerReference, Marker | null>(own.map((one, index) => [one, read[index] ?? null]));
  for (const collection of new Set(references.map((one) => one.collection))) {
    if (!hasSource(collection)) continue;
    const wanted = references.filter((one) => one.collection === collection);
    const keys = wanted.map(({ key }) => key);
    const markers = await readFromTable(call, collection, keys);
    for (const one of wanted) found.set(one, markers.get(one.key) ?? null);
  }
  return references.map((one) => found.get(one) ?? null);
}
