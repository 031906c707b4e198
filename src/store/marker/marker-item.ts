import { badInput, limitExceeded } from '../../errors.js';
import { readPoint, type Point } from '../../geo/bounds.js';
import { encode, LONGEST_Z } from '../../geo/geohash.js';
import type { Keyspace } from '../../keys/keyspace.js';
import { checkPlaceFits, readPlace } from '../../keys/place.js';
import { readMarkerKey } from '../../keys/validate.js';
import { writtenLayouts, writtenMapProperties, type Collection } from '../../model/collection.js';
import { pickProperties, type MapMarker, type Marker, type Properties } from '../../model/marker.js';
import type { Place } from '../../model/place.js';
import { writtenShards } from '../../model/spread.js';
import type { Item } from '../database.js';
import { checkItemSize, itemBytes, valueBytes } from '../request/item-size.js';
import { newIncarnation, newUuid } from './marker-keys.js';
import { checkNumber, readOptionalText, readShown } from './properties.js';

/** Properties below this size are projected whole, so that viewports never read base items for them. */
const SMALL_PROPERTIES_BYTES = 256;

/** Changes to a marker: what is omitted stays as it is, and null removes what is optional. */
export interface MarkerUpdate {
  readonly position?: Point | null | undefined;
  readonly name?: string | null | undefined;
  readonly category?: string | null | undefined;
  readonly properties?: Properties | null | undefined;
  readonly place?: readonly string[] | null | undefined;
}

/** A new marker that may lack its position, like everything else that is checked. */
export interface SentMarker extends MarkerUpdate {
  readonly key?: string | null | undefined;
}

/** A new marker as a client describes it. Everything is checked at run time, too. */
export interface MarkerInput extends SentMarker {
  readonly position: Point;
}

/** What describes a marker, checked. */
export interface Content {
  readonly position: Point;
  readonly name: string | null;
  readonly category: string | null;
  readonly properties: Properties;
  readonly place: Place;
}

/** A position that DynamoDB stores without loss. Throws BAD_USER_INPUT naming the field. */
export function readPosition(given: Point | null | undefined): Point {
  if (given === null || given === undefined) throw badInput('position', given, 'a position with `lng` and `lat`');
  const { lng, lat } = given;
  const position = readPoint('position', lng, lat);
  checkNumber('position.lng', position.lng);
  checkNumber('position.lat', position.lat);
  return position;
}

/** Small properties are in `m` alone, marked complete; otherwise those that a map draws are in `m`, and all in `properties`. */
function layProperties(properties: Properties, mapProperties: readonly string[]): Item {
  if (valueBytes(properties) < SMALL_PROPERTIES_BYTES) return { m: properties, mc: true };
  return { m: pickProperties(properties, mapProperties), mc: false, properties };
}

/** The attributes that enter a marker into the geo index of its collection, or into both while its layout changes. */
export function geoAttributes(keys: Keyspace, collection: Collection, key: string, position: Point): Item {
  const marker = { scope: keys.scope(collection), key, geohash: encode(position, LONGEST_Z) };
  const entries = writtenLayouts(collection).map(({ prefixLength, writeShards, geoSlot }) => {
    const spreading = { writeShards, geoSlot, spread: collection.spread };
    const shards = writtenShards(spreading, marker.geohash.slice(0, prefixLength));
    return keys.geoEntry({ ...marker, prefixLength, writeShards: shards, geoSlot });
  });
  return entries.length === 1 ? (entries[0] ?? {}) : Object.assign({}, ...entries);
}

/** The attributes of a marker that depend on its key: the keys of its item and of its index entries. */
export function keyAttributes(
  keys: Keyspace,
  collection: Collection,
  key: string,
  position: Point,
  place: Place,
): Item {
  const scope = keys.scope(collection);
  checkPlaceFits(place, key);
  const { pk, sk } = keys.marker(scope, key);
  // Spreads come last: V8 takes twice as long to make an object that begins with one.
  return {
    pk,
    sk,
    ...geoAttributes(keys, collection, key, position),
    ...(place.length === 0 ? {} : keys.placeEntry(scope, key, place)),
  };
}

/** The other attributes of a marker with this content; texts that are null and an empty place are omitted. */
export function contentAttributes(collection: Collection, content: Content): Item {
  const { position, name, category, properties, place } = content;
  return {
    lng: position.lng,
    lat: position.lat,
    name: name ?? undefined,
    category: category ?? undefined,
    place: place.length === 0 ? undefined : place,
    ...layProperties(properties, writtenMapProperties(collection)),
  };
}

