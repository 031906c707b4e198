import { CellportError, notFound } from '../../errors.js';
import { readMarkerKey } from '../../keys/validate.js';
import type { Collection } from '../../model/collection.js';
import type { Zone } from '../../model/zone.js';
import type { Database, Item } from '../database.js';
import { checkKeyGiven, takeKeys } from '../marker/marker-keys.js';
import { readItem } from '../request/conditional-change.js';
import { putIfAbsentRequest } from '../request/conditional-put.js';
import type { Call } from '../request/meter.js';
import { transact } from '../request/transact.js';
import { draftZone, type ZoneDraft, type ZoneInput } from './zone-draft.js';
import { dropGeometry, placeGeometry } from './zone-geometry.js';
import { coverItems, newZoneItem, zoneFromItem } from './zone-item.js';

/** Names a zone that may exist. */
export interface ZoneReference {
  readonly collection: Collection;
  readonly key: string;
}

/** The item of a zone, strongly consistent. */
export const readZoneItem = (database: Database, { collection, key }: ZoneReference, call: Call) =>
  readItem(database, database.keys.zone(database.keys.scope(collection), key), call);

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

/** As long as the longest key that a collection generates. */
const LONGEST_OWN_KEY = 'x'.repeat(36);

/** Writes a zone that does not exist yet, and returns its item; undefined if it exists. */
export async function insertZone(
  database: Database,
  { collection, key }: ZoneReference,
  { geometry: prepared, ...content }: ZoneDraft,
  now: string,
  call: Call,
): Promise<Item | undefined> {
  const { bounds, covers } = prepared;
  const { keys, tables } = database;
  const table = tables.entities;
  const geometry = await placeGeometry(database, keys.scope(collection), prepared);
  const item = newZoneItem(keys, { collection, key, content, place: { bounds, covers, geometry }, now });
  const puts = coverItems(keys, collection, key, covers, item).map((cover) => ({ TableName: table, Item: cover }));
  const writes = [putIfAbsentRequest(table, item), ...puts].map((Put) => ({ Put }));
  const refused = await transact(database, writes, call);
  if (refused.length === 0) return item;
  await dropGeometry(database.geometry, geometry);
  return undefined;
}

/**
 * Creates a zone: its item and at most 16 covers in one transaction, after the object of its geometry if that is large.
 * `now` is RFC 3339 in UTC. Throws BAD_USER_INPUT naming the field, LIMIT_EXCEEDED if the geometry needs an object store
 * and there is none, or CONFLICT if the key is taken.
 */
export async function createZone(
  database: Database,
  collection: Collection,
  input: ZoneInput,
  now: string,
  call: Call,
): Promise<Zone> {
  const given = collection.idStrategy === 'GIVEN';
  checkKeyGiven(collection, input.key);
  const longest = given ? readMarkerKey('key', input.key) : LONGEST_OWN_KEY;
  // Throws for what is too large before anything is written.
  const draft = await draftZone(database, collection, longest, input);
  const [key = longest] = given ? [] : await takeKeys(database, collection, 1, call, 'zone');
  const reference = { collection, key };
  const item = await insertZone(database, reference, draft, now, call);
  if (item === undefined) throw conflict(reference);
  return requireZone(database, reference, item).zone;
}
