import type { Key, Keyspace } from '../../keys/keyspace.js';
import { newCall, type Database } from '../../store/database.js';
import { deleteInBulk } from '../../store/request/batches.js';
import { noteFailure } from '../../store/source/failure.js';
import { forgetRejected } from '../../store/source/rejected-items.js';
import { scan } from '../recount/reads.js';

/** Reads the table of a source without a stream again. */
export const REREAD_JOB = 'reread';

/** The scope of the collection that an item was derived from; undefined for other items. */
function scopeOf(keys: Keyspace, key: Key): string | undefined {
  const parsed =
    keys.parseCell(key) ??
    keys.parsePlaceCount(key) ??
    keys.parsePage(key) ??
    keys.parsePageDirectory(key) ??
    keys.parseRecentWrites(key) ??
    keys.parseWinner(key);
  return parsed?.scope;
}

/**
 * Removes everything that was derived from a source once nobody follows it, and nothing of its table. It reads the whole
 * derived table, since interrupted fills may have left pages of any generation.
 */
export async function removeSource(
  database: Database,
  scope: string,
  consumer: string,
  signal: AbortSignal,
): Promise<void> {
  const { keys, tables } = database;
  const call = newCall(database, signal);
  for await (const page of scan(database, tables.derived, ['pk', 'sk'])) {
    signal.throwIfAborted();
    const found = page.map(({ pk, sk }) => ({ pk: String(pk?.['S']), sk: String(sk?.['S']) }));
    const own = found.filter((key) => scopeOf(keys, key) === scope);
    await deleteInBulk(call, tables.derived, own);
  }
  await forgetRejected(call, consumer);
  await noteFailure(call, consumer, null);
  await deleteInBulk(call, tables.derived, [keys.streamState(consumer)]);
  await deleteInBulk(call, tables.entities, [keys.job(scope, REREAD_JOB)]);
}
