import { stat } from 'node:fs/promises';
import { setTimeout as sleep } from 'node:timers/promises';

import { newCall, type Database } from '../store/database.js';
import { send } from '../store/request/send.js';
import { inBackground, type Background } from './background.js';

const LOOK_EVERY_MS = 2_000;
/** SQLite checkpoints the log at 4 MB, and a transaction has up to 4 MB in several indexes. */
const LONG_BYTES = 16 * 1024 * 1024;

/** Runs a transaction that writes nothing: it only checks that an item does not exist. */
async function runTransaction(database: Database, signal: AbortSignal): Promise<void> {
  const nothing = {
    TableName: database.tables.derived,
    Key: { pk: 'nothing', sk: 'nothing' },
    ConditionExpression: 'attribute_not_exists(pk)',
  };
  await send(newCall(database, signal), 'transactWrite', { TransactItems: [{ ConditionCheck: nothing }] });
}

/**
 * Keeps the write-ahead log of the embedded engine's database short. SQLite checkpoints the log when a commit finds no
 * reader. DynamoDB Local commits single writes while its own reads are open, but transactions after them, so this runs
 * a transaction whenever the log is long and has been written.
 */
export function keepLogShort(database: Database, log: string): Background {
  const written = async () => (await stat(log)).mtimeMs;

  async function run(signal: AbortSignal): Promise<void> {
    let folded = 0;
    for (;;) {
      await sleep(LOOK_EVERY_MS, undefined, { signal, ref: false });
      try {
        if ((await stat(log)).size < LONG_BYTES || (await written()) === folded) continue;
        await runTransaction(database, signal);
        folded = await written();
      } catch {
        // No log or no table yet, or the engine is restarting.
      }
    }
  }

  return inBackground((signal) => run(signal).catch(() => undefined));
}
