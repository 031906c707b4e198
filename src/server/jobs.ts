import { systemClock } from '../clock.js';
import { CellportError } from '../errors.js';
import type { RepartitionProgress } from '../jobs/layout-phase.js';
import { repartition } from '../jobs/repartition.js';
import { runJobs } from '../jobs/run-jobs.js';
import type { Log } from '../log.js';
import type { Collection } from '../model/collection.js';
import type { Sighting } from '../store/lease.js';
import { ownerIsGone, ownName } from '../stream/consume/owners.js';
import { removeSource } from '../stream/mapped/remove.js';
import type { Backend, StreamBackend } from './backend.js';
import { inBackground, type Background } from './background.js';
import { findOccupied, type DerivedData } from './consumer.js';
import { sourceConsumer } from './sources/report.js';

/**
 * How long other processes may still use a collection as they read it, beyond the deadline of a request: a server caches
 * collections for 2 s; an import checks every 5 s and stops when the check has failed for 40 s.
 */
const SETTLE_MS = 50_000;
const JOBS_LEASE_MS = 20_000;
const JOBS_EVERY_MS = 15_000;

/** Starts the background jobs, which all processes share; `deadlineMs` is the deadline of a request. */
export function startJobs({ database }: Backend, derived: DerivedData, deadlineMs: number, log: Log): Background {
  const options = {
    worker: { database, self: ownName(), ownerIsGone, clock: database.clock, leaseMs: JOBS_LEASE_MS },
    async cellsCaughtUp(signal: AbortSignal) {
      await derived.caughtUp(signal);
      return derived.status().countsExact;
    },
    removeSource(collection: Collection, signal: AbortSignal) {
      const scope = database.keys.scope(collection);
      return removeSource(database, scope, sourceConsumer(scope), signal);
    },
    settleMs: SETTLE_MS + deadlineMs,
    everyMs: JOBS_EVERY_MS,
    log,
  };
  return inBackground((signal) => runJobs(options, signal));
}

export interface RepartitionRun {
  readonly deadlineMs: number;
  readonly maxWcu: number;
  readonly onProgress: (progress: RepartitionProgress) => void;
}

/** A killed run is replaced after this time; one on the same machine at once. */
const LEASE_MS = 10_000;
const LOOK_EVERY_MS = 500;

/** How long each wait takes. */
export const settleMs = (deadlineMs: number): number => SETTLE_MS + deadlineMs;

/**
 * Completes the change of a collection's layout that is in progress. Throws CONFLICT if another process is doing so.
 * `deadlineMs` is the deadline of requests to all servers.
 */
export async function completeRepartition(
  backend: StreamBackend,
  collection: Collection,
  { deadlineMs, maxWcu, onProgress }: RepartitionRun,
  signal: AbortSignal,
): Promise<void> {
  const { database } = backend;
  const options = {
    worker: { database, self: ownName(), ownerIsGone, clock: database.clock, leaseMs: LEASE_MS },
    settle: (phase: AbortSignal) => systemClock.sleep(settleMs(deadlineMs), phase),
    async occupied(layout: Collection, phase: AbortSignal) {
      const prefixes = await findOccupied(backend, layout, phase);
      if (prefixes !== undefined) return prefixes;
      const message = `collection ${layout.key} has too many partitions to query each (prefix length ${layout.prefixLength}), and its cells, which show where markers are, may be wrong: run \`cellport recount\``;
      throw new CellportError('UNAVAILABLE', message);
    },
    maxWcu,
    onProgress,
  };
  const seen: Sighting = {};
  // The owner of a lease writes several times per term, so a live one is seen to write within a term.
  const until = systemClock.now() + 1.4 * LEASE_MS;
  while (!(await repartition(options, collection, seen, signal))) {
    if (systemClock.now() > until) {
      throw new CellportError('CONFLICT', `another process is changing the layout of collection ${collection.key}`);
    }
    await systemClock.sleep(LOOK_EVERY_MS, signal);
    signal.throwIfAborted();
  }
}
