import { CellportError, badInput } from '../../errors.js';
import type { Collection } from '../../model/collection.js';
import type { Marker } from '../../model/marker.js';
import { type BatchGetOptions, batchGet } from '../request/batch-get.js';
import { bulkWriter, transactionPieces } from '../request/batch-write.js';
import { mapConcurrently } from '../request/concurrency.js';
import type { ConditionalChange } from '../request/conditional-change.js';
import { putIfAbsent, putTogetherIfAbsent } from '../request/conditional-put.js';
import type { Database, Item } from '../database.js';
import { type MarkerInput, markerFromBase, newMarkerItem } from './marker-item.js';
import { checkKeyGiven, takeKeys } from './marker-keys.js';
import type { Call } from '../request/meter.js';

/** Most markers that one call may create. */
export const MAX_MARKERS_A_CALL = 500;
const PUTS_AT_A_TIME = 16;
/** As long as any key that a collection gives by itself: a UUID. */
const LONGEST_OWN_KEY = 'x'.repeat(36);

function conflict(collection: Collection, key: unknown): CellportError {
  return new CellportError('CONFLICT', `the collection ${collection.key} has a marker ${JSON.stringify(key)} already`, {
    collection: collection.key,
    key,
  });
}

/** What one write did to a marker: its item before and after, and the marker that is told of: as it is, or was. */
export interface MarkerWrite extends ConditionalChange {
  readonly marker: Marker;
}

function asMarker(database: Database, item: Item, collection: Collection): Marker {
  const marker = markerFromBase(database.keys, item, collection);
  if (marker === undefined) throw new Error(`an item of our own making is no marker: ${JSON.stringify(item)}`);
  return marker;
}

/** Throws BAD_USER_INPUT naming the field where no marker can be made of an input, whatever key it may get. */
function checkInput(database: Database, collection: Collection, input: MarkerInput, now: string): void {
  checkKeyGiven(collection, input.key);
  newMarkerItem(
    database,
    collection,
    { ...input, key: collection.idStrategy === 'GIVEN' ? input.key : LONGEST_OWN_KEY },
    now,
  );
}

/**
 * Creates a marker by one conditional write of one item, whatever indexes it stands in; `now` is RFC 3339 in UTC. Throws
 * BAD_USER_INPUT naming the field, or CONFLICT where its key is taken. Where the collection counts its markers, a write
 * before that takes the number.
 */
export async function createMarker(
  database: Database,
  collection: Collection,
  input: MarkerInput,
  now: string,
  call: Call,
): Promise<MarkerWrite> {
  checkInput(database, collection, input, now);
  const [key = input.key] = collection.idStrategy === 'GIVEN' ? [] : await takeKeys(database, collection, 1, call);
  const item = newMarkerItem(database, collection, { ...input, key }, now);
  if (!(await putIfAbsent(database, database.tables.entities, item, call))) throw conflict(collection, key);
  return { before: undefined, after: item, marker: asMarker(database, item, collection) };
}

export interface MarkerFailure {
  /** Position in the list of inputs. */
  readonly index: number;
  readonly code: string;
  readonly message: string;
}

export interface CreatedMarkers {
  /** In the order of the inputs, those that failed left out. */
  readonly written: readonly MarkerWrite[];
  readonly failures: readonly MarkerFailure[];
}

/** What `make` gives, or the fault of a client that it throws. */
function orFault<T>(make: () => T): T | CellportError {
  try {
    return make();
  } catch (error) {
    if (error instanceof CellportError) return error;
    throw error;
  }
}

/** What is wrong with each input, undefined where nothing is. Of several with one key the first is right. */
function faultsOf(
  database: Database,
  collection: Collection,
  inputs: readonly MarkerInput[],
  now: string,
): (CellportError | undefined)[] {
  const seen = new Set<unknown>();
  return inputs.map((input) => {
    const fault = orFault(() => checkInput(database, collection, input, now));
    if (fault !== undefined) return fault;
    // Not left to the condition: which of two concurrent writes comes first would be chance.
    if (collection.idStrategy === 'GIVEN' && seen.has(input.key)) return conflict(collection, input.key);
    seen.add(input.key);
    return undefined;
  });
}

