import type { Key } from '../../keys/document-id.js';
import type { Database } from '../database.js';
import type { Leased } from '../lease.js';
import { readItem } from '../request/conditional-change.js';
import { putVersion } from '../request/conditional-put.js';
import type { Call } from '../request/meter.js';

/** A background job. */
export interface Job extends Leased {
  /** Progress, in a unit defined by the job. */
  readonly done: number;
  /** What the progress belongs to, if a job has steps: that of another step is none. */
  readonly step?: number;
}

/** Loads a job, strongly consistent; undefined if it does not exist. */
export async function loadJob(database: Database, key: Key, call: Call): Promise<Job | undefined> {
  const { version, owner, done, step } = (await readItem(database, key, call)) ?? {};
  if (typeof version !== 'number') return undefined;
  const progress = { done: typeof done === 'number' ? done : 0, ...(typeof step === 'number' ? { step } : {}) };
  return { version, owner: String(owner), ...progress };
}

/** Replaces a job of version `next.version - 1`; returns false if another write came first, like `putVersion`. */
export function putJob(database: Database, { pk, sk }: Key, next: Job, call: Call): Promise<boolean> {
  return putVersion(database, database.tables.entities, { pk, sk, ...next }, call);
}
