import { isDeepStrictEqual } from 'node:util';

import { badInput, ifRefused, notFound } from '../../errors.js';
import type { Collection } from '../../model/collection.js';
import { hiddenOf } from '../../model/grant.js';
import type { Zone } from '../../model/marker.js';
import { retry } from '../../retry.js';
import type { Call, Item } from '../database.js';
import { readOptionalText, readShown } from '../marker/properties.js';
import { asFound, changeItem, checkVersion } from '../request/conditional-write.js';
import { CONFLICT_RETRIES, TooManyUpdates } from '../request/pacing.js';
import { transact } from '../request/transact.js';
import { dropGeometry, placeGeometry, prepareGeometry, type PreparedGeometry } from './zone-geometry.js';
import { coverItems, coverKeys, updatedZoneItem, type ZoneContent } from './zone-item.js';
import { insertZone, readZoneItem, requireZone, type ZoneDraft, type ZoneReference, type ZoneUpdate } from './zones.js';

export interface ZoneChange {
  /** RFC 3339 in UTC. */
  readonly now: string;
  readonly expectedVersion?: number | null | undefined;
}

const describeZone = ({ key }: ZoneReference) => `zone ${JSON.stringify(key)}`;

function contentAfter(collection: Collection, { name, properties }: ZoneUpdate, zone: Zone): ZoneContent {
  return {
    name: name === undefined ? zone.name : readOptionalText('name', name),
    properties:
      properties === undefined
        ? zone.properties
        : { ...hiddenOf(collection, zone), ...readShown(collection, 'properties', properties ?? {}) },
  };
}

interface GeometryUpdate extends ZoneChange {
  readonly update: ZoneUpdate;
  /** The new geometry; called if there is such a zone. */
  readonly prepare: () => Promise<PreparedGeometry>;
}

/** Changes the geometry of a zone, and other fields updated with it. */
export async function updateWithGeometry(
  call: Call,
  reference: ZoneReference,
  { update, prepare, now, expectedVersion }: GeometryUpdate,
): Promise<Zone> {
  const { collection, key } = reference;
  const { keys, tables } = call.db;
  const current = async () => {
    const found = requireZone(call.db, reference, await readZoneItem(call, reference));
    checkVersion(describeZone(reference), found.item, expectedVersion);
    return found;
  };
  let before = await current();
  const prepared = await prepare();
  const { bounds, covers } = prepared;
  const geometry = await placeGeometry(call.db, keys.scope(collection), prepared);
  // Its object is removed if this fails before the item refers to it, but not if the item may have been written.
  let refused = true;
  try {
    return await retry(
      async (attempt) => {
        if (attempt > 0) before = await current();
        const next = updatedZoneItem(
          before.item,
          contentAfter(collection, update, before.zone),
          { bounds, covers, geometry },
          now,
        );
        const put = coverItems(keys, collection, key, covers, next);
        const gone = coverKeys(keys, before.zone).filter(({ sk }) => put.every((one) => one['sk'] !== sk));
        refused = false;
        const table = tables.entities;
        const writes = [
          { Put: { TableName: table, Item: next, ...asFound(before.item) } },
          ...put.map((cover) => ({ Put: { TableName: table, Item: cover } })),
          ...gone.map(({ pk, sk }) => ({ Delete: { TableName: table, Key: { pk, sk } } })),
        ];
        refused = (await transact(call, writes)).length > 0;
        if (refused) throw new TooManyUpdates();
        await dropGeometry(call.db.geometry, before.zone.geometry);
        return requireZone(call.db, reference, next).zone;
      },
      { ...CONFLICT_RETRIES, signal: call.signal },
    );
  } finally {
    if (refused) await dropGeometry(call.db.geometry, geometry);
  }
}

/**
 * Updates a zone: by one conditional write of its item, or by one transaction with its covers if its geometry changes;
 * the object of the former geometry is removed after it. Raises the version even if nothing differs. Throws NOT_FOUND,
 * BAD_USER_INPUT naming the field, or CONFLICT with the current version if it is not the expected one.
 */
export async function updateZone(
  call: Call,
  reference: ZoneReference,
  update: ZoneUpdate,
  change: ZoneChange,
): Promise<Zone> {
  if (update.geometry === null) throw badInput('geometry', null, 'a GeoJSON geometry, or omitted');
  if (update.geometry !== undefined) {
    const prepare = () => prepareGeometry(update.geometry, call.db.scheduler.takeTurn);
    return updateWithGeometry(call, reference, { update, prepare, ...change });
  }
  const { after } = await changeItem(
    call,
    () => readZoneItem(call, reference),
    (current) => {
      const { item, zone } = requireZone(call.db, reference, current);
      checkVersion(describeZone(reference), item, change.expectedVersion);
      return {
        found: item,
        next: updatedZoneItem(item, contentAfter(reference.collection, update, zone), undefined, change.now),
      };
    },
  );
  return requireZone(call.db, reference, after).zone;
}

/**
 * Deletes a zone with its covers in one transaction, and then the object of its geometry. Returns it as it was. Throws
 * NOT_FOUND, or CONFLICT with the current version if it is not the expected one.
 */
export async function deleteZone(
  call: Call,
  reference: ZoneReference,
  expectedVersion: number | null | undefined,
): Promise<Zone> {
  let incarnation: string | undefined;
  const table = call.db.tables.entities;
  return retry(
    async () => {
      const { item, zone } = requireZone(call.db, reference, await readZoneItem(call, reference));
      checkVersion(describeZone(reference), item, expectedVersion);
      // Another incarnation than the one to be deleted.
      incarnation ??= zone.incarnation;
      if (zone.incarnation !== incarnation) throw notFound('zone', reference.key);
      const keyOf = ({ pk, sk }: Item) => ({ TableName: table, Key: { pk, sk } });
      const covers = coverKeys(call.db.keys, zone).map((cover) => ({ Delete: keyOf(cover) }));
      const refused = await transact(call, [{ Delete: { ...keyOf(item), ...asFound(item) } }, ...covers]);
      if (refused.length > 0) throw new TooManyUpdates();
      await dropGeometry(call.db.geometry, zone.geometry);
      return zone;
    },
    { ...CONFLICT_RETRIES, signal: call.signal },
  );
}

/** What putting a zone did. */
type ZoneOutcome = 'created' | 'updated' | 'unchanged';

/**
 * Creates a zone from a draft, or updates the existing one, writing only what differs: nothing, its item, or all of it with
 * another object. May be repeated, and is safe next to other writers. `now` is RFC 3339 in UTC.
 */
export async function putZone(
  call: Call,
  reference: ZoneReference,
  draft: ZoneDraft,
  now: string,
): Promise<ZoneOutcome> {
  const { geometry, ...content } = draft;
  const raced = new TooManyUpdates();
  return retry(
    async () => {
      const found = await readZoneItem(call, reference);
      if (found === undefined) {
        if (await insertZone(call, reference, draft, now)) return 'created';
        throw raced;
      }
      const { zone } = requireZone(call.db, reference, found);
      const stays = zone.geometry.sha256 === geometry.stored.sha256;
      if (stays && zone.name === content.name && isDeepStrictEqual(zone.properties, content.properties)) {
        return 'unchanged';
      }
      const updated = stays
        ? updateZone(call, reference, content, { now })
        : updateWithGeometry(call, reference, { update: content, prepare: async () => geometry, now });
      // Deleted in between.
      await updated.catch(ifRefused(() => Promise.reject(raced), 'NOT_FOUND'));
      return 'updated';
    },
    { ...CONFLICT_RETRIES, retryable: (error) => error === raced, signal: call.signal },
  );
}
