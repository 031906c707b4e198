import { GEO_ATTRIBUTES } from '../../keys/indexes.js';
import type { Collection } from '../../model/collection.js';
import type { Database, Item } from '../database.js';
import { failureOf, isFailure } from '../request/failures.js';
import type { Call } from '../request/meter.js';
import { send } from '../request/send.js';
import { type WireMap, itemOf } from '../request/wire.js';
import { geoAttributes, positionOf } from './marker-item.js';
import { updateTo } from '../request/update-expression.js';

/**
 * Gives a marker the entries in the geo indexes that a writer of this collection would give it, and no others; `found`
 * is its item or an entry of it. Nothing else changes, its version included: the write requires only the position from
 * which the entries follow. Returns whether it changed anything: not if the marker is gone, invalid, or has those
 * entries.
 */
export async function relocateMarker(
  database: Database,
  collection: Collection,
  found: Item,
  call: Call,
): Promise<boolean> {
  const { keys, tables } = database;
  const { pk, sk, lng, lat } = found;
  const key = keys.parseMarker({ pk: String(pk), sk: String(sk) })?.key;
  const position = positionOf(found);
  if (key === undefined || position === undefined) return false;
  const entries = geoAttributes(keys, collection, key, position);
  const update = updateTo(GEO_ATTRIBUTES, entries);
  const differs = GEO_ATTRIBUTES.map((name, n) =>
    entries[name] === undefined ? `attribute_exists(#${n})` : `#${n} <> :${n}`,
  );
  const request = {
    TableName: tables.entities,
    Key: { pk, sk },
    ...update,
    ConditionExpression: `lng = :lng AND lat = :lat AND (${differs.join(' OR ')})`,
    ExpressionAttributeValues: { ...update.ExpressionAttributeValues, ':lng': lng, ':lat': lat },
    ReturnValuesOnConditionCheckFailure: 'ALL_OLD' as const,
  };
  try {
    await send(database, 'update', request, call);
    return true;
  } catch (error) {
    if (!isFailure(error, 'ConditionalCheckFailedException')) throw error;
    call.meter.writes += 1;
    const { Item: wire } = failureOf(error);
    if (wire === undefined) return false;
    const now = itemOf(wire as WireMap);
    // The entry that was read was older than the marker's last move.
    const moved = now['lng'] !== lng || now['lat'] !== lat;
    return moved ? relocateMarker(database, collection, now, call) : false;
  }
}
