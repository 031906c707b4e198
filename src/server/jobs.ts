import { runJobs } from '../jobs/run-jobs.js';
import type { Log } from '../log.js';
import { ownName, ownerIsGone } from '../stream/consume/owners.js';
import type { Backend } from './backend.js';
import type { Cells } from './consumer.js';

/**
 * How long other processes may still use a collection as they read it, beyond the deadline of a request: a server caches
 * collections for 2 s; an import checks every 5 s and stops when the check has failed for 40 s.
 */
export const SETTLE_MS = 50_000;
const LEASE_MS = 20_000;
const LOOK_EVERY_MS = 15_000;

/** Background jobs, run by this process until it is stopped. */
export interface Jobs {
  stop(): Promise<void>;
}

/** Starts the background jobs, which all processes share; `deadlineMs` is the deadline of a request. */
export function startJobs({ database }: Backend, cells: Cells, deadlineMs: number, log: Log): Jobs {
  const stopping = new AbortController();
  const running = runJobs(
    {
      worker: {
        database,
        self: ownName(),
        ownerIsGone,
        clock: database.clock,
        leaseMs: LEASE_MS,
      },
      async cellsCaughtUp(signal) {
        await cells.caughtUp(signal);
        return cells.status().countsExact;
      },
      settleMs: SETTLE_MS + deadlineMs,
      everyMs: LOOK_EVERY_MS,
      log,
    },
    stopping.signal,
  );
  return {
    async stop() {
      stopping.abort();
      await running;
    },
  };
}
