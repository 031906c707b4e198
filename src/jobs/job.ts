import type { Key } from '../keys/document-id.js';
import { newCall, type Database } from '../store/database.js';
import { tryLease, whileLeased, type Contender, type Leased, type Sighting } from '../store/lease.js';
import { putVersion, readItem } from '../store/request/conditional-write.js';

/** How far a job is. */
interface Progress {
  /** In a unit defined by the job. */
  readonly done: number;
  /** What the progress belongs to, if a job has steps: that of another step is none. */
  readonly step?: number;
}

/** A background job. */
interface Job extends Leased, Progress {}

/** Loads a job, strongly consistent; undefined if it does not exist. */
async function loadJob(database: Database, key: Key): Promise<Job | undefined> {
  const { version, owner, done, step } = (await readItem(newCall(database), key)) ?? {};
  if (typeof version !== 'number') return undefined;
  const progress = { done: typeof done === 'number' ? done : 0, ...(typeof step === 'number' ? { step } : {}) };
  return { version, owner: String(owner), ...progress };
}

/** A process that works in the background. */
export interface Worker extends Contender {
  readonly database: Database;
}

/** A job whose lease this process holds. */
export interface OwnJob {
  /** Progress so far, in units of the job; 0 if it was made in another step of the job. */
  done(step?: number): number;
  /** Records the progress, which is stored with the next renewal of the lease. */
  reach(done: number, step?: number): void;
  /** Aborted when this process stops or another one takes over the job. */
  readonly signal: AbortSignal;
}

/**
 * Does a job under its lease; returns false if another process holds the lease. The lease depends on clocks, so two
 * processes may briefly work at the same time: writes must be idempotent.
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
    load: () => loadJob(database, key),
    put: (next: Job) => putVersion(newCall(database), database.tables.entities, { pk: key.pk, sk: key.sk, ...next }),
  };
  const lease = await tryLease(
    { ...worker, store, prepare: (found) => found ?? { version: 0, owner: '', done: 0 } },
    seen,
    signal,
  );
  if (lease === undefined) return false;
  const { done: before, step: of } = lease.current;
  let reached: Progress = of === undefined ? { done: before } : { done: before, step: of };
  const progress = {
    done: (step?: number) => (reached.step === step ? reached.done : 0),
    reach(done: number, step?: number) {
      reached = step === undefined ? { done } : { done, step };
    },
  };
  await whileLeased(lease, (working) => work({ ...progress, signal: working }), signal, {
    refresh: (job) => ({ ...job, ...reached }),
  });
  return true;
}
