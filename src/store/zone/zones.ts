import type { TransactWriteCommandInput } from '@aws-sdk/lib-dynamodb';
import { isDeepStrictEqual } from 'node:util';

import { CellportError, badInput, notFound } from '../../errors.js';
import { isWellFormed } from '../../keys/escape.js';
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
import { readProperties } from '../marker/properties.js';
import { send } from '../request/send.js';
import { type PreparedGeometry, checkRoom, dropGeometry, placeGeometry, prepareGeometry } from './zone-geometry.js';
import { type ZoneContent, coverItems, coverKeys, newZoneItem, updatedZoneItem, zoneFromItem } from './zone-item.js';

/** What a client says of a new zone; everything is checked, whatever the types promise. */
export interface ZoneInput {
  readonly key?: string | null | undefined;
  readonly name?: string | null | undefined;
  readonly properties?: Properties | null | undefined;
  readonly geometry: unknown;
}

/** What a client says of a zone that is there: what is left out stays, and null takes away what may be missing. */
export type ZoneUpdate = Partial<Omit<ZoneInput, 'key'>>;

/** Names a zone that may be there. */
export interface ZoneReference {
  readonly collection: Collection;
  readonly key: string;
}

export interface ZoneChange {
  /** RFC 3339 in UTC. */
  readonly now: string;
  readonly expectedVersion?: number | null | undefined;
}

function readName(value: unknown): string | null {
  if (value === undefined || value === null) return null;
  if (typeof value !== 'string' || !isWellFormed(value)) throw badInput('name', value, 'text of Unicode characters');
  return value;
}

/** The zone that an item holds. Throws NOT_FOUND where there is none. */
function requireZone(database: Database, { collection, key }: ZoneReference, item: Item | undefined) {
  const zone = item && zoneFromItem(database.keys, item, collection);
  if (item === undefined || zone === undefined) throw notFound('zone', key);
  return { item, zone };
}

const nameOf = ({ key }: ZoneReference) => `the zone ${JSON.stringify(key)}`;

function conflict({ collection, key }: ZoneReference): CellportError {
  return new CellportError('CONFLICT', `the collection ${collection.key} has a zone ${JSON.stringify(key)} already`, {
    collection: collection.key,
    key,
  });
}

/** As long as any key that a collection gives by itself, and as any name of an object. */
const LONGEST_OWN_KEY = 'x'.repeat(36);
const LONGEST_OBJECT_NAME = 'x'.repeat(400);

/**
 * Writes a zone's item, the first of the list and the only one with a condition, and its covers in one transaction;
 * false where the condition did not hold. Waits for other transactions on the same items.
 */
