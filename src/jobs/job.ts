import type { Key } from '../keys/document-id.js';
import { loadJob, putJob } from '../store/collection/job-item.js';
import type { Database } from '../store/database.js';
import { type Contender, type Sighting, tryLease, whileLeased } from '../store/lease.js';
import { newCall } from '../store/request/meter.js';

/** A process that does work in the background. */
export interface Worker extends Contender {
  readonly database: Database;
}

/** A job that this process holds the lease of. */
export interface OwnJob {
  /** How far the work has come. */
  done(): number;
  /** Records how far the work has come; stored with the next renewal of the lease. */
  reach(done: number): void;
  /** Aborted when the process stops, or another one takes the job over. */
  readonly signal: AbortSignal;
}

/**
 * Does a job under its lease. False if another process holds the lease. Clocks only decide who tries, so what the work
 * writes must be harmless when two processes write it.
 */
export async function doJob(
  worker: Worker,
  key: Key,
  seen: Sighting,
  work: (job: OwnJob) => Promise<void>,
  signal: AbortSignal,
): Promise<boolean> {
  const { database } = worker;
  const store = {
    load: () => loadJob(database, key, newCall()),
    put: (next: Parameters<typeof putJob>[2]) => putJob(database, key, next, newCall()),
  };
  const lease = await tryLease(
    { ...worker, store, prepare: (found) => found ?? { version: 0, owner: '', done: 0 } },
    seen,
    signal,
  );
  if (lease === undefined) return false;
  let reached = lease.current.done;
  const progress = { done: () => reached, reach: (done: number) => (reached = done) };
  await whileLeased(
    lease,
    (working) => work({ ...progress, signal: working }),
    signal,
    (job) => ({ ...job, done: reached }),
  );
  return true;
}
