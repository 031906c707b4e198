import type { Bounds } from '../../geo/bounds.js';
import type { Cover } from '../../geo/zone-cover.js';
import type { Keyspace } from '../../keys/keyspace.js';
import type { Collection } from '../../model/collection.js';
import type { Properties, StoredGeometry, Zone } from '../../model/marker.js';
import type { Item } from '../database.js';
import { newIncarnation } from '../marker/marker-keys.js';
import { checkItemSize } from '../request/item-size.js';

/** The validated content of a zone. */
export interface ZoneContent {
  readonly name: string | null;
  readonly properties: Properties;
}

/** The location of a zone, as stored in its item. */
export interface ZonePlace {
  readonly bounds: Bounds;
  readonly covers: readonly Cover[];
  readonly geometry: StoredGeometry;
}

const contentAttributes = ({ name, properties }: ZoneContent): Item => ({ name: name ?? undefined, properties });

/** DynamoDB refuses numbers closer to zero. */
const NEAR_ZERO = 1e-130;
const storable = (degrees: number) => (Math.abs(degrees) < NEAR_ZERO ? 0 : degrees);

/** A bounding box as a map of numbers that DynamoDB accepts. */
const boxAttribute = ({ west, south, east, north }: Bounds): Item => ({
  west: storable(west),
  south: storable(south),
  east: storable(east),
  north: storable(north),
});

function placeAttributes({ bounds, covers, geometry }: ZonePlace): Item {
  return { bounds: boxAttribute(bounds), cells: covers.map(({ geohash }) => geohash), geometry: { ...geometry } };
}

function sized(item: Item): Item {
  checkItemSize(item, 'zone', 'properties');
  return item;
}

/** A zone to be created. */
interface NewZone {
  readonly collection: Collection;
  readonly key: string;
  readonly content: ZoneContent;
  readonly place: ZonePlace;
  /** RFC 3339 in UTC. */
  readonly now: string;
}

/** The item of a new zone. Throws BAD_USER_INPUT if it exceeds 400 KB. */
export function newZoneItem(keys: Keyspace, { collection, key, content, place, now }: NewZone): Item {
  return sized({
    ...keys.zone(keys.scope(collection), key),
    version: 1,
    // Distinguishes the covers of successive zones with the same key.
    life: newIncarnation(),
    createdAt: now,
    updatedAt: now,
    ...contentAttributes(content),
    ...placeAttributes(place),
  });
}

/** The next state of a zone's item; it keeps its geometry if `place` is undefined. Throws like `newZoneItem`. */
export function updatedZoneItem(found: Item, content: ZoneContent, place: ZonePlace | undefined, now: string): Item {
  return sized({
    ...found,
    ...contentAttributes(content),
    ...(place === undefined ? {} : placeAttributes(place)),
    version: Number(found['version']) + 1,
    updatedAt: now,
  });
}

/** The items of a zone's covers, one per covering cell; `zone` is its item. */
export function coverItems(
  keys: Keyspace,
  collection: Collection,
  key: string,
  covers: readonly Cover[],
  zone: Item,
): Item[] {
  const scope = keys.scope(collection);
  return covers.map(({ geohash, box }) => ({
    ...keys.zoneCover(scope, key, geohash),
    ...keys.zoneEntry(scope, key, geohash),
    // Projected by the index, so that most zones can be ruled out for a position without reading them.
    m: boxAttribute(box),
    mv: zone['version'],
    of: zone['life'],
  }));
}

/** Keys of the items of a zone's covers, with the incarnation of the zone. */
export function coverKeys(keys: Keyspace, { scope, key, cells, incarnation }: Zone): Item[] {
  return cells.map((geohash) => ({ ...keys.zoneCover(scope, key, geohash), of: incarnation }));
}

const text = (value: unknown) => (typeof value === 'string' ? value : undefined);
const isObject = (value: unknown): value is Item => typeof value === 'object' && value !== null;

function boundsOf(value: unknown): Bounds | undefined {
  if (!isObject(value)) return undefined;
  const { west, south, east, north } = value;
  const all = [west, south, east, north].every((edge) => typeof edge === 'number');
  return all ? ({ west, south, east, north } as Bounds) : undefined;
}

function geometryOf(value: unknown): StoredGeometry | undefined {
  if (!isObject(value)) return undefined;
  const { vertices, sha256, bytes, jsonBytes, body, object } = value;
  if (typeof sha256 !== 'string' || typeof jsonBytes !== 'number') return undefined;
  return {
    vertices: Number(vertices),
    sha256,
    bytes: Number(bytes),
    jsonBytes,
    body: body instanceof Uint8Array ? body : undefined,
    object: text(object),
  };
}

/** A zone from its item; undefined if the item is invalid, for example written by hand. */
export function zoneFromItem(keys: Keyspace, item: Item, collection: string): Zone | undefined {
  const { pk, sk, name, properties, bounds, cells, geometry, life, version } = item;
  const own = keys.parseZone({ pk: String(pk), sk: String(sk) });
  const around = boundsOf(bounds);
  const stored = geometryOf(geometry);
  if (own === undefined || around === undefined || stored === undefined || !Array.isArray(cells)) return undefined;
  return {
    collection,
    ...own,
    name: text(name) ?? null,
    properties: isObject(properties) ? properties : {},
    bounds: around,
    cells: cells.map(String),
    geometry: stored,
    incarnation: text(life) ?? '',
    version: typeof version === 'number' ? version : 0,
  };
}

/** A zone's entry in the geo index. */
export interface ZoneEntry {
  readonly key: string;
  /** Bounding box of the part of the zone in the entry's cell. */
  readonly box: Bounds;
}

/** A zone's entry from an item of the geo index; undefined if the item is invalid. */
export function zoneEntryOf(keys: Keyspace, item: Item): ZoneEntry | undefined {
  const { pk, sk, m } = item;
  const name = keys.parseZoneCover({ pk: String(pk), sk: String(sk) });
  const box = boundsOf(m);
  return name && box && { key: name.key, box };
}
