import type { Config } from '../config.js';
import { createLog } from '../log-output.js';
import type { Log } from '../log.js';
import { auditTo, type Audit, type Kept } from '../store/access/audit.js';
import type { Database } from '../store/database.js';

/**
 * The audit as configured: its lines are written whatever the level of the log. Undefined if it is off. `kept` says what the
 * table gets, if it is to have it.
 */
export function openAudit(
  { audit = 'off' }: Pick<Config, 'audit'>,
  database: Database,
  log: Log,
  kept: Kept = 'changes',
): Audit | undefined {
  return audit === 'off'
    ? undefined
    : auditTo(createLog('info').info, database, audit === 'table' ? kept : 'none', log);
}
