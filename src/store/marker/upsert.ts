import { badInput, CellportError } from '../../errors.js';
import type { Collection } from '../../model/collection.js';
import { hiddenOf, type Grant } from '../../model/grant.js';
import type { Call, Database, Item } from '../database.js';
import { batchGet, transactionPieces, type BulkOptions } from '../request/batches.js';
import { changeOnce, putIfAbsent, putTogetherIfAbsent, type ConditionalChange } from '../request/conditional-write.js';
import { mapConcurrently, retryInBackground } from '../request/pacing.js';
import { checkMarkerBytes, MARKER_BYTES, type SentMarker } from './marker-item.js';
import { replacedMarkerItem, requireMarker } from './marker-update.js';
import {
  draftItems,
  failuresIn,
  isItem,
  MAX_MARKERS_A_CALL,
  putMarkersInBulk,
  refusalOf,
  type MarkerFailure,
} from './markers.js';

export type UpsertOutcome = 'created' | 'updated' | 'unchanged';

/** What became of one marker, with its item before and after. */
export interface Upserted extends ConditionalChange {
  readonly outcome: UpsertOutcome;
}

interface UpsertOptions extends BulkOptions {
  readonly admit?: Grant['admit'];
  /** Throws if a marker must not be written, or must not be changed. */
  readonly check?: ((item: Item, before: Item | undefined) => void) | undefined;
  /** No other process creates markers with these keys; missing ones are then written in batches, which is faster. */
  readonly alone?: boolean | undefined;
}

const WRITES_AT_A_TIME = 16;
/** Attempts for an item that others change between our read and our write. */
const ROUNDS = 10;

/**
 * Creates or updates the markers of `items` (made by `newMarkerItem`, with different keys) and returns what became of
 * each: one batched read, then conditional writes of markers that are missing or differ. Idempotent, and safe next to
 * other writers: an item that changes in between is read again. (On the embedded engine, where each write waits for a disk,
 * missing ones are written together where that is possible.)
 */
export async function upsertItems(
  call: Call,
  items: readonly Item[],
  { alone = false, patient = true, admit, check }: UpsertOptions = {},
): Promise<Upserted[]> {
  const table = call.db.tables.entities;
  const attempt = <T>(work: () => Promise<T>) => (patient ? retryInBackground(work, call.signal) : work());
  const done: Upserted[] = [];
  const create = (index: number, item: Item) => (done[index] = { outcome: 'created', before: undefined, after: item });

  async function createTogether(missing: readonly { readonly item: Item; readonly index: number }[]): Promise<void> {
    const indexes = new Map(missing.map(({ item, index }) => [item, index]));
    const all = [...indexes.keys()];
    if (alone) await putMarkersInBulk(call, all);
    for (const piece of alone ? [all] : call.db.waitsForDisk ? transactionPieces(all) : []) {
      if (!alone && !(await attempt(() => putTogetherIfAbsent(call, table, piece)))) continue;
      for (const item of piece) create(indexes.get(item) ?? 0, item);
    }
  }

  async function settle(item: Item, index: number, before: Item | undefined): Promise<void> {
    if (done[index] !== undefined) return;
    if (before === undefined) {
      if (await attempt(() => putIfAbsent(call, table, item))) create(index, item);
      return;
    }
    const next = replacedMarkerItem(before, item);
    if (next === undefined) done[index] = { outcome: 'unchanged', before, after: before };
    else if ('done' in (await attempt(() => changeOnce(call, before, next)))) {
      done[index] = { outcome: 'updated', before, after: next };
    }
  }

  let pending = items.map((item, index) => ({ item, index }));
  for (let round = 0; pending.length > 0; round += 1) {
    if (round >= ROUNDS)
      throw new CellportError(
        'CONFLICT',
        'too many concurrent updates of the imported markers; run the import again later',
      );
    const keys = pending.map(({ item }) => ({ pk: String(item['pk']), sk: String(item['sk']) }));
    const found = await attempt(() => batchGet(call, table, keys, { consistent: true }));
    const missing = pending.filter((_, at) => found[at] === undefined);
    await admit?.(() =>
      pending.map(({ item }, at) => {
        const before = found[at];
        return { before, after: (before && replacedMarkerItem(before, item)) ?? before ?? item };
      }),
    );
    if (check) for (const [at, { item }] of pending.entries()) check(item, found[at]);
    await createTogether(missing);
    await mapConcurrently(pending, WRITES_AT_A_TIME, ({ item, index }, at) => settle(item, index, found[at]));
    pending = pending.filter(({ index }) => done[index] === undefined);
  }
  return done;
}

