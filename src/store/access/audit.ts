import { randomUUID } from 'node:crypto';

import type { Log } from '../../log.js';
import type { Audited } from '../../model/audit.js';
import { newCall, type Database } from '../database.js';
import { send } from '../request/send.js';

/** Notes what somebody has changed; never rejects. */
export type Audit = (audited: Audited) => Promise<void>;

const KEPT_DAYS = 90;
const DAY_S = 86_400;

/** Of several writes, some may have been made before these. */
const MAY_HAVE_CHANGED = ['OK', 'THROTTLED', 'UNAVAILABLE', 'INTERNAL_SERVER_ERROR'];

/**
 * What is kept in the table. Of clients, only what may have changed something: whoever may change nothing must not cost writes.
 * Of commands, what has failed as well: it may have changed something before.
 */
export type Kept = 'changes' | 'attempts' | 'none';

/**
 * An audit with a line in the log for each change and each attempt, and an item for each operation that is kept, for 90 days.
 */
export function auditTo(write: Log['info'], database: Database, kept: Kept, log: Log): Audit {
  return async (audited) => {
    const { changes, ...by } = audited;
    for (const change of changes) {
      const { what, collection, keys, more, outcome } = change;
      const who = `${by.who}${by.name === null ? '' : ` (${by.name})`}${by.from === undefined ? '' : ` at ${by.from}`}`;
      const which = [
        collection === undefined ? '' : `in ${collection}`,
        keys.join(', '),
        more > 0 ? `and ${more} more` : '',
      ];
      write({ audit: { ...by, ...change } }, `${outcome}: ${what} by ${who} ${which.filter(Boolean).join(' ')}`.trim());
    }
    const isKept = kept === 'attempts' || changes.some(({ outcome }) => MAY_HAVE_CHANGED.includes(outcome));
    if (kept === 'none' || !isKept) return;
    const key = database.keys.audit(by.at, randomUUID());
    const ttl = Math.floor(Date.parse(by.at) / 1_000) + KEPT_DAYS * DAY_S;
    const item = { ...key, ...by, changes: JSON.stringify(changes), ttl };
    const call = { ...newCall(database), unpriced: true };
    await send(call, 'put', { TableName: database.tables.derived, Item: item }).catch((err: unknown) =>
      log.error({ err, audit: audited }, 'Cannot store what was changed'),
    );
  };
}
