import type { Key } from '../../keys/document-id.js';
import type { Database } from '../database.js';
import type { Leased } from '../lease.js';
import { readItem } from '../request/conditional-change.js';
import { putVersion } from '../request/conditional-put.js';
import type { Call } from '../request/meter.js';

/** A background job. */
export interface Job extends Leased {
  /** Its progress, in a unit of its own. */
  readonly done: number;
}

/** A job, strongly consistent; undefined if there is none. */
export async function loadJob(database: Database, key: Key, call: Call): Promise<Job | undefined> {
  const { version, owner, done } = (await readItem(database, key, call)) ?? {};
  if (typeof version !== 'number') return undefined;
  return { version, owner: String(owner), done: typeof done === 'number' ? done : 0 };
}

/** Replaces a job of version `next.version - 1`; false if another write came first, as in `putVersion`. */
export function putJob(database: Database, { pk, sk }: Key, next: Job, call: Call): Promise<boolean> {
  return putVersion(database, database.tables.entities, { pk, sk, ...next }, call);
}
