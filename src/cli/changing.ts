import { hostname, userInfo } from 'node:os';

import { CellportError } from '../errors.js';
import { withDatabase, type CommandSession } from './session.js';

const MOST_KEYS = 20;

/** What a command changes, for the audit. */
interface Change {
  /** The command. */
  readonly what: string;
  readonly collection?: string | undefined;
}

/** As `withDatabase`, for a command that changes something: the audit has it with the keys that the work returns. */
export function changing(
  { what, collection }: Change,
  work: (session: CommandSession) => Promise<readonly string[] | void>,
): Promise<void> {
  return withDatabase(async (session) => {
    const { config, database, log } = session;
    const { openAudit } = await import('../server/audit.js');
    // Where a command runs, nothing may say that servers ask who somebody is.
    const wanted = { audit: config.audit ?? (what.startsWith('access') ? 'log' : 'off') };
    const audit = openAudit(wanted, database, log, 'attempts');
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
    try {
      await note('OK', (await work(session)) ?? []);
    } catch (error) {
      await note(error instanceof CellportError ? error.code : 'FAILED', []);
      throw error;
    }
  });
}
