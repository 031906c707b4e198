import { badInput } from '../errors.js';
import { encode } from '../geo/geohash.js';
import { type Point, readPoint } from '../geo/point.js';
import { isWellFormed } from '../keys/escape.js';
import type { Keyspace } from '../keys/keyspace.js';
import { readMarkerKey } from '../keys/validate.js';
import type { Collection } from '../model/collection.js';
import type { MapMarker, Marker, Properties } from '../model/marker.js';
import type { Item } from './database.js';
import { MAX_ITEM_BYTES, itemBytes, valueBytes } from './item-size.js';
import { readProperties } from './properties.js';

/** Characters of the geohash of a marker's index entry: about a metre, and 50 bits, which a number holds. */
export const INDEX_GEOHASH_LENGTH = 10;

/** Properties below this size stand in the index whole, so that viewports never read the base item for them. */
const SMALL_PROPERTIES_BYTES = 256;

/** What a client says of a new marker; everything is checked, whatever the types promise. */
export interface MarkerInput {
  readonly key?: string | null | undefined;
  readonly position: Point;
  readonly name?: string | null | undefined;
  readonly category?: string | null | undefined;
  readonly properties?: Properties | null | undefined;
}

function readText(field: string, value: unknown): string | null {
  if (value === undefined || value === null) return null;
  if (typeof value !== 'string' || !isWellFormed(value)) throw badInput(field, value, 'text of Unicode characters');
  return value;
}

function pick(properties: Properties, names: readonly string[]): Properties {
  return Object.fromEntries(
    names.filter((name) => Object.hasOwn(properties, name)).map((name) => [name, properties[name]]),
  );
}

/** How properties are laid down: small ones in `m` alone, flagged complete; else what a map draws in `m`, all beside. */
function layProperties(properties: Properties, mapProperties: readonly string[]): Item {
  if (valueBytes(properties) < SMALL_PROPERTIES_BYTES) return { m: properties, mc: true };
  return { m: pick(properties, mapProperties), mc: false, properties };
}

/**
 * The item of a new marker, its index entry included, ready to be put. `now` is RFC 3339 in UTC. Throws BAD_USER_INPUT
 * naming the field that is wrong: the key, the position, texts, properties, or all of it where it is over 400 KB.
 */
export function newMarkerItem(
  { keys }: { readonly keys: Keyspace },
  collection: Collection,
  input: MarkerInput,
  now: string,
): Item {
  const scope = keys.scope(collection);
  const key = readMarkerKey('key', input.key);
  const position = readPoint('position', input.position.lng, input.position.lat);
  const { prefixLength, writeShards, geoSlot, mapProperties } = collection;
  const { pk, sk } = keys.marker(scope, key);
  const item: Item = {
    pk,
    sk,
    lng: position.lng,
    lat: position.lat,
    name: readText('name', input.name) ?? undefined,
    category: readText('category', input.category) ?? undefined,
    mv: 1,
    version: 1,
    createdAt: now,
    updatedAt: now,
    // Behind what is written out: an object that begins with a spread takes V8 twice as long to make.
    ...keys.geoEntry({
      scope,
      key,
      geohash: encode(position, INDEX_GEOHASH_LENGTH),
      prefixLength,
      writeShards,
      geoSlot,
    }),
    ...layProperties(readProperties('properties', input.properties ?? {}), mapProperties),
  };
  const bytes = itemBytes(item);
  if (bytes > MAX_ITEM_BYTES) {
    throw badInput(
      'properties',
      `${bytes} bytes`,
      `small enough for the whole marker to stay under ${MAX_ITEM_BYTES} bytes`,
    );
  }
  return item;
}

/** The position that an item holds; undefined where it holds none that can be understood. */
export function positionOf(item: Item): Point | undefined {
  const { lng, lat } = item;
  if (typeof lng !== 'number' || !(lng >= -180 && lng <= 180)) return undefined;
  if (typeof lat !== 'number' || !(lat >= -90 && lat <= 90)) return undefined;
  return { lng, lat };
}

const text = (value: unknown) => (typeof value === 'string' ? value : null);
const object = (value: unknown) => (typeof value === 'object' && value !== null ? (value as Properties) : {});

/**
 * What a map draws of a marker, from an item of a geo index or a base item. Undefined where the item cannot be
 * understood (written by hand, or foreign): such items are not shown, as they are not counted.
 */
export function mapMarkerFromIndex(
  keys: Keyspace,
  item: Item,
  collection: Pick<Collection, 'key'>,
): MapMarker | undefined {
  const { pk, sk, mv } = item;
  if (typeof pk !== 'string' || typeof sk !== 'string') return undefined;
  const key = keys.parseMarker({ pk, sk })?.key;
  const position = positionOf(item);
  if (key === undefined || position === undefined) return undefined;
  return {
    collection: collection.key,
    key,
    position,
    name: text(item['name']),
    category: text(item['category']),
    mapVersion: typeof mv === 'number' ? mv : 0,
    mapProperties: object(item['m']),
    complete: item['mc'] === true,
  };
}

/** A whole marker from its base item; undefined where the item cannot be understood. */
export function markerFromBase(keys: Keyspace, item: Item, collection: Pick<Collection, 'key'>): Marker | undefined {
  const drawn = mapMarkerFromIndex(keys, item, collection);
  if (drawn === undefined) return undefined;
  const { version, createdAt, updatedAt } = item;
  return {
    ...drawn,
    properties: drawn.complete ? drawn.mapProperties : object(item['properties']),
    version: typeof version === 'number' ? version : 0,
    createdAt: text(createdAt) ?? '',
    updatedAt: text(updatedAt) ?? '',
  };
}
