import { badInput, CellportError } from '../../errors.js';
import type { Collection } from '../../model/collection.js';
import { isInRows } from '../../model/grant.js';
import type { Marker } from '../../model/marker.js';
import type { Call, Database, Item } from '../database.js';
import { batchGet, putInBulk, transactionPieces, type BatchGetOptions } from '../request/batches.js';
import { putIfAbsent, putTogetherIfAbsent, type ConditionalChange } from '../request/conditional-write.js';
import { isFailure, isTransient, OutcomeUnknown } from '../request/failures.js';
import { mapConcurrently } from '../request/pacing.js';
import {
  checkMarkerBytes,
  markerFromBase,
  newMarkerItem,
  rekeyedMarkerItem,
  type MarkerInput,
  type SentMarker,
} from './marker-item.js';
import { checkKeyGiven, LONGEST_OWN_KEY, takeKeys } from './marker-keys.js';

/** Maximum number of markers that one call may create or delete. */
export const MAX_MARKERS_A_CALL = 500;
const PUTS_AT_A_TIME = 16;

/**
 * The effect of one write on a marker: its item before and after, and the marker as it is, or as it was before its
 * deletion.
 */
export interface MarkerWrite extends ConditionalChange {
  readonly marker: Marker;
}

function conflict({ keys }: Database, { key: collection }: Collection, item: Item): CellportError {
  const key = keys.parseMarker({ pk: String(item['pk']), sk: String(item['sk']) })?.key;
  const message = `collection ${collection} already has a marker ${JSON.stringify(key)}`;
  return new CellportError('CONFLICT', message, { collection, key });
}

function created(database: Database, collection: Collection, item: Item): MarkerWrite {
  const marker = markerFromBase(database.keys, item, collection.key);
  if (marker === undefined) throw new Error(`a new item is not a valid marker: ${JSON.stringify(item)}`);
  return { before: undefined, after: item, marker };
}

/**
 * The item of a new marker, with a placeholder for its key if the collection generates keys: no number is taken before
 * the input is known to be valid. Throws BAD_USER_INPUT naming the field, and NOT_FOUND for what the principal would not see.
 */
function draftItem(database: Database, collection: Collection, input: SentMarker, now: string): Item {
  checkKeyGiven(collection, input.key);
  const key = collection.idStrategy === 'GIVEN' ? input.key : LONGEST_OWN_KEY;
  const item = newMarkerItem(database, collection, { ...input, key }, now);
  const marker = collection.grant?.rows && markerFromBase(database.keys, item, collection.key);
  if (marker === undefined || isInRows(collection, marker)) return item;
  const message = `you may not write such a marker to collection ${collection.key}: it is none that you would see`;
  throw new CellportError('NOT_FOUND', message, { collection: collection.key });
}

/** Assigns the next keys of the collection to drafts, if it generates keys. */
async function withKeys(call: Call, collection: Collection, drafts: readonly Item[]): Promise<readonly Item[]> {
  if (collection.idStrategy === 'GIVEN') return drafts;
  const own = await takeKeys(call, collection, drafts.length);
  return drafts.map((item, index) => rekeyedMarkerItem(call.db, collection, item, own[index] ?? ''));
}

/**
 * Creates a marker with one conditional write of one item, in any number of indexes; `now` is RFC 3339 in UTC. A
 * collection that numbers its markers takes the number with a prior write. Throws BAD_USER_INPUT naming the field, or
 * CONFLICT if its key is taken.
 */
export async function createMarker(
  call: Call,
  collection: Collection,
  input: MarkerInput,
  now: string,
): Promise<MarkerWrite> {
  const draft = draftItem(call.db, collection, input, now);
  checkMarkerBytes(collection, draft);
  await collection.grant?.admit?.(() => [{ before: undefined, after: draft }]);
  const [item = draft] = await withKeys(call, collection, [draft]);
  if (!(await putIfAbsent(call, call.db.tables.entities, item))) throw conflict(call.db, collection, item);
  return created(call.db, collection, item);
}

export interface MarkerFailure {
  /** Index in the list of inputs. */
  readonly index: number;
  readonly code: string;
  readonly message: string;
}

export interface CreatedMarkers {
  /** In input order, without those that failed. */
  readonly written: readonly MarkerWrite[];
  readonly failures: readonly MarkerFailure[];
}

/** Each input as an item, or its error, also that of `check`. Of several inputs with one key, the first is used. */
export function draftItems(
  database: Database,
  collection: Collection,
  inputs: readonly SentMarker[],
  now: string,
  check: (item: Item) => void = () => undefined,
): (Item | CellportError)[] {
  const seen = new Set<unknown>();
  return inputs.map((input) => {
    try {
      const item = draftItem(database, collection, input, now);
      check(item);
      if (collection.idStrategy !== 'GIVEN') return item;
      // Not left to the condition, with which the order of concurrent writes would be random.
      if (seen.has(item['pk'])) return conflict(database, collection, item);
      seen.add(item['pk']);
      return item;
    } catch (error) {
      if (error instanceof CellportError) return error;
      throw error;
    }
  });
}

