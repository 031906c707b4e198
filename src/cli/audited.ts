import { hostname, userInfo } from 'node:os';

import { CellportError } from '../errors.js';
import { openAudit } from '../server/audit.js';
import type { Change, CommandSession } from './session.js';

const MOST_KEYS = 20;

/** Runs a command, and notes in the audit what it has changed, with the keys that it returns. */
export async function audited(
  { config, database, log }: CommandSession,
  { what, collection }: Change,
  command: () => Promise<readonly string[] | void>,
): Promise<void> {
  // Where a command runs, nothing may say that the servers ask who somebody is.
  const audit = openAudit(
    { audit: config.audit ?? (what.startsWith('access') ? 'log' : 'off') },
    database,
    log,
    'attempts',
  );
  const note = (outcome: string, keys: readonly string[]) =>
    audit?.({
      at: new Date(database.clock.wall()).toISOString(),
      who: `cli:${userInfo().username}`,
      name: null,
      from: hostname(),
      operation: undefined,
      changes: [
        { what, collection, keys: keys.slice(0, MOST_KEYS), more: Math.max(0, keys.length - MOST_KEYS), outcome },
      ],
    });
  let changed: readonly string[] | void;
  try {
    changed = await command();
  } catch (error) {
    await note(error instanceof CellportError ? error.code : 'FAILED', []);
    throw error;
  }
  await note('OK', changed ?? []);
}
