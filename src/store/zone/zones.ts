import type { TransactWriteCommandInput } from '@aws-sdk/lib-dynamodb';
import { isDeepStrictEqual } from 'node:util';

import { CellportError, badInput, notFound } from '../../errors.js';
import { readMarkerKey } from '../../keys/validate.js';
import type { Collection } from '../../model/collection.js';
import type { Properties } from '../../model/marker.js';
import type { Zone } from '../../model/zone.js';
import { retry } from '../../retry.js';
import { asFound, changeItem, checkVersion, readItem } from '../request/conditional-change.js';
import type { Database, Item } from '../database.js';
import { cancellationCodes, isTransactionConflict } from '../request/failures.js';
import { CONFLICT_RETRIES, TooManyUpdates } from '../request/retries.js';
import { checkKeyGiven, takeKeys } from '../marker/marker-keys.js';
import type { Call } from '../request/meter.js';
import { readOptionalText, readProperties } from '../marker/properties.js';
import { send } from '../request/send.js';
import { type PreparedGeometry, checkRoom, dropGeometry, placeGeometry, prepareGeometry } from './zone-geometry.js';
import { type ZoneContent, coverItems, coverKeys, newZoneItem, updatedZoneItem, zoneFromItem } from './zone-item.js';

/** A new zone as a client describes it. Everything is checked at run time, too. */
export interface ZoneInput {
  readonly key?: string | null | undefined;
  readonly name?: string | null | undefined;
  readonly properties?: Properties | null | undefined;
  readonly geometry: unknown;
}

/** Changes to a zone: what is omitted stays as it is, and null removes what is optional. */
export type ZoneUpdate = Partial<Omit<ZoneInput, 'key'>>;

/** Names a zone that may exist. */
export interface ZoneReference {
  readonly collection: Collection;
  readonly key: string;
}

export interface ZoneChange {
  /** RFC 3339 in UTC. */
  readonly now: string;
  readonly expectedVersion?: number | null | undefined;
}

/** A zone with its item. Throws NOT_FOUND if there is no valid one. */
function requireZone(database: Database, { collection, key }: ZoneReference, item: Item | undefined) {
  const zone = item && zoneFromItem(database.keys, item, collection);
  if (item === undefined || zone === undefined) throw notFound('zone', key);
  return { item, zone };
}

const nameOf = ({ key }: ZoneReference) => `zone ${JSON.stringify(key)}`;

function conflict({ collection, key }: ZoneReference): CellportError {
  return new CellportError('CONFLICT', `collection ${collection.key} already has a zone ${JSON.stringify(key)}`, {
    collection: collection.key,
    key,
  });
}

/** As long as the longest key that a collection generates, and the longest name of an object. */
const LONGEST_OWN_KEY = 'x'.repeat(36);
const LONGEST_OBJECT_NAME = 'x'.repeat(400);

/**
 * Writes a zone's item, the first of the list and the only one with a condition, and its covers in one transaction;
 * false if the condition did not hold. Waits for other transactions on the same items.
 */
async function transact(
  database: Database,
  writes: NonNullable<TransactWriteCommandInput['TransactItems']>,
  call: Call,
): Promise<boolean> {
  const isRefused = (error: unknown) => cancellationCodes(error)[0] === 'ConditionalCheckFailed';
  try {
    // The SDK sends a token with it, so that one whose response was lost is neither carried out again nor rejected.
    await retry(() => send(database, 'transactWrite', { TransactItems: writes }, call), {
      ...CONFLICT_RETRIES,
      retryable: (error) => isTransactionConflict(error) && !isRefused(error),
      signal: call.signal,
    });
    return true;
  } catch (error) {
    if (!isRefused(error)) throw error;
    call.meter.writes += writes.length;
    return false;
  }
}

/** A zone to be written: checked, and its geometry compressed. */
export interface ZoneDraft extends ZoneContent {
  readonly geometry: PreparedGeometry;
}

/**
 * Checks a zone without any request to the database. Throws BAD_USER_INPUT naming the field, or LIMIT_EXCEEDED if the
 * geometry needs an object store and there is none.
 */
