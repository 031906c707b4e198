import { CellportError } from '../../errors.js';
import { batchGet } from '../../store/request/batch-get.js';
import { mapConcurrently } from '../../store/request/concurrency.js';
import { asFound } from '../../store/request/conditional-change.js';
import { putIfAbsent } from '../../store/request/conditional-put.js';
import type { Database, Item } from '../../store/database.js';
import { isFailure } from '../../store/request/failures.js';
import { replacedMarkerItem } from '../../store/marker/marker-item.js';
import { putMarkersInBulk } from '../../store/marker/markers.js';
import type { Call } from '../../store/request/meter.js';
import { send } from '../../store/request/send.js';
import { retryInBackground } from '../../store/request/retries.js';

export type Outcome = 'created' | 'updated' | 'unchanged';

const WRITES_AT_A_TIME = 16;
/** Attempts for an item that others change between our read and our write. */
const ROUNDS = 10;

/** Replaces the item that was read; false if it has changed since. */
async function replace(database: Database, next: Item, found: Item, call: Call): Promise<boolean> {
  try {
    await send(database, 'put', { TableName: database.tables.entities, Item: { ...next }, ...asFound(found) }, call);
    return true;
  } catch (error) {
    if (isFailure(error, 'ConditionalCheckFailedException')) return false;
    throw error;
  }
}

/**
 * Creates or updates the markers of `items` (made by `newMarkerItem`, with different keys) and returns the outcome for
 * each: one batched read, then conditional writes of markers that are missing or differ. Idempotent, and safe next to
 * other writers: an item that changes in between is read again. Throttling is retried. `alone` means that no other process
 * creates markers with these keys; missing ones are then written in batches, which is faster.
 */
export async function upsertMarkers(
  database: Database,
  items: readonly Item[],
  call: Call,
  { alone = false }: { readonly alone?: boolean } = {},
): Promise<Outcome[]> {
  const outcomes: Outcome[] = [];
  let pending = items.map((item, index) => ({ item, index }));
  for (let round = 0; pending.length > 0; round += 1) {
    if (round >= ROUNDS)
      throw new CellportError(
        'CONFLICT',
        'too many concurrent updates of the imported markers; run the import again later',
      );
    const keys = pending.map(({ item }) => ({ pk: String(item['pk']), sk: String(item['sk']) }));
    const found = await retryInBackground(
      () => batchGet(database, database.tables.entities, keys, call, { consistent: true }),
      call.signal,
    );
    if (alone) {
      const missing = pending.filter((_, at) => found[at] === undefined);
      await putMarkersInBulk(
        database,
        missing.map(({ item }) => item),
        call,
      );
      for (const { index } of missing) outcomes[index] = 'created';
    }
    const settled = await mapConcurrently(pending, WRITES_AT_A_TIME, async ({ item, index }, at) => {
      const before = found[at];
      if (before === undefined) {
        if (alone) return true;
        const put = await retryInBackground(
          () => putIfAbsent(database, database.tables.entities, item, call),
          call.signal,
        );
        if (put) outcomes[index] = 'created';
        return put;
      }
      const next = replacedMarkerItem(before, item);
      if (next === undefined) {
        outcomes[index] = 'unchanged';
        return true;
      }
      const put = await retryInBackground(() => replace(database, next, before, call), call.signal);
      if (put) outcomes[index] = 'updated';
      return put;
    });
    pending = pending.filter((_, at) => settled[at] === false);
  }
  return outcomes;
}
