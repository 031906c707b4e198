import { CellportError, notFound } from '../../errors.js';
import type { PartitionRange } from '../../keys/keyspace.js';
import { readMarkerKey } from '../../keys/validate.js';
import type { Collection } from '../../model/collection.js';
import type { Properties, Zone } from '../../model/marker.js';
import type { ObjectStore } from '../../objects/object-store.js';
import type { Call, Database, Item } from '../database.js';
import { checkKeyGiven, LONGEST_OWN_KEY, takeKeys } from '../marker/marker-keys.js';
import { readOptionalText, readShown } from '../marker/properties.js';
import { deleteReadItems } from '../request/batches.js';
import { putIfAbsentRequest, readItem } from '../request/conditional-write.js';
import { transact } from '../request/transact.js';
import { queryResponse, queryResponses } from '../table/query-responses.js';
import {
  checkRoom,
  dropGeometry,
  placeGeometry,
  prepareGeometry,
  scopeOfObject,
  type PreparedGeometry,
} from './zone-geometry.js';
import {
  coverItems,
  coverKeys,
  newZoneItem,
  zoneEntryOf,
  zoneFromItem,
  type ZoneContent,
  type ZoneEntry,
} from './zone-item.js';

/** A new zone as a client describes it. Everything is checked at run time, too. */
export interface ZoneInput extends ZoneUpdate {
  readonly key?: string | null | undefined;
  readonly geometry: unknown;
}

/** Changes to a zone: what is omitted stays as it is, and null removes what is optional. */
export interface ZoneUpdate {
  readonly name?: string | null | undefined;
  readonly properties?: Properties | null | undefined;
  readonly geometry?: unknown;
}

/** As long as the longest name of an object. */
const LONGEST_OBJECT_NAME = 'x'.repeat(400);

/** A zone to be written: checked, and its geometry compressed. */
export interface ZoneDraft extends ZoneContent {
  readonly geometry: PreparedGeometry;
}

/**
 * Checks a zone without any request to the database. Throws BAD_USER_INPUT naming the field, or LIMIT_EXCEEDED if the
 * geometry needs an object store and there is none.
 */
export async function draftZone(
  database: Database,
  collection: Collection,
  key: string,
  { name, properties, geometry }: ZoneUpdate,
): Promise<ZoneDraft> {
  const content: ZoneContent = {
    name: readOptionalText('name', name),
    properties: readShown(collection, 'properties', properties ?? {}),
  };
  const prepared = await prepareGeometry(geometry, database.scheduler.takeTurn);
  const { bounds, covers, stored } = prepared;
  const inline = prepared.body.length <= database.geometry.inlineBytes;
  const expected = inline
    ? { body: prepared.body, object: undefined }
    : { body: undefined, object: LONGEST_OBJECT_NAME };
  const place = { bounds, covers, geometry: { ...stored, ...expected } };
  newZoneItem(database.keys, { collection, key, content, place, now: '' });
  checkRoom(database.geometry, prepared);
  return { ...content, geometry: prepared };
}

/** Names a zone that may exist. */
export interface ZoneReference {
  readonly collection: Collection;
  readonly key: string;
}

/** The item of a zone, strongly consistent. */
export const readZoneItem = (call: Call, { collection, key }: ZoneReference) =>
  readItem(call, call.db.keys.zone(call.db.keys.scope(collection), key));

/** A zone with its item. Throws NOT_FOUND if there is no valid one. */
export function requireZone(database: Database, { collection, key }: ZoneReference, item: Item | undefined) {
  const zone = item && zoneFromItem(database.keys, item, collection.key);
  if (item === undefined || zone === undefined) throw notFound('zone', key);
  return { item, zone };
}

function conflict({ collection, key }: ZoneReference): CellportError {
  return new CellportError('CONFLICT', `collection ${collection.key} already has a zone ${JSON.stringify(key)}`, {
    collection: collection.key,
    key,
  });
}

/** Writes a zone that does not exist yet, and returns its item; undefined if it exists. */
export async function insertZone(
  call: Call,
  { collection, key }: ZoneReference,
  { geometry: prepared, ...content }: ZoneDraft,
  now: string,
): Promise<Item | undefined> {
  const { bounds, covers } = prepared;
  const { keys, tables } = call.db;
  const table = tables.entities;
  const geometry = await placeGeometry(call.db, keys.scope(collection), prepared);
  const item = newZoneItem(keys, { collection, key, content, place: { bounds, covers, geometry }, now });
  const puts = coverItems(keys, collection, key, covers, item).map((cover) => ({ TableName: table, Item: cover }));
  const writes = [putIfAbsentRequest(table, item), ...puts].map((Put) => ({ Put }));
  const refused = await transact(call, writes);
  if (refused.length === 0) return item;
  await dropGeometry(call.db.geometry, geometry);
  return undefined;
}

/**
 * Creates a zone: its item and at most 16 covers in one transaction, after the object of its geometry if that is large.
 * `now` is RFC 3339 in UTC. Throws BAD_USER_INPUT naming the field, LIMIT_EXCEEDED if the geometry needs an object store
 * and there is none, or CONFLICT if the key is taken.
 */
