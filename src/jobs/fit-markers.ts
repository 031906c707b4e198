import { CellportError } from '../errors.js';
import { hasSameNames, otherLayout } from '../model/collection.js';
import type { Item } from '../store/database.js';
import { redrawMarker } from '../store/marker/marker-redraw.js';
import { relocateMarker } from '../store/marker/marker-relocation.js';
import { batchGet } from '../store/request/batch-get.js';
import { mapConcurrently } from '../store/request/concurrency.js';
import { readItem } from '../store/request/conditional-change.js';
import { isFailure } from '../store/request/failures.js';
import { MAX_ITEM_BYTES, itemBytes } from '../store/request/item-size.js';
import { retryInBackground } from '../store/request/retries.js';
import type { Phase } from './layout-phase.js';

const MARKERS_AT_A_TIME = 16;

/** Whether a marker would become too large, by our rules or by DynamoDB's. */
const isTooLarge = (error: unknown): boolean =>
  (error instanceof CellportError && error.code === 'BAD_USER_INPUT') ||
  (isFailure(error, 'ValidationException') && /item size/i.test(String((error as Error).message)));

/** LIMIT_EXCEEDED that names the marker that has no room for what a phase adds. */
async function tooLarge({ options, collection, call }: Phase, item: Item, cause: unknown): Promise<CellportError> {
  const { database } = options.worker;
  const own = { pk: String(item['pk']), sk: String(item['sk']) };
  const marker = database.keys.parseMarker(own)?.key ?? own.pk;
  const bytes = itemBytes((await readItem(database, own, call)) ?? {});
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
  const { options, collection, call } = now;
  if (otherLayout(collection) === undefined) return 0;
  return fitEach(now, entries, (entry) => relocateMarker(options.worker.database, collection, entry, call));
}

/** Gives markers the map properties of the phase; those are not read of which the index has all properties. */
async function redraw(now: Phase, entries: readonly Item[]): Promise<number> {
  const { options, collection, change, call } = now;
  if (hasSameNames(collection.mapProperties, change.mapProperties)) return 0;
  const { database } = options.worker;
  const keys = entries.filter(({ mc }) => mc !== true).map(({ pk, sk }) => ({ pk: String(pk), sk: String(sk) }));
  const read = () => batchGet(database, database.tables.entities, keys, call, { consistent: true });
  const items = (await retryInBackground(read, call.signal)).filter((item) => item !== undefined);
  return fitEach(now, items, (item) => redrawMarker(database, collection, item, call));
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
