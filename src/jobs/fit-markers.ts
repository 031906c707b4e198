import { isDeepStrictEqual } from 'node:util';

import { CellportError, ifRefused, notFound } from '../errors.js';
import { GEO_ATTRIBUTES } from '../keys/indexes.js';
import { hasSameNames, otherLayout, writtenMapProperties, type Collection } from '../model/collection.js';
import { pickProperties, type Properties } from '../model/marker.js';
import type { Call, Item } from '../store/database.js';
import { geoAttributes, positionOf } from '../store/marker/marker-item.js';
import { batchGet } from '../store/request/batches.js';
import { changeItem, readItem, updateTo } from '../store/request/conditional-write.js';
import { failureOf, isFailure } from '../store/request/failures.js';
import { checkItemSize, itemBytes, MAX_ITEM_BYTES } from '../store/request/item-size.js';
import { mapConcurrently, retryInBackground } from '../store/request/pacing.js';
import { send } from '../store/request/send.js';
import { itemOf, type WireMap } from '../store/request/wire.js';
import type { Phase } from './layout-phase.js';

/**
 * Gives a marker the entries in the geo indexes that a writer of this collection would give it, and no others; `found`
 * is its item or an entry of it. Nothing else changes, its version included: the write requires only the position from
 * which the entries follow. Returns whether it changed anything: not if the marker is gone, invalid, or has those
 * entries.
 */
export async function relocateMarker(call: Call, collection: Collection, found: Item): Promise<boolean> {
  const { keys, tables } = call.db;
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
    await send(call, 'update', request);
    return true;
  } catch (error) {
    if (!isFailure(error, 'ConditionalCheckFailedException')) throw error;
    call.meter.writes += 1;
    const { Item: wire } = failureOf(error);
    if (wire === undefined) return false;
    const now = itemOf(wire as WireMap);
    // The entry that was read was older than the marker's last move.
    const moved = now['lng'] !== lng || now['lat'] !== lat;
    return moved ? relocateMarker(call, collection, now) : false;
  }
}

/** A marker's item with the map properties that a writer gives it; the same item if it has them. */
function redrawn(collection: Collection, found: Item): Item {
  const { m, mc, properties } = found;
  // Otherwise all properties are in `m`.
  if (mc !== false || typeof properties !== 'object' || properties === null) return found;
  const picked = pickProperties(properties as Properties, writtenMapProperties(collection));
  if (isDeepStrictEqual(picked, m)) return found;
  const next = { ...found, m: picked };
  checkItemSize(next, 'marker', 'properties');
  return next;
}

/**
 * Gives a marker the map properties that a writer of this collection would give it; `found` is its item. Its versions
 * stay as they are: of two copies with the same map version, both have what readers may rely on. Returns whether it
 * changed anything. Throws BAD_USER_INPUT if the marker would become too large.
 */
export async function redrawMarker(call: Call, collection: Collection, found: Item): Promise<boolean> {
  const decide = (current: Item | undefined) => {
    if (current === undefined) throw notFound('marker', String(found['pk']));
    return { found: current, next: redrawn(collection, current) };
  };
  const changed = changeItem(call, async () => found, decide).then(({ before, after }) => before !== after);
  return changed.catch(ifRefused(() => false, 'NOT_FOUND'));
}

const MARKERS_AT_A_TIME = 16;

/** Whether a marker would become too large, by our rules or by DynamoDB's. */
const isTooLarge = (error: unknown): boolean =>
  (error instanceof CellportError && error.code === 'BAD_USER_INPUT') ||
  (isFailure(error, 'ValidationException') && /item size/i.test(String((error as Error).message)));

/** LIMIT_EXCEEDED that names the marker that has no room for what a phase adds. */
async function tooLarge({ collection, call }: Phase, item: Item, cause: unknown): Promise<CellportError> {
  const own = { pk: String(item['pk']), sk: String(item['sk']) };
  const marker = call.db.keys.parseMarker(own)?.key ?? own.pk;
  const bytes = itemBytes((await readItem(call, own)) ?? {});
  const message =
    `marker ${marker} of collection ${collection.key} has ${bytes} of at most ${MAX_ITEM_BYTES} bytes, too many for what ` +
    'the change adds to it; make its properties smaller and resume, or undo the change';
  return new CellportError(
    'LIMIT_EXCEEDED',
    message,
    { collection: collection.key, marker, bytes, limit: MAX_ITEM_BYTES },
    { cause },
  );
}

async function fitEach(now: Phase, items: readonly Item[], fit: (item: Item) => Promise<boolean>): Promise<number> {
  const { signal } = now.call;
  async function fitOne(item: Item): Promise<boolean> {
    try {
      return await retryInBackground(() => fit(item), signal);
    } catch (error) {
      throw isTooLarge(error) ? await tooLarge(now, item, error) : error;
    }
  }
  return (await mapConcurrently(items, MARKERS_AT_A_TIME, fitOne)).filter(Boolean).length;
}

/** Gives markers the entries in the geo indexes of the phase, and no others. */
async function relocate(now: Phase, entries: readonly Item[]): Promise<number> {
  const { collection, call } = now;
  if (otherLayout(collection) === undefined) return 0;
  return fitEach(now, entries, (entry) => relocateMarker(call, collection, entry));
}

/** Gives markers the map properties of the phase; those are not read of which the index has all properties. */
async function redraw(now: Phase, entries: readonly Item[]): Promise<number> {
  const { collection, change, call } = now;
  if (hasSameNames(collection.mapProperties, change.mapProperties)) return 0;
  const keys = entries.filter(({ mc }) => mc !== true).map(({ pk, sk }) => ({ pk: String(pk), sk: String(sk) }));
  const read = () => batchGet(call, call.db.tables.entities, keys, { consistent: true });
  const items = (await retryInBackground(read, call.signal)).filter((item) => item !== undefined);
  return fitEach(now, items, (item) => redrawMarker(call, collection, item));
}

/**
 * Gives markers what the phase requires, by their entries in an index; returns how many writes that took. At any moment,
 * a marker that has both sets of map properties is in both indexes if there are two, so that a walk over the one to be
 * emptied finds it, also after a kill or when the change is undone.
 */
export async function fitMarkers(now: Phase, entries: readonly Item[]): Promise<number> {
  if (now.change.phase === 'FILL') return (await relocate(now, entries)) + (await redraw(now, entries));
  return (await redraw(now, entries)) + (await relocate(now, entries));
}