/**
 * The item of a new marker with its index entries, ready to be put. `now` is RFC 3339 in UTC. Throws BAD_USER_INPUT naming
 * the field that is wrong: the key, the position, a text, the properties or the place; or the properties if the item
 * would exceed 400 KB.
 */
export function newMarkerItem(
  { keys }: { readonly keys: Keyspace },
  collection: Collection,
  input: SentMarker,
  now: string,
): Item {
  const key = readMarkerKey('key', input.key);
  const content: Content = {
    position: readPosition(input.position),
    name: readOptionalText('name', input.name),
    category: readOptionalText('category', input.category),
    properties: readShown(collection, 'properties', input.properties ?? {}),
    place: readPlace('place', input.place),
  };
  const item: Item = {
    mv: 1,
    version: 1,
    createdAt: now,
    updatedAt: now,
    // Distinguishes successive markers with the same key, regardless of clocks: see docs/keys.md.
    life: newIncarnation(),
    globalId: collection.globalIds ? newUuid() : undefined,
    ...keyAttributes(keys, collection, key, content.position, content.place),
    ...contentAttributes(collection, content),
  };
  checkItemSize(item, 'marker', 'properties');
  return item;
}

/** How errors name the size of a marker. */
export const MARKER_BYTES = 'size of the marker in bytes';

/** Throws LIMIT_EXCEEDED if a marker is, or grows, larger than the principal may write. */
export function checkMarkerBytes({ grant }: Collection, item: Item, before?: Item): void {
  const most = grant?.bytesPerMarker ?? Infinity;
  const bytes = most === Infinity ? 0 : itemBytes(item);
  if (bytes <= most || (before !== undefined && bytes <= itemBytes(before))) return;
  throw limitExceeded(MARKER_BYTES, bytes, most, 'shorten its properties, or let its operator raise your quota');
}

/** The item of the same new marker under another key, which must be no longer. */
export function rekeyedMarkerItem(
  { keys }: { readonly keys: Keyspace },
  collection: Collection,
  item: Item,
  key: string,
) {
  const place = (item['place'] ?? []) as Place;
  const position = { lng: item['lng'], lat: item['lat'] } as Point;
  return { ...item, ...keyAttributes(keys, collection, key, position, place) };
}

/** The position in an item; undefined if it has none that is valid. */
export function positionOf(item: Item): Point | undefined {
  const { lng, lat } = item;
  if (typeof lng !== 'number' || !(lng >= -180 && lng <= 180)) return undefined;
  if (typeof lat !== 'number' || !(lat >= -90 && lat <= 90)) return undefined;
  return { lng, lat };
}

/** Attribute with the time at which a marker in a table of others expires, in milliseconds since 1970. */
export const EXPIRY = 'expiresAt';

const text = (value: unknown) => (typeof value === 'string' ? value : null);
const object = (value: unknown) => (typeof value === 'object' && value !== null ? (value as Properties) : {});
const isText = (value: unknown) => typeof value === 'string';

/**
 * What a map draws of a marker, from an item of a geo index or a base item; undefined for an invalid item, e.g. one
 * written by hand. Such items are not shown, as they are not counted.
 */
export function mapMarkerFromIndex(keys: Keyspace, item: Item, collection: string): MapMarker | undefined {
  const { pk, sk, mv } = item;
  if (typeof pk !== 'string' || typeof sk !== 'string') return undefined;
  const key = keys.parseMarker({ pk, sk })?.key;
  const position = positionOf(item);
  if (key === undefined || position === undefined) return undefined;
  return {
    collection,
    key,
    position,
    geohash: encode(position, LONGEST_Z),
    name: text(item['name']),
    category: text(item['category']),
    mapVersion: typeof mv === 'number' ? mv : 0,
    mapProperties: object(item['m']),
    complete: item['mc'] === true,
    ...(typeof item[EXPIRY] === 'number' ? { expiresAt: item[EXPIRY] } : {}),
  };
}

/** A whole marker from its base item; undefined for an invalid item. */
export function markerFromBase(keys: Keyspace, item: Item, collection: string): Marker | undefined {
  const drawn = mapMarkerFromIndex(keys, item, collection);
  if (drawn === undefined) return undefined;
  const { version, createdAt, updatedAt, place, globalId } = item;
  return {
    ...drawn,
    properties: drawn.complete ? drawn.mapProperties : object(item['properties']),
    place: Array.isArray(place) && place.every(isText) ? place : [],
    globalId: text(globalId),
    incarnation: text(item['life']) ?? '',
    version: typeof version === 'number' ? version : 0,
    createdAt: text(createdAt) ?? '',
    updatedAt: text(updatedAt) ?? '',
  };
}
