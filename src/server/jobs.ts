import { systemClock } from '../clock.js';
import { keepJobs } from '../jobs/keep-jobs.js';
import type { Log } from '../log.js';
import { ownName, ownerIsGone } from '../stream/owners.js';
import type { Backend } from './backend.js';
import type { Cells } from './cells.js';

/**
 * Beside the deadline of a request, longer than anybody writes into a collection that was deleted: a server believes for
 * 2 s that one is there, an import looks every 5 s and stops when it could not for 40.
 */
const SETTLE_MS = 50_000;
const LEASE_MS = 20_000;
const LOOK_EVERY_MS = 15_000;

/** Work in the background, done by this process until it is stopped. */
export interface Jobs {
  stop(): Promise<void>;
}

/** Begins to do what is left for the background, beside other processes; `deadlineMs` is that of a request. */
export function startJobs({ database }: Backend, cells: Cells, deadlineMs: number, log: Log): Jobs {
  const stopping = new AbortController();
  const running = keepJobs(
    {
      worker: {
        database,
        self: ownName(),
        ownerIsGone,
        clock: systemClock,
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
