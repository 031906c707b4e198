import { setMaxListeners } from 'node:events';

import type { Key } from '../keys/document-id.js';
import type { Database } from '../store/database.js';
import { type Job, loadJob, putJob } from '../store/collection/job-item.js';
import { newCall } from '../store/request/meter.js';

/** A process that does work in the background. */
export interface Worker {
  readonly database: Database;
  /** Its name among all processes there will ever be. */
  readonly self: string;
  /** Whether the process of this name is known to be dead. */
  readonly ownerIsGone: (owner: string) => boolean;
  /** Milliseconds of a clock that never goes back. */
  readonly now: () => number;
  /** Milliseconds; ends early, without an error, when the signal is aborted. */
  readonly sleep: (ms: number, signal: AbortSignal) => Promise<void>;
  /** A job whose version has not changed for so long, on this process's clock, may be taken over. */
  readonly leaseMs: number;
}

/** What this process last saw of the jobs of others. */
export type Sightings = Map<string, { readonly version: number; readonly at: number }>;

/** A job that is this process's own. */
export interface OwnJob {
  /** How far it had come, or has come. */
  done(): number;
  /** Remembers how far it has come: written with the next heartbeat. */
  reach(done: number): void;
  readonly signal: AbortSignal;
}

/** The job was taken over by another process. */
class JobLost extends Error {
  override readonly name = 'JobLost';
}

/** Takes a job that is nobody's, or whose owner has not been heard of for a lease; undefined where it is another's. */
async function take(worker: Worker, key: Key, seen: Sightings, signal: AbortSignal): Promise<Job | undefined> {
  const { database, self, now, leaseMs, ownerIsGone } = worker;
  const call = newCall(signal);
  const name = database.keys.documentId(key);
  const found = await loadJob(database, key, call);
  if (found !== undefined) {
    const sighting = seen.get(name);
    if (sighting?.version !== found.version) seen.set(name, { version: found.version, at: now() });
    const silent = sighting?.version === found.version && now() - sighting.at >= leaseMs;
    const free = found.owner === '' || found.owner === self || silent || ownerIsGone(found.owner);
    if (!free) return undefined;
  }
  const next = { version: (found?.version ?? 0) + 1, owner: self, done: found?.done ?? 0 };
  return (await putJob(database, key, next, call)) ? next : undefined;
}

/**
 * Does a piece of work, if it is nobody's or its owner is gone, and gives whether it was done. Meanwhile heartbeats say
 * that it is looked after. The work's signal is aborted when the process stops, or another one has taken the job over:
 * clocks only decide who tries, and what the work writes must be harmless when it is done by two.
 */
export async function doJob(
  worker: Worker,
  key: Key,
  seen: Sightings,
  work: (job: OwnJob) => Promise<void>,
  signal: AbortSignal,
): Promise<boolean> {
  const { database, leaseMs, sleep } = worker;
  let current = await take(worker, key, seen, signal);
  if (current === undefined) return false;
  let reached = current.done;
  const session = new AbortController();
  // Every call under way listens.
  setMaxListeners(0, session.signal);
  const stop = () => session.abort(signal.reason);
  signal.addEventListener('abort', stop, { once: true });
  if (signal.aborted) stop();
  const put = async (job: Job): Promise<void> => {
    const next = { ...job, version: job.version + 1, done: reached };
    if (!(await putJob(database, key, next, newCall()))) throw new JobLost('another process has taken the job over');
    current = next;
  };
  async function beat(): Promise<void> {
    for (;;) {
      await sleep(leaseMs / 4, session.signal);
      if (session.signal.aborted || current === undefined) return;
      await put(current);
    }
  }
  const beating = beat().catch((error: unknown) => session.abort(error));
  let finished = false;
  try {
    await work({ done: () => reached, reach: (done) => (reached = done), signal: session.signal });
    finished = true;
  } finally {
    signal.removeEventListener('abort', stop);
    session.abort(new Error('the job is over'));
    await beating;
    // Nobody has to wait for the lease of one who stops in order.
    if (!finished) await put({ ...current, owner: '' }).catch(() => undefined);
  }
  return true;
}