/** Whether an error is about one marker alone. */
const isOfOne = (error: unknown): error is CellportError =>
  error instanceof CellportError &&
  (['FORBIDDEN', 'NOT_FOUND'].includes(error.code) || error.details['field'] === MARKER_BYTES);

/** Throws NOT_FOUND for a marker that the principal does not see, and FORBIDDEN for one that it does not see whole. */
function checkReplaced(database: Database, collection: Collection, before: Item): void {
  const { key = '' } = database.keys.parseMarker({ pk: String(before['pk']), sk: String(before['sk']) }) ?? {};
  const { marker } = requireMarker(database, { collection, key }, before);
  if (Object.keys(hiddenOf(collection, marker)).length === 0) return;
  const message = 'you may not see all properties of this marker, which would be replaced: change it by updateMarker';
  throw new CellportError('FORBIDDEN', message, { collection: collection.key });
}

export interface UpsertedMarkers {
  /** In input order, without those that failed. */
  readonly written: readonly Upserted[];
  readonly failures: readonly MarkerFailure[];
}

/**
 * Creates up to 500 markers, or gives those that exist the content of the inputs; an invalid one is reported by its index
 * and does not affect the others, and of several with one key the first counts. The call may be repeated, so it fails as a
 * whole when DynamoDB throttles or is unavailable. Throws BAD_USER_INPUT for more than 500, or if the collection generates
 * its keys, and what `Grant.admit` throws, before anything is written.
 */
export async function upsertMarkers(
  call: Call,
  collection: Collection,
  inputs: readonly SentMarker[],
  now: string,
): Promise<UpsertedMarkers> {
  if (inputs.length > MAX_MARKERS_A_CALL) {
    throw badInput('markers', `${inputs.length} markers`, `at most ${MAX_MARKERS_A_CALL} markers per call`);
  }
  if (collection.idStrategy !== 'GIVEN') {
    throw badInput('collection', collection.key, 'a collection whose idStrategy is GIVEN: this one generates its keys');
  }
  const drafts = draftItems(call.db, collection, inputs, now);
  const items = drafts.filter(isItem);
  const check = (item: Item, before: Item | undefined) => {
    if (before) checkReplaced(call.db, collection, before);
    checkMarkerBytes(collection, item, before);
  };
  const options = { patient: false, admit: collection.grant?.admit, check: collection.grant && check };
  const upsert = (some: readonly Item[]) => upsertItems(call, some, options);
  let results: readonly (Upserted | CellportError)[];
  try {
    results = await upsert(items);
  } catch (error) {
    if (refusalOf(error) === undefined && !isOfOne(error)) throw error;
    // DynamoDB refuses one of them: alone, each shows whether it is the one.
    results = await mapConcurrently(items, WRITES_AT_A_TIME, async (item) => {
      try {
        const [one] = await upsert([item]);
        if (one === undefined) throw new Error('an item was neither written nor refused');
        return one;
      } catch (alone) {
        const refusal = isOfOne(alone) ? alone : refusalOf(alone);
        if (refusal === undefined) throw alone;
        return refusal;
      }
    });
  }
  const rest = results.values();
  const all = drafts.map((draft) => (isItem(draft) ? (rest.next().value as Upserted | CellportError) : draft));
  return {
    written: all.filter((each): each is Upserted => !(each instanceof CellportError)),
    failures: failuresIn(all),
  };
}
