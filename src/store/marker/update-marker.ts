import { notFound } from '../../errors.js';
import { isInRows } from '../../model/grant.js';
import type { Database, Item } from '../database.js';
import { changeItem, checkVersion, readItem } from '../request/conditional-change.js';
import type { Call } from '../request/meter.js';
import { checkMarkerBytes, markerFromBase, type MarkerUpdate } from './marker-item.js';
import { updatedMarkerItem } from './marker-update.js';
import type { MarkerReference, MarkerWrite } from './markers.js';

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
  database: Database,
  reference: MarkerReference,
  update: MarkerUpdate,
  { now, expectedVersion }: { readonly now: string; readonly expectedVersion?: number | null | undefined },
  call: Call,
): Promise<MarkerWrite> {
  const { collection, key } = reference;
  const { keys } = database;
  const change = await changeItem(
    database,
    () => readItem(database, keys.marker(keys.scope(collection), key), call),
    async (current) => {
      const { item } = requireMarker(database, reference, current);
      checkVersion(describeMarker(reference), item, expectedVersion);
      const next = updatedMarkerItem(database, collection, item, update, now);
      // Nor may it leave what the principal may change.
      const { item: updated } = requireMarker(database, reference, next);
      checkMarkerBytes(collection, updated, item);
      await collection.grant?.admit?.(() => [{ before: item, after: updated }]);
      return { found: item, next: updated };
    },
    call,
  );
  return { ...change, marker: requireMarker(database, reference, change.after).marker };
}
