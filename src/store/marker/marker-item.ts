import { randomBytes } from 'node:crypto';
import { isDeepStrictEqual } from 'node:util';

import { badInput } from '../../errors.js';
import { LONGEST_Z, encode } from '../../geo/geohash.js';
import { type Point, readPoint } from '../../geo/point.js';
import { isWellFormed } from '../../keys/escape.js';
import { INDEXES } from '../../keys/indexes.js';
import type { Keyspace } from '../../keys/keyspace.js';
import { checkPlaceFits, readPlace } from '../../keys/place.js';
import { readMarkerKey } from '../../keys/validate.js';
import type { Collection } from '../../model/collection.js';
import type { MapMarker, Marker, Properties } from '../../model/marker.js';
import type { Place } from '../../model/place.js';
import type { Item } from '../database.js';
import { MAX_ITEM_BYTES, itemBytes, valueBytes } from '../request/item-size.js';
import { newUuid } from './marker-keys.js';
import { checkNumber, readProperties } from './properties.js';
import { DRAWN_ATTRIBUTES } from '../table/table-definitions.js';

/** Properties below this size stand in the index whole, so that viewports never read the base item for them. */
const SMALL_PROPERTIES_BYTES = 256;
const LIFE_BYTES = 6;

/** What a client says of a new marker; everything is checked, whatever the types promise. */
export interface MarkerInput {
  readonly key?: string | null | undefined;
  readonly position: Point;
  readonly name?: string | null | undefined;
  readonly category?: string | null | undefined;
  readonly properties?: Properties | null | undefined;
  readonly place?: readonly string[] | null | undefined;
}

/** What a client says of a marker that is there: what is left out stays, and null takes away what may be missing. */
export type MarkerUpdate = Partial<Omit<MarkerInput, 'key' | 'position'>> & {
  readonly position?: Point | null | undefined;
};

/** What people say of a marker, checked. */
interface Content {
  readonly position: Point;
  readonly name: string | null;
  readonly category: string | null;
  readonly properties: Properties;
  readonly place: Place;
}

function readText(field: string, value: unknown): string | null {
  if (value === undefined || value === null) return null;
  if (typeof value !== 'string' || !isWellFormed(value)) throw badInput(field, value, 'text of Unicode characters');
  return value;
}

