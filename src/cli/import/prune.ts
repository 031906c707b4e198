import { CellportError } from '../../errors.js';
import type { CheckedRows } from '../../ingest/check-rows.js';
import { countAbsent, removeAbsent } from '../../ingest/markers/prune.js';
import type { Collection } from '../../model/collection.js';
import { newCall } from '../../store/request/meter.js';
import { whereMarkersAre } from '../export/rows.js';
import { grouped, progressBar } from '../progress.js';
import type { CommandSession } from '../session.js';

/**
 * Says how many markers of a collection the file `name` no longer has; returns how to remove them, which throws CONFLICT
 * if rows were rejected, because they may stand for markers. Throws BAD_USER_INPUT if they are more than half, unless
 * `yes`.
 */
export async function planPrune(
  session: CommandSession,
  collection: Collection,
  { keys, rejected }: CheckedRows,
  { name, yes }: { readonly name: string; readonly yes: boolean },
): Promise<() => Promise<void>> {
  const missing = `not in ${name}`;
  if (rejected > 0) {
    const why = `${grouped(rejected)} ${rejected === 1 ? 'row was' : 'rows were'} rejected, and may stand for markers`;
    return () => Promise.reject(new CellportError('CONFLICT', `nothing ${missing} was removed: ${why}`));
  }
  const { database, signal } = session;
  const call = { ...newCall(signal), unpriced: true };
  const where = await whereMarkersAre(session, collection, undefined);
  const job = { database, collection, ...where, keys, began: new Date(database.clock.wall()), call };
  const { markers, absent } = await countAbsent(job);
  const of = `${grouped(absent)} of ${grouped(markers)} markers of ${collection.key} are ${missing}`;
  if (absent * 2 > markers && !yes) {
    throw new CellportError('BAD_USER_INPUT', `${of}, more than half: pass --yes to remove them; nothing was changed`);
  }
  if (absent > 0) console.log(`${of}, and are removed after its rows are written`);
  return async () => {
    if (absent === 0) return;
    const bar = progressBar(`${collection.key}, removing`);
    const onRemoved = (rows: number) => bar.update({ rows, resumed: 0, part: rows / absent });
    const removed = await removeAbsent(job, onRemoved).finally(() => bar.end());
    console.log(`${grouped(removed)} markers removed that are ${missing}`);
  };
}
