import type { Config } from '../config.js';
import { createLog } from '../log-output.js';
import type { Log } from '../log.js';
import { auditTo, type Audit } from '../store/access/audit.js';
import type { Database } from '../store/database.js';

/** The audit as configured: its lines are written whatever the level of the log. Undefined if it is off. */
export function openAudit({ audit }: Pick<Config, 'audit'>, database: Database, log: Log): Audit | undefined {
  return audit === 'off' ? undefined : auditTo(createLog('info').info, database, audit === 'table', log);
}