/**
 * The error for a marker that passed our checks but that DynamoDB refuses: it must not fail the other markers of a
 * call.
 */
export function refusalOf(cause: unknown): CellportError | undefined {
  if (!isFailure(cause, 'ValidationException')) return undefined;
  const message = 'the marker exceeds a limit of DynamoDB: shorten its name, category, place or properties';
  return new CellportError('BAD_USER_INPUT', message, {}, { cause });
}

export const isItem = (draft: Item | CellportError): draft is Item => !(draft instanceof CellportError);

/** The outcomes that are errors, by their index. */
export const failuresIn = (outcomes: readonly unknown[]): MarkerFailure[] =>
  outcomes.flatMap((outcome, index) =>
    outcome instanceof CellportError ? [{ index, code: outcome.code, message: outcome.message }] : [],
  );

/**
 * Returns a function that makes one of many writes of a call and returns its error: one that fails does not affect the
 * others, but once DynamoDB throttles or is unavailable even after retries, those not tried yet fail with the same error.
 */
export function independentWrites(call: Call): <T>(write: () => Promise<T>) => Promise<T | CellportError> {
  let gaveUp: CellportError | undefined;
  return async (write) => {
    if (gaveUp !== undefined) return gaveUp;
    try {
      return await write();
    } catch (error) {
      const failure = error instanceof CellportError ? error : refusalOf(error);
      if (failure === undefined || call.signal?.aborted === true) throw error;
      if (isTransient(failure) && !(failure instanceof OutcomeUnknown)) gaveUp = failure;
      return failure;
    }
  };
}

/**
 * Creates up to 500 markers, each with its own conditional write: one that fails does not affect the others and is
 * reported by its index. Of several inputs with one key, the first is created. A collection that numbers its markers
 * takes all numbers with one write. (On the embedded engine, where each write waits for a disk, markers are written
 * together where possible.) When DynamoDB throttles or is unavailable even after retries, inputs not tried yet fail at
 * once with the same code. Throws BAD_USER_INPUT for more than 500, and what `Grant.admit` throws, before anything is written.
 */
export async function createMarkers(
  call: Call,
  collection: Collection,
  inputs: readonly SentMarker[],
  now: string,
): Promise<CreatedMarkers> {
  if (inputs.length > MAX_MARKERS_A_CALL) {
    throw badInput('markers', `${inputs.length} markers`, `at most ${MAX_MARKERS_A_CALL} markers per call`);
  }
  const drafts = draftItems(call.db, collection, inputs, now, (item) => checkMarkerBytes(collection, item));
  await collection.grant?.admit?.(() => drafts.filter(isItem).map((after) => ({ before: undefined, after })));
  const keyed = (await withKeys(call, collection, drafts.filter(isItem))).values();
  const items = drafts.map((draft) => (isItem(draft) ? (keyed.next().value ?? draft) : draft));
  const attempt = independentWrites(call);
  const table = call.db.tables.entities;
  const there = new Set<Item>();
  if (call.db.waitsForDisk) {
    for (const piece of transactionPieces(items.filter(isItem))) {
      const put = await attempt(() => putTogetherIfAbsent(call, table, piece));
      if (put === true) for (const item of piece) there.add(item);
    }
  }
  const results = await mapConcurrently(items, PUTS_AT_A_TIME, async (item): Promise<MarkerWrite | CellportError> => {
    if (!isItem(item)) return item;
    const put = there.has(item) || (await attempt(() => putIfAbsent(call, table, item)));
    if (put instanceof CellportError) return put;
    return put ? created(call.db, collection, item) : conflict(call.db, collection, item);
  });
  return {
    written: results.filter((result): result is MarkerWrite => !(result instanceof CellportError)),
    failures: failuresIn(results),
  };
}

/** Identifies a marker that may exist. */
export interface MarkerReference {
  readonly collection: Collection;
  readonly key: string;
}

/** Reads markers by key, in the order of the references; null for missing ones. */
export async function getMarkers(
  call: Call,
  references: readonly MarkerReference[],
  options: BatchGetOptions = {},
): Promise<(Marker | null)[]> {
  const { keys, tables } = call.db;
  const items = await batchGet(
    call,
    tables.entities,
    references.map(({ collection, key }) => keys.marker(keys.scope(collection), key)),
    options,
  );
  return references.map(({ collection }, index) => {
    const item = items[index];
    return item === undefined ? null : (markerFromBase(keys, item, collection.key) ?? null);
  });
}

/**
 * Puts items made by `newMarkerItem`, replacing items with the same keys, so that an import can be repeated. See
 * `bulkWriter` for retries.
 */
export function putMarkersInBulk(call: Call, items: readonly Item[]): Promise<void> {
  return putInBulk(call, call.db.tables.entities, items);
}