/**
 * Creates up to 500 markers, each by a conditional write of its own: one that fails takes no other with it and is named
 * by its index. Of several inputs with one key the first is created. (Where each write waits for a disk, as on the embedded
 * engine, those that can are put together.) Where the collection counts its markers, one write
 * takes the numbers of all. When DynamoDB throttles or is away even after retries, what was not yet tried fails with the
 * same code at once, so that the call ends. Throws BAD_USER_INPUT for more than 500 before anything is written.
 */
export async function createMarkers(
  database: Database,
  collection: Collection,
  inputs: readonly MarkerInput[],
  now: string,
  call: Call,
): Promise<CreatedMarkers> {
  if (inputs.length > MAX_MARKERS_A_CALL) {
    throw badInput('markers', `${inputs.length} markers`, `at most ${MAX_MARKERS_A_CALL} markers a call`);
  }
  const faults = faultsOf(database, collection, inputs, now);
  const right = faults.filter((fault) => fault === undefined).length;
  const own = collection.idStrategy === 'GIVEN' ? undefined : await takeKeys(database, collection, right, call);
  const next = own?.values();
  const named = inputs.map((input, index) =>
    faults[index] === undefined && next ? { ...input, key: next.next().value } : input,
  );
  const items = named.map(
    (input, index): Item | CellportError =>
      faults[index] ?? orFault(() => newMarkerItem(database, collection, input, now)),
  );
  let gaveUp: CellportError | undefined;
  async function attempt(put: () => Promise<boolean>): Promise<boolean | CellportError> {
    if (gaveUp !== undefined) return gaveUp;
    try {
      return await put();
    } catch (error) {
      if (!(error instanceof CellportError) || call.signal?.aborted === true) throw error;
      if (error.code === 'THROTTLED' || error.code === 'UNAVAILABLE') gaveUp = error;
      return error;
    }
  }
  const table = database.tables.entities;
  const there = new Set<Item>();
  if (database.waitsForDisk) {
    // Each commit waits for the disk: those that go together wait once.
    const all = items.filter((item): item is Item => !(item instanceof CellportError));
    for (const piece of transactionPieces(all)) {
      const put = await attempt(() => putTogetherIfAbsent(database, table, piece, call));
      if (put === true) for (const item of piece) there.add(item);
    }
  }
  const results = await mapConcurrently(
    items,
    PUTS_AT_A_TIME,
    async (item, index): Promise<MarkerWrite | CellportError> => {
      if (item instanceof CellportError) return item;
      const put = there.has(item) || (await attempt(() => putIfAbsent(database, table, item, call)));
      if (put instanceof CellportError) return put;
      if (!put) return conflict(collection, named[index]?.key);
      return { before: undefined, after: item, marker: asMarker(database, item, collection) };
    },
  );
  return {
    written: results.filter((result): result is MarkerWrite => !(result instanceof CellportError)),
    failures: results.flatMap((result, index) =>
      result instanceof CellportError ? [{ index, code: result.code, message: result.message }] : [],
    ),
  };
}

/** What names a marker. */
export interface MarkerReference {
  readonly collection: Collection;
  readonly key: string;
}

/** Markers by their names, in that order, null where there is none: BatchGetItem, 100 at a time. */
export async function getMarkers(
  database: Database,
  references: readonly MarkerReference[],
  call: Call,
  options: BatchGetOptions = {},
): Promise<(Marker | null)[]> {
  const { keys, tables } = database;
  const items = await batchGet(
    database,
    tables.entities,
    references.map(({ collection, key }) => keys.marker(keys.scope(collection), key)),
    call,
    options,
  );
  return references.map(({ collection }, index) => {
    const item = items[index];
    return item === undefined ? null : (markerFromBase(keys, item, collection) ?? null);
  });
}

/**
 * A function that puts items made by `newMarkerItem` over whatever stands under their keys, for imports: without
 * conditions, so that an import may be repeated. See `bulkWriter` for calls side by side and for throttling.
 */
export function markerWriter(database: Database, call: Call): (items: readonly Item[]) => Promise<void> {
  return bulkWriter(database, database.tables.entities, call);
}

/** Puts items once, as a `markerWriter` does. */
export function putMarkersInBulk(database: Database, items: readonly Item[], call: Call): Promise<void> {
  return markerWriter(database, call)(items);
}