async function transact(
  database: Database,
  writes: NonNullable<TransactWriteCommandInput['TransactItems']>,
  call: Call,
): Promise<boolean> {
  const isRefused = (error: unknown) => cancellationCodes(error)[0] === 'ConditionalCheckFailed';
  try {
    // The SDK sends a token with it, so that one whose answer was lost is neither carried out again nor refused.
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

/** What is to be said of a zone, checked, and its geometry packed. */
export interface ZoneDraft extends ZoneContent {
  readonly geometry: PreparedGeometry;
}

/**
 * Checks all that is said of a zone, and asks nothing of the database. Throws BAD_USER_INPUT naming the field, or
 * LIMIT_EXCEEDED where the geometry needs an object store and there is none.
 */
export async function draftZone(
  database: Pick<Database, 'keys' | 'geometry'>,
  collection: Collection,
  key: string,
  { name, properties, geometry }: Pick<ZoneInput, 'name' | 'properties' | 'geometry'>,
): Promise<ZoneDraft> {
  const content: ZoneContent = { name: readName(name), properties: readProperties('properties', properties ?? {}) };
  const prepared = await prepareGeometry(geometry);
  const { bounds, covers, stored } = prepared;
  const inline = prepared.body.length <= database.geometry.inlineBytes;
  const expected = inline
    ? { body: prepared.body, object: undefined }
    : { body: undefined, object: LONGEST_OBJECT_NAME };
  newZoneItem(database, collection, key, content, { bounds, covers, geometry: { ...stored, ...expected } }, '');
  checkRoom(database.geometry, prepared);
  return { ...content, geometry: prepared };
}

/** Writes a zone that is not there yet, and gives its item; undefined where it is there. */
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
  const item = newZoneItem(database, collection, key, content, { bounds, covers, geometry }, now);
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
 * Creates a zone: its item and at most 16 covers appear in one transaction, after the object that holds its geometry where
 * that is large. `now` is RFC 3339 in UTC. Throws BAD_USER_INPUT naming the field, LIMIT_EXCEEDED where the geometry needs
 * an object store and there is none, or CONFLICT where the key is taken.
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
  // Refuses what is too large before anything is written.
  const draft = await draftZone(database, collection, longest, input);
  const [key = longest] = given ? [] : await takeKeys(database, collection, 1, call, 'zone');
  const reference = { collection, key };
  const item = await insertZone(database, reference, draft, now, call);
  if (item === undefined) throw conflict(reference);
  return requireZone(database, reference, item).zone;
}

/** What is to be said of a zone after an update. */
function contentAfter({ name, properties }: ZoneUpdate, zone: Zone): ZoneContent {
  return {
    name: name === undefined ? zone.name : readName(name),
    properties: properties === undefined ? zone.properties : readProperties('properties', properties ?? {}),
  };
}

const read = (database: Database, { collection, key }: ZoneReference, call: Call) =>
  readItem(database, database.keys.zone(database.keys.scope(collection), key), call);

/** Gives a zone another geometry, and whatever else changes with it. */
async function updateWithGeometry(
  database: Database,
  reference: ZoneReference,
  update: Omit<ZoneUpdate, 'geometry'>,
  prepare: () => Promise<PreparedGeometry>,
  { now, expectedVersion }: ZoneChange,
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
  // Set free by whatever ends this before the item refers to it, but for a failure that may have written it after all.
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
 * Changes a zone: by one conditional write of its item, or together with its covers in one transaction where it gets
 * another geometry; the object of the former one is removed after. Its version is raised even where nothing differs.
 * Throws NOT_FOUND, BAD_USER_INPUT naming the field, or CONFLICT with the current version where it is not the expected one.
 */
export async function updateZone(
  database: Database,
  reference: ZoneReference,
  update: ZoneUpdate,
  change: ZoneChange,
  call: Call,
): Promise<Zone> {
  if (update.geometry === null) throw badInput('geometry', null, 'a GeoJSON geometry, or left out');
  if (update.geometry !== undefined) {
    const prepare = () => prepareGeometry(update.geometry);
    return updateWithGeometry(database, reference, update, prepare, change, call);
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

/** What became of a zone that was put. */
export type ZoneOutcome = 'created' | 'updated' | 'unchanged';

/**
 * Makes a zone what a draft says, and writes only what differs: nothing, its item, or all of it with another object. Safe
 * to be repeated and beside other writers. `now` is RFC 3339 in UTC.
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
        else await updateWithGeometry(database, reference, content, async () => geometry, { now }, call);
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
 * Deletes a zone with its covers in one transaction, and then the object of its geometry. Gives it as it was. Throws
 * NOT_FOUND, or CONFLICT with the current version where it is not the expected one.
 */
export async function deleteZone(
  database: Database,
  reference: ZoneReference,
  { expectedVersion }: Pick<ZoneChange, 'expectedVersion'>,
  call: Call,
): Promise<Zone> {
  const { collection } = reference;
  let life: string | undefined;
  const table = database.tables.entities;
  return retry(
    async () => {
      const { item, zone } = requireZone(database, reference, await read(database, reference, call));
      checkVersion(nameOf(reference), item, expectedVersion);
      // The one that was asked for has been deleted, and another one created: that was not meant.
      life ??= zone.life;
      if (zone.life !== life) throw notFound('zone', reference.key);
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
