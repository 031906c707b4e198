import { IN_USE } from '../search/opensearch/state.js';
import { countDeadLetters, readDeadLetters, type DeadLetters } from '../store/cell/dead-letters.js';
import { CONSUMER } from '../store/cell/stream-state.js';
import { newCall, type Database } from '../store/database.js';
import { checkTables } from '../store/table/tables.js';

/** Some dead letters of derived data or of search, and the number of all. */
export async function listDeadLetters(
  database: Database,
  of: 'derived' | 'search',
  page: { readonly first: number; readonly after?: string | undefined },
  signal: AbortSignal,
): Promise<DeadLetters & { readonly total: number }> {
  await checkTables(database);
  const consumer = of === 'derived' ? CONSUMER : IN_USE;
  const found = await readDeadLetters(newCall(database, signal), consumer, page);
  return { ...found, total: await countDeadLetters(newCall(database, signal), consumer) };
}
