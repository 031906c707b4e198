import { runJobs } from '../jobs/run-jobs.js';
import type { Log } from '../log.js';
import type { Collection } from '../model/collection.js';
import { ownerIsGone, ownName } from '../stream/consume/owners.js';
import { removeSource } from '../stream/mapped/remove.js';
import type { Backend } from './backend.js';
import { inBackground, type Background } from './background.js';
import type { DerivedData } from './consumer.js';
import { sourceConsumer } from './sources/report.js';

/**
 * How long other processes may still use a collection as they read it, beyond the deadline of a request: a server caches
 * collections for 2 s; an import checks every 5 s and stops when the check has failed for 40 s.
 */
export const SETTLE_MS = 50_000;
const LEASE_MS = 20_000;
const LOOK_EVERY_MS = 15_000;

/** Starts the background jobs, which all processes share; `deadlineMs` is the deadline of a request. */
export function startJobs({ database }: Backend, derived: DerivedData, deadlineMs: number, log: Log): Background {
  const options = {
    worker: { database, self: ownName(), ownerIsGone, clock: database.clock, leaseMs: LEASE_MS },
    async cellsCaughtUp(signal: AbortSignal) {
      await derived.caughtUp(signal);
      return derived.status().countsExact;
    },
    removeSource(collection: Collection, signal: AbortSignal) {
      const scope = database.keys.scope(collection);
      return removeSource(database, scope, sourceConsumer(scope), signal);
    },
    settleMs: SETTLE_MS + deadlineMs,
    everyMs: LOOK_EVERY_MS,
    log,
  };
  return inBackground((signal) => runJobs(options, signal));
}