export async function createZone(call: Call, collection: Collection, input: ZoneInput, now: string): Promise<Zone> {
  const given = collection.idStrategy === 'GIVEN';
  checkKeyGiven(collection, input.key);
  const longest = given ? readMarkerKey('key', input.key) : LONGEST_OWN_KEY;
  // Throws for what is too large before anything is written.
  const draft = await draftZone(call.db, collection, longest, input);
  const [key = longest] = given ? [] : await takeKeys(call, collection, 1, 'zone');
  const reference = { collection, key };
  const item = await insertZone(call, reference, draft, now);
  if (item === undefined) throw conflict(reference);
  return requireZone(call.db, reference, item).zone;
}

/** The covers in a range of the geo index, from one Query per MB; undefined if there are more than `most`. */
export async function readZoneEntries(
  call: Call,
  range: PartitionRange,
  most: number,
): Promise<ZoneEntry[] | undefined> {
  const entries: ZoneEntry[] = [];
  for await (const items of queryResponses(call, { index: 'geoA', ...range }, most + 1)) {
    entries.push(...items.flatMap((item) => zoneEntryOf(call.db.keys, item) ?? []));
  }
  return entries.length > most ? undefined : entries;
}

/** Some of a collection's zones in key order, from one Query; `next` is the key after which there may be more. */
export async function queryZones(
  call: Call,
  collection: Collection,
  { after, limit, consistent = false }: { after: string | undefined; limit: number; consistent?: boolean },
): Promise<{ readonly items: readonly Item[]; readonly zones: readonly Zone[]; readonly next: string | undefined }> {
  const { keys } = call.db;
  const scope = keys.scope(collection);
  const behind = after === undefined ? undefined : keys.zone(scope, after).sk;
  const range = { index: 'entities', pk: keys.zonesPartition(scope), behind, limit, consistent } as const;
  const { Items = [], LastEvaluatedKey } = await queryResponse(call, range);
  const zones = Items.flatMap((item) => zoneFromItem(keys, item, collection.key) ?? []);
  const last =
    LastEvaluatedKey && keys.parseZone({ pk: String(LastEvaluatedKey['pk']), sk: String(LastEvaluatedKey['sk']) });
  return { items: Items, zones, next: last?.key };
}

const ZONES_AT_A_TIME = 100;
/** Leftovers of interrupted puts, by the names that a folder of objects gives them: other files may be those of others. */
const HALF_WRITTEN = /^\.writing\/[\da-f]{8}(?:-[\da-f]{4}){3}-[\da-f]{12}$/;
/** Number of objects compared with items at a time. */
const OBJECTS_AT_A_TIME = 10_000;

/**
 * Removes all zones of a collection that is no longer written to, each after its covers and before its object. Whatever
 * an interruption leaves is found by a later run, or by a sweep in the case of objects. Items are removed only in the
 * incarnation that was read.
 */
export async function removeZones(call: Call, collection: Collection): Promise<void> {
  let after: string | undefined;
  do {
    const some = { after, limit: ZONES_AT_A_TIME, consistent: true };
    const { items, zones, next } = await queryZones(call, collection, some);
    await deleteReadItems(
      call,
      zones.flatMap((zone) => coverKeys(call.db.keys, zone)),
    );
    await deleteReadItems(call, items);
    for (const { geometry } of zones) await dropGeometry(call.db.geometry, geometry);
    after = next;
  } while (after !== undefined);
}

/** Names of the objects for a collection's zones. */
async function objectsIn(call: Call, scope: string): Promise<Set<string>> {
  const names = new Set<string>();
  const pk = call.db.keys.zonesPartition(scope);
  const attributes = ['geometry.object'];
  for await (const items of queryResponses(call, { index: 'entities', pk, consistent: true, attributes })) {
    for (const { geometry } of items) {
      const { object } = (geometry ?? {}) as { readonly object?: unknown };
      if (typeof object === 'string') names.add(object);
    }
  }
  return names;
}

/** The result of a sweep: the number of this table's objects checked, and the number of those that no zone refers to. */
interface Swept {
  readonly objects: number;
  readonly orphans: number;
}

/**
 * Removes this table's objects that no zone refers to and that are older than `before`, which must be longer ago than
 * any request lasts, because a request may be about to write the item for its object. Items are read after the objects
 * are listed, by Query, one collection after the other. Objects left by interrupted puts are also removed. With
 * `isTrial`, removes nothing.
 */
export async function sweepObjects(call: Call, objects: ObjectStore, before: Date, isTrial = false): Promise<Swept> {
  let looked = 0;
  let orphans = 0;
  let byScope = new Map<string, string[]>();
  let collected = 0;
  const compare = async () => {
    for (const [scope, names] of byScope) {
      const used = await objectsIn(call, scope);
      for (const name of names) {
        if (used.has(name)) continue;
        if (!isTrial) await objects.remove(name);
        orphans += 1;
      }
    }
    byScope = new Map();
    collected = 0;
  };
  for await (const { name, modifiedAt } of objects.list()) {
    call.signal?.throwIfAborted();
    const scope = scopeOfObject(call.db.tables, name);
    if (scope !== undefined) looked += 1;
    if (modifiedAt >= before) continue;
    if (HALF_WRITTEN.test(name) && !isTrial) await objects.remove(name);
    if (scope === undefined) continue;
    const names = byScope.get(scope) ?? [];
    byScope.set(scope, names);
    names.push(name);
    collected += 1;
    if (collected >= OBJECTS_AT_A_TIME) await compare();
  }
  await compare();
  return { objects: looked, orphans };
}
