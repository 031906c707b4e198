import { hostname, userInfo } from 'node:os';

import { CellportError } from '../../errors.js';
import { openAudit } from '../../server/audit.js';
import type { CommandSession } from '../session.js';

/** Runs a command that changes who may do what, and notes that in the audit with what the command names as changed. */
export async function audited(
  { config, database, log }: CommandSession,
  what: string,
  command: () => Promise<readonly string[] | undefined>,
): Promise<void> {
  const audit = openAudit(config, database, log);
  const note = (outcome: string, keys: readonly string[]) =>
    audit?.({
      at: new Date(database.clock.wall()).toISOString(),
      who: `cli:${userInfo().username}`,
      name: null,
      from: hostname(),
      operation: undefined,
      changes: [{ what, collection: undefined, keys, more: 0, outcome }],
    });
  let changed: readonly string[] | undefined;
  try {
    changed = await command();
  } catch (error) {
    await note(error instanceof CellportError ? error.code : 'FAILED', []);
    throw error;
  }
  await note('OK', changed ?? []);
}
