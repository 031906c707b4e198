import { isDeepStrictEqual } from 'node:util';

import { notFound } from '../../errors.js';
import { GEO_ATTRIBUTES, INDEXES } from '../../keys/indexes.js';
import type { Keyspace } from '../../keys/keyspace.js';
import { readPlace } from '../../keys/place.js';
import type { Collection } from '../../model/collection.js';
import { hiddenOf, isInRows } from '../../model/grant.js';
import type { Call, Database, Item } from '../database.js';
import { changeItem, checkVersion, readItem } from '../request/conditional-write.js';
import { checkItemSize, wireBytes } from '../request/item-size.js';
import { DRAWN_ATTRIBUTES } from '../table/table-definitions.js';
import {
  checkMarkerBytes,
  contentAttributes,
  keyAttributes,
  markerFromBase,
  readPosition,
  type Content,
  type MarkerUpdate,
} from './marker-item.js';
import type { MarkerReference, MarkerWrite } from './markers.js';
import { readOptionalText, readShown } from './properties.js';

/** Attributes derived from a marker's content alone. */
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
const GEO_INDEXES = [INDEXES.geoA, INDEXES.geoB] as const;
/** Everything that a writer derives; entries in a geo index that the collection's layout does not need are removed. */
const ATTRIBUTES: readonly string[] = [...CONTENT_ATTRIBUTES, ...GEO_ATTRIBUTES];
const OWN_ATTRIBUTES = ['pk', 'sk', 'mv', 'version', 'createdAt', 'updatedAt', 'life', INDEXES.global.pk];
/** All that a marker's item has; others may add more. */
export const MARKER_ATTRIBUTES: readonly string[] = [...OWN_ATTRIBUTES, ...ATTRIBUTES];

/** The size of a marker's item in wire format, in bytes, without what others have added to it. */
export function markerBytes(image: Readonly<Record<string, Readonly<Record<string, unknown>> | undefined>>): number {
  let bytes = 0;
  for (const name of MARKER_ATTRIBUTES) {
    const value = image[name];
    if (value !== undefined) bytes += name.length + wireBytes(value);
  }
  return bytes;
}

/** The item as DynamoDB returns it: without undefined values, and with 0 for -0. */
const stored = (item: Item): Item => JSON.parse(JSON.stringify(item)) as Item;
const number = (value: unknown): number => (typeof value === 'number' ? value : 0);

/** These attributes, with the entries of a marker that stays where it is in their partitions: only others are spread. */
function inPlace(found: Item, says: Item): Item {
  if (found['lng'] !== says['lng'] || found['lat'] !== says['lat']) return says;
  const stay = GEO_INDEXES.filter(({ pk, sk }) => {
    return says[pk] !== undefined && found[pk] !== undefined && says[sk] === found[sk];
  });
  return { ...says, ...Object.fromEntries(stay.map(({ pk }) => [pk, found[pk]])) };
}

/**
 * The next state of a marker's item, with this content. Its incarnation, its creation time and attributes of others are
 * kept; content that is omitted is removed. The version is raised, and the map version only if an attribute changes
 * that a geo index projects: those with its keys follow from the position and the layout.
 */
function successor(found: Item, content: Item, now: string): Item {
  const says = inPlace(found, stored(content));
  const drawn = ATTRIBUTES.filter((name) => DRAWN_ATTRIBUTES.includes(name));
  const redrawn = drawn.some((name) => !isDeepStrictEqual(found[name], says[name]));
  const kept = Object.entries(found).filter(([name]) => !ATTRIBUTES.includes(name));
  return {
    ...Object.fromEntries(kept),
    ...says,
    mv: number(found['mv']) + (redrawn ? 1 : 0),
    version: number(found['version']) + 1,
    updatedAt: now,
  };
}

/** The next state of a marker's item, with the content of an item made by `newMarkerItem`; undefined if it has it already. */
export function replacedMarkerItem(found: Item, made: Item): Item | undefined {
  const says = inPlace(found, stored(made));
  // A marker that lacks an entry in the index to be filled, or has one in that to be drained, is left to that job.
  const hasNone = GEO_ATTRIBUTES.every((name) => says[name] === undefined && found[name] === undefined);
  const isEntered =
    hasNone ||
    GEO_INDEXES.some(({ pk, sk }) => says[pk] !== undefined && says[pk] === found[pk] && says[sk] === found[sk]);
  if (isEntered && CONTENT_ATTRIBUTES.every((name) => isDeepStrictEqual(found[name], says[name]))) return undefined;
  const content = Object.fromEntries(ATTRIBUTES.map((name) => [name, says[name]]));
  return successor(found, content, String(made['updatedAt']));
}

/** The item of a marker after an update; undefined if `found` is no marker. Throws BAD_USER_INPUT naming the field. */
export function updatedMarkerItem(
  { keys }: { readonly keys: Keyspace },
  collection: Collection,
  found: Item,
  update: MarkerUpdate,
  now: string,
): Item | undefined {
  const marker = markerFromBase(keys, found, collection.key);
  if (marker === undefined) return undefined;
  const { position, name, category, properties, place } = update;
  const content: Content = {
    position: position === undefined ? marker.position : readPosition(position),
    name: name === undefined ? marker.name : readOptionalText('name', name),
    category: category === undefined ? marker.category : readOptionalText('category', category),
    properties:
      properties === undefined
        ? marker.properties
        : { ...hiddenOf(collection, marker), ...readShown(collection, 'properties', properties ?? {}) },
    place: place === undefined ? marker.place : readPlace('place', place),
  };
  const entries = keyAttributes(keys, collection, marker.key, content.position, content.place);
  const next = successor(found, { ...contentAttributes(collection, content), ...entries }, now);
  checkItemSize(next, 'marker', 'properties');
  return next;
}

/** A marker in error messages. */
export const describeMarker = ({ key }: MarkerReference) => `marker ${JSON.stringify(key)}`;

/** The marker in its item. Throws NOT_FOUND if there is no valid one that the principal may change. */
export function requireMarker(database: Database, { collection, key }: MarkerReference, item: Item | undefined) {
  const marker = item && markerFromBase(database.keys, item, collection.key);
  if (item === undefined || marker === undefined || !isInRows(collection, marker)) throw notFound('marker', key);
  return { item, marker };
}

/**
 * Updates a marker by one conditional write that sets only attributes that differ, index keys included; `now` is RFC 3339
 * in UTC. Raises the version even if nothing differs. Throws NOT_FOUND, BAD_USER_INPUT naming the field, or CONFLICT
 * with the current version if it is not the expected one; LIMIT_EXCEEDED if it grows larger than allowed, and what
 * `Grant.admit` throws.
 */
export async function updateMarker(
  call: Call,
  reference: MarkerReference,
  update: MarkerUpdate,
  { now, expectedVersion }: { readonly now: string; readonly expectedVersion?: number | null | undefined },
): Promise<MarkerWrite> {
  const { collection, key } = reference;
  const { keys } = call.db;
  const change = await changeItem(
    call,
    () => readItem(call, keys.marker(keys.scope(collection), key)),
    async (current) => {
      const { item } = requireMarker(call.db, reference, current);
      checkVersion(describeMarker(reference), item, expectedVersion);
      const next = updatedMarkerItem(call.db, collection, item, update, now);
      // Nor may it leave what the principal may change.
      const { item: updated } = requireMarker(call.db, reference, next);
      checkMarkerBytes(collection, updated, item);
      await collection.grant?.admit?.(() => [{ before: item, after: updated }]);
      return { found: item, next: updated };
    },
  );
  return { ...change, marker: requireMarker(call.db, reference, change.after).marker };
}