export async function draftZone(
  database: Pick<Database, 'keys' | 'geometry'>,
  collection: Collection,
  key: string,
  { name, properties, geometry }: Pick<ZoneInput, 'name' | 'properties' | 'geometry'>,
): Promise<ZoneDraft> {
  const content: ZoneContent = {
    name: readOptionalText('name', name),
    properties: readProperties('properties', properties ?? {}),
  };
  const prepared = await prepareGeometry(geometry);
  const { bounds, covers, stored } = prepared;
  const inline = prepared.body.length <= database.geometry.inlineBytes;
  const expected = inline
    ? { body: prepared.body, object: undefined }
    : { body: undefined, object: LONGEST_OBJECT_NAME };
  const place = { bounds, covers, geometry: { ...stored, ...expected } };
  newZoneItem(database, { collection, key, content, place, now: '' });
  checkRoom(database.geometry, prepared);
  return { ...content, geometry: prepared };
}

/** Writes a zone that does not exist yet, and returns its item; undefined if it exists. */
async function insertZone(
  database: Database,
  { collection, key }: ZoneReference,
  { geometry: prepared, ...content }: ZoneDraft,
  now: string,
  call: Call,
): Promise<Item | undefined> {
  const { bounds, covers } = prepared;
  const table = database.tables.entities;
  const geometry = await placeGeometry(database, database.keys.scope(collection), prepared);
  const item = newZoneItem(database, { collection, key, content, place: { bounds, covers, geometry }, now });
  const made = await transact(
    database,
    [
      { Put: { TableName: table, Item: { ...item }, ConditionExpression: 'attribute_not_exists(pk)' } },
      ...coverItems(database, collection, key, covers, item).map((cover) => ({
        Put: { TableName: table, Item: { ...cover } },
      })),
    ],
    call,
  );
  if (made) return item;
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

/** The content of a zone after an update. */
function contentAfter({ name, properties }: ZoneUpdate, zone: Zone): ZoneContent {
  return {
    name: name === undefined ? zone.name : readOptionalText('name', name),
    properties: properties === undefined ? zone.properties : readProperties('properties', properties ?? {}),
  };
}

const read = (database: Database, { collection, key }: ZoneReference, call: Call) =>
  readItem(database, database.keys.zone(database.keys.scope(collection), key), call);

interface GeometryUpdate extends ZoneChange {
  readonly update: Omit<ZoneUpdate, 'geometry'>;
  /** The new geometry; called if there is such a zone. */
  readonly prepare: () => Promise<PreparedGeometry>;
}

/** Changes the geometry of a zone, and other fields updated with it. */
async function updateWithGeometry(
  database: Database,
  reference: ZoneReference,
  { update, prepare, now, expectedVersion }: GeometryUpdate,
  call: Call,
): Promise<Zone> {
  const { collection, key } = reference;
  const { keys, tables } = database;
  const current = async () => {
    const found = requireZone(database, reference, await read(database, reference, call));
    checkVersion(nameOf(reference), found.item, expectedVersion);
    return found;
  };
  let before = await current();
  const prepared = await prepare();
  const { bounds, covers } = prepared;
  const geometry = await placeGeometry(database, keys.scope(collection), prepared);
  // Its object is removed if this fails before the item refers to it, but not if the item may have been written.
  let refused = true;
  try {
    return await retry(
      async (attempt) => {
        if (attempt > 0) before = await current();
        const next = updatedZoneItem(before.item, contentAfter(update, before.zone), { bounds, covers, geometry }, now);
        const put = coverItems(database, collection, key, covers, next);
        const gone = coverKeys(database, collection, before.zone).filter(({ sk }) =>
          put.every((one) => one['sk'] !== sk),
        );
        refused = false;
        const table = tables.entities;
        const done = await transact(
          database,
          [
            { Put: { TableName: table, Item: { ...next }, ...asFound(before.item) } },
            ...put.map((cover) => ({ Put: { TableName: table, Item: { ...cover } } })),
            ...gone.map(({ pk, sk }) => ({ Delete: { TableName: table, Key: { pk, sk } } })),
          ],
          call,
        );
        if (!done) {
          refused = true;
          throw new TooManyUpdates();
        }
        await dropGeometry(database.geometry, before.zone.geometry);
        return requireZone(database, reference, next).zone;
      },
      { ...CONFLICT_RETRIES, signal: call.signal },
    );
  } finally {
    if (refused) await dropGeometry(database.geometry, geometry);
  }
}

/**
 * Updates a zone: by one conditional write of its item, or by one transaction with its covers if its geometry changes;
 * the object of the former geometry is removed after it. Raises the version even if nothing differs. Throws NOT_FOUND,
 * BAD_USER_INPUT naming the field, or CONFLICT with the current version if it is not the expected one.
 */
export async function updateZone(
  database: Database,
  reference: ZoneReference,
  update: ZoneUpdate,
  change: ZoneChange,
  call: Call,
): Promise<Zone> {
  if (update.geometry === null) throw badInput('geometry', null, 'a GeoJSON geometry, or omitted');
  if (update.geometry !== undefined) {
    const prepare = () => prepareGeometry(update.geometry);
    return updateWithGeometry(database, reference, { update, prepare, ...change }, call);
  }
  const { after } = await changeItem(
    database,
    () => read(database, reference, call),
    (current) => {
      const { item, zone } = requireZone(database, reference, current);
      checkVersion(nameOf(reference), item, change.expectedVersion);
      return { found: item, next: updatedZoneItem(item, contentAfter(update, zone), undefined, change.now) };
    },
    call,
  );
  return requireZone(database, reference, after).zone;
}

/** What putting a zone did. */
export type ZoneOutcome = 'created' | 'updated' | 'unchanged';

/**
 * Creates a zone from a draft, or updates the existing one, writing only what differs: nothing, its item, or all of it with
 * another object. May be repeated, and safe beside other writers. `now` is RFC 3339 in UTC.
 */
export async function putZone(
  database: Database,
  reference: ZoneReference,
  draft: ZoneDraft,
  now: string,
  call: Call,
): Promise<ZoneOutcome> {
  const { geometry, ...content } = draft;
  const raced = new TooManyUpdates();
  return retry(
    async () => {
      const found = await read(database, reference, call);
      if (found === undefined) {
        if (await insertZone(database, reference, draft, now, call)) return 'created';
        throw raced;
      }
      const { zone } = requireZone(database, reference, found);
      const stays = zone.geometry.sha256 === geometry.stored.sha256;
      if (stays && zone.name === content.name && isDeepStrictEqual(zone.properties, content.properties)) {
        return 'unchanged';
      }
      try {
        if (stays) await updateZone(database, reference, content, { now }, call);
        else
          await updateWithGeometry(database, reference, { update: content, prepare: async () => geometry, now }, call);
        return 'updated';
      } catch (error) {
        // Deleted in between.
        throw error instanceof CellportError && error.code === 'NOT_FOUND' ? raced : error;
      }
    },
    { ...CONFLICT_RETRIES, retryable: (error) => error === raced, signal: call.signal },
  );
}

/**
 * Deletes a zone with its covers in one transaction, and then the object of its geometry. Returns it as it was. Throws
 * NOT_FOUND, or CONFLICT with the current version if it is not the expected one.
 */
export async function deleteZone(
  database: Database,
  reference: ZoneReference,
  { expectedVersion }: Pick<ZoneChange, 'expectedVersion'>,
  call: Call,
): Promise<Zone> {
  const { collection } = reference;
  let incarnation: string | undefined;
  const table = database.tables.entities;
  return retry(
    async () => {
      const { item, zone } = requireZone(database, reference, await read(database, reference, call));
      checkVersion(nameOf(reference), item, expectedVersion);
      // Another incarnation than the one that was to be deleted.
      incarnation ??= zone.incarnation;
      if (zone.incarnation !== incarnation) throw notFound('zone', reference.key);
      const done = await transact(
        database,
        [
          { Delete: { TableName: table, Key: { pk: item['pk'], sk: item['sk'] }, ...asFound(item) } },
          ...coverKeys(database, collection, zone).map(({ pk, sk }) => ({
            Delete: { TableName: table, Key: { pk, sk } },
          })),
        ],
        call,
      );
      if (!done) throw new TooManyUpdates();
      await dropGeometry(database.geometry, zone.geometry);
      return zone;
    },
    { ...CONFLICT_RETRIES, signal: call.signal },
  );
}
