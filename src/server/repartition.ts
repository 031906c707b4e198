import { systemClock } from '../clock.js';
import { CellportError } from '../errors.js';
import type { RepartitionProgress } from '../jobs/layout-phase.js';
import { repartition } from '../jobs/repartition.js';
import type { Collection } from '../model/collection.js';
import type { Sighting } from '../store/lease.js';
import { ownerIsGone, ownName } from '../stream/consume/owners.js';
import type { StreamBackend } from './backend.js';
import { findOccupied } from './consumer.js';
import { SETTLE_MS } from './jobs.js';

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
