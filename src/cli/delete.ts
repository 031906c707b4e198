import { Command } from 'commander';

import { systemClock } from '../clock.js';
import { CellportError } from '../errors.js';
import type { Collection } from '../model/collection.js';
import { ask } from './ask.js';
import { changing } from './changing.js';
import { duration, grouped } from './progress.js';
import { resumed, type CommandSession } from './session.js';

export interface DeleteOptions {
  readonly yes?: boolean;
  readonly wait?: boolean;
  readonly json?: boolean;
}

const LOOK_EVERY_MS = 1_000;
/** While a server counts markers, counts are not older. */
const LATE_MS = 10_000;

/** Up to when the markers of a collection are counted, in milliseconds since 1970; null if they are not. */
async function countedUpTo({ database }: CommandSession, collection: Collection): Promise<number | null> {
  const { storedReport } = await import('../server/consumer.js');
  const { sourceReport } = await import('../server/sources/report.js');
  const scope = database.keys.scope(collection);
  const report = await (collection.source ? sourceReport(database, scope) : storedReport(database));
  return report?.endAt ?? null;
}

/** Empties deleted collections, together with the servers, until the key of this one can be used again. */
async function empty(session: CommandSession, key: string): Promise<void> {
  const { config, log, signal, call } = session;
  const { openDerived } = await import('../server/consumer.js');
  const { startJobs } = await import('../server/jobs.js');
  const { readCollectionItem } = await import('../store/collection/change-collection.js');
  const derived = openDerived(session, config, log);
  const jobs = startJobs(session, derived, config.limits.deadlineMs, log);
  try {
    while ((await resumed(signal, () => readCollectionItem(call, key))) !== undefined) {
      await systemClock.sleep(LOOK_EVERY_MS, signal);
      signal.throwIfAborted();
    }
  } finally {
    await jobs.stop();
    await derived.stop();
  }
}

/** Deletes a collection that follows a table. Throws BAD_USER_INPUT if it has markers of its own. */
export async function deleteSource(session: CommandSession, key: string, options: DeleteOptions): Promise<void> {
  const { findSource } = await import('./find-collection.js');
  await findSource(session.call, key);
  await run(session, key, options);
}

async function run(session: CommandSession, key: string, { yes, wait, json }: DeleteOptions): Promise<void> {
  const { database, signal, call } = session;
  const { getBlocks } = await import('../store/cell/blocks.js');
  const { deleteCollection } = await import('../store/collection/collections.js');
  const { checkTables } = await import('../store/table/tables.js');
  const { findCollection } = await import('./find-collection.js');
  await checkTables(database);
  const began = systemClock.now();
  const collection = await findCollection(call, key);
  const [total] = await getBlocks(call, database.keys.scope(collection), [''], { consistent: true });
  const counted = [...(total?.children.values() ?? [])].reduce((sum, { count }) => sum + count, 0);
  // A count of zero may only say that nobody has counted them yet.
  const endAt = await countedUpTo(session, collection);
  const markers = endAt === null ? null : counted;
  const isLate = endAt !== null && database.clock.wall() - endAt > LATE_MS;
  const table = collection.source?.table;
  const rest = table === undefined ? 'and its zones and readings' : `but nothing of table ${table}`;
  const many = markers === null ? 'an unknown number of' : grouped(markers);
  const what = `collection ${key} with ${many} markers${isLate ? ` (at ${new Date(endAt).toISOString()})` : ''}`;
  if (yes !== true && !(await ask(`Delete ${what}, ${rest}?`, signal))) {
    const message = `pass --yes to delete ${what}, ${rest}`;
    throw new CellportError('BAD_USER_INPUT', message, { field: '--yes' });
  }
  const now = new Date(database.clock.wall()).toISOString();
  await resumed(signal, () => deleteCollection(call, key, now));
  if (json !== true) console.log(`${what} deleted`);
  if (wait === true) await empty(session, key);
  if (json === true) console.log(JSON.stringify({ collection: key, markers, emptied: wait === true }));
  else if (wait === true) console.log(`deleted in ${duration(systemClock.now() - began)}; its key can be used again`);
  else console.log('servers delete its content in the background; until then, its key is taken');
}

export function deleteCommand(): Command {
  return new Command('delete')
    .description('Delete a collection with its markers, zones and readings')
    .argument('<key>', 'key of the collection')
    .option('--yes', 'do not ask for confirmation; required without a terminal')
    .option('--wait', 'delete its content in this process, and wait until the key is free again: a minute or more')
    .option('--json', 'print JSON')
    .action((key: string, options: DeleteOptions) =>
      changing({ what: 'delete', collection: key }, (session) => run(session, key, options)),
    );
}