/** A position that DynamoDB gives back as it was given. */
function readPosition({ lng, lat }: Point): Point {
  const position = readPoint('position', lng, lat);
  checkNumber('position.lng', position.lng);
  checkNumber('position.lat', position.lat);
  return position;
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

/** Attributes that follow from a marker's content, whether or not this one has them. Those of its geo index come to it. */
const CONTENT_ATTRIBUTES = [
  'lng',
  'lat',
  'name',
  'category',
  'm',
  'mc',
  'properties',
  'place',
  INDEXES.place.pk,
  INDEXES.place.sk,
] as const;
const { geoA, geoB } = INDEXES;
const GEO_ATTRIBUTES: readonly string[] = [geoA.pk, geoA.sk, geoB.pk, geoB.sk];

/** What an item says of its marker, by attribute; of the slots of the geo index only that which it stands in. */
const attributesOf = (content: Item): readonly string[] => [
  ...CONTENT_ATTRIBUTES,
  ...GEO_ATTRIBUTES.filter((name) => content[name] !== undefined),
];

/** These attributes of a marker with this content; texts that are null and an empty place are left out. */
function contentItem(keys: Keyspace, collection: Collection, key: string, content: Content): Item {
  const { position, name, category, properties, place } = content;
  const { prefixLength, writeShards, geoSlot, mapProperties } = collection;
  const scope = keys.scope(collection);
  checkPlaceFits(place, key);
  return {
    lng: position.lng,
    lat: position.lat,
    name: name ?? undefined,
    category: category ?? undefined,
    place: place.length === 0 ? undefined : place,
    // Behind what is written out: an object that begins with a spread takes V8 twice as long to make.
    ...keys.geoEntry({
      scope,
      key,
      geohash: encode(position, LONGEST_Z),
      prefixLength,
      writeShards,
      geoSlot,
    }),
    ...(place.length === 0 ? {} : keys.placeEntry(scope, key, place)),
    ...layProperties(properties, mapProperties),
  };
}

function checkSize(item: Item): void {
  const bytes = itemBytes(item);
  if (bytes > MAX_ITEM_BYTES) {
    throw badInput(
      'properties',
      `${bytes} bytes`,
      `small enough for the whole marker to stay under ${MAX_ITEM_BYTES} bytes`,
    );
  }
}

/**
 * The item of a new marker, its index entries included, ready to be put. `now` is RFC 3339 in UTC. Throws BAD_USER_INPUT
 * naming the field that is wrong: the key, the position, texts, properties, the place, or all of it where it is over
 * 400 KB.
 */
export function newMarkerItem(
  { keys }: { readonly keys: Keyspace },
  collection: Collection,
  input: MarkerInput,
  now: string,
): Item {
  const key = readMarkerKey('key', input.key);
  const { pk, sk } = keys.marker(keys.scope(collection), key);
  const item: Item = {
    pk,
    sk,
    mv: 1,
    version: 1,
    createdAt: now,
    updatedAt: now,
    // Of two markers that had the same key one after the other, whatever their clocks said: see `life` in docs/keys.md.
    life: randomBytes(LIFE_BYTES).toString('base64url'),
    globalId: collection.globalIds ? newUuid() : undefined,
    ...contentItem(keys, collection, key, {
      position: readPosition(input.position),
      name: readText('name', input.name),
      category: readText('category', input.category),
      properties: readProperties('properties', input.properties ?? {}),
      place: readPlace('place', input.place),
    }),
  };
  checkSize(item);
  return item;
}

/** The item as DynamoDB gives it back: no undefined values, and -0 is 0. */
const stored = (item: Item): Item => JSON.parse(JSON.stringify(item)) as Item;
const number = (value: unknown): number => (typeof value === 'number' ? value : 0);

/**
 * What takes the place of a marker's item for it to say what `content` says: its life, the time it was made and whatever
 * else stands there are kept, its versions count on. The map version is raised only where something changes that a geo
 * index holds. What `content` leaves out is gone.
 */
function successor(found: Item, content: Item, now: string): Item {
  const says = stored(content);
  const attributes = attributesOf(says);
  const drawn = attributes.filter((name) => DRAWN_ATTRIBUTES.includes(name) || GEO_ATTRIBUTES.includes(name));
  const redrawn = drawn.some((name) => !isDeepStrictEqual(found[name], says[name]));
  const kept = Object.entries(found).filter(([name]) => !attributes.includes(name));
  return {
    ...Object.fromEntries(kept),
    ...says,
    mv: number(found['mv']) + (redrawn ? 1 : 0),
    version: number(found['version']) + 1,
    updatedAt: now,
  };
}

/**
 * What has to stand in the place of `found` for it to say what `made` (by `newMarkerItem`) says; undefined where it does
 * already.
 */
export function replacedMarkerItem(found: Item, made: Item): Item | undefined {
  const says = stored(made);
  const attributes = attributesOf(says);
  if (attributes.every((name) => isDeepStrictEqual(found[name], says[name]))) return undefined;
  const content = Object.fromEntries(attributes.map((name) => [name, says[name]]));
  return successor(found, content, String(made['updatedAt']));
}

/**
 * The item of a marker after an update. Throws BAD_USER_INPUT naming the field that is wrong; gives undefined where the
 * item that was found is no marker.
 */
export function updatedMarkerItem(
  { keys }: { readonly keys: Keyspace },
  collection: Collection,
  found: Item,
  update: MarkerUpdate,
  now: string,
): Item | undefined {
  const marker = markerFromBase(keys, found, collection);
  if (marker === undefined) return undefined;
  const { position, name, category, properties, place } = update;
  if (position === null) throw badInput('position', position, 'a position, or left out');
  const content: Content = {
    position: position === undefined ? marker.position : readPosition(position),
    name: name === undefined ? marker.name : readText('name', name),
    category: category === undefined ? marker.category : readText('category', category),
    properties: properties === undefined ? marker.properties : readProperties('properties', properties ?? {}),
    place: place === undefined ? marker.place : readPlace('place', place),
  };
  const next = successor(found, contentItem(keys, collection, marker.key, content), now);
  checkSize(next);
  return next;
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
const isText = (value: unknown) => typeof value === 'string';

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
  const { version, createdAt, updatedAt, place, globalId } = item;
  return {
    ...drawn,
    properties: drawn.complete ? drawn.mapProperties : object(item['properties']),
    place: Array.isArray(place) && place.every(isText) ? place : [],
    globalId: text(globalId),
    life: text(item['life']) ?? '',
    version: typeof version === 'number' ? version : 0,
    createdAt: text(createdAt) ?? '',
    updatedAt: text(updatedAt) ?? '',
  };
}
