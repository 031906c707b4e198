import { CellportError } from '../../errors.js';
import type { CheckedRows } from '../../ingest/check-rows.js';
import { countAbsent, removeAbsent } from '../../ingest/markers/prune.js';
import type { Collection } from '../../model/collection.js';
import { newCall } from '../../store/request/meter.js';
import { prefixesOf } from '../export/rows.js';
import { grouped, progressBar } from '../progress.js';
import type { CommandSession } from '../session.js';

/** Removes what was announced, and says how many. */
export type Prune = () => Promise<void>;

/**
 * Announces how many markers of a collection a file no longer has; returns how to remove them. Throws BAD_USER_INPUT if
 * they are more than half, unless `yes`, and CONFLICT if rows were rejected, because they may stand for markers.
 */
export async function planPrune(
  session: CommandSession,
  collection: Collection,
  { keys, rejected }: CheckedRows,
  { name, rejects, yes }: { readonly name: string; readonly rejects: string; readonly yes: boolean },
): Promise<Prune> {
  if (rejected > 0) {
    const rows = rejected === 1 ? '1 row of it was' : `${grouped(rejected)} rows of it were`;
    const message = `nothing was removed that is not in ${name}, because ${rows} rejected and may stand for markers; see ${rejects}`;
    return () => Promise.reject(new CellportError('CONFLICT', message));
  }
  const { database, signal } = session;
  const now = () => new Date(database.clock.wall());
  const job = {
    database,
    collection,
    prefixes: await prefixesOf(session, collection, undefined),
    keys,
    before: now().toISOString(),
    call: { ...newCall(signal), unpriced: true },
  };
  const { markers, absent } = await countAbsent(job);
  const of = `${grouped(absent)} of ${grouped(markers)} markers of ${collection.key}`;
  if (absent * 2 > markers && !yes) {
    throw new CellportError(
      'BAD_USER_INPUT',
      `${of} are not in ${name}, more than half: pass --yes to remove them; nothing was changed`,
    );
  }
  if (absent === 0) return () => Promise.resolve();
  console.log(`${of} are not in ${name}, and are removed after its rows are written`);
  return async () => {
    const bar = progressBar(`${collection.key}, removing`);
    const onRemoved = (rows: number) => bar.update({ rows, resumed: 0, part: rows / absent });
    const removed = await removeAbsent(job, now, onRemoved).finally(() => bar.end());
    console.log(`${grouped(removed)} markers removed that are not in ${name}`);
  };
}
