import { setTimeout as sleep } from 'node:timers/promises';

import { systemClock } from '../clock.js';
import type { Services } from '../graphql/context.js';
import type { Log } from '../log.js';
import { entryChanges } from '../store/marker/entry-changes.js';
import { type ConsumerStatus, createConsumer } from '../stream/consumer.js';
import { firstSince, openCells, openState, openStream } from '../stream/dynamodb.js';
import { ownName, ownerIsGone } from '../stream/owners.js';
import { openRecount } from '../stream/recount-reads.js';
import { type RecountResult, recount } from '../stream/recount.js';
import type { Backend } from './backend.js';
import type { LiveFeed } from './live.js';

/** The cells of all collections, kept by this process, or by another one while that lives. */
export interface Cells {
  status(): ConsumerStatus;
  /**
   * Resolves once the cells hold all that was written before the call. Rejects with the signal's reason when it is aborted,
   * and where the cells cannot be kept at all.
   */
  caughtUp(signal: AbortSignal): Promise<void>;
  /** Stops, and lets another process take over at once. */
  stop(): Promise<void>;
}

/** Under which name the state of this consumer stands. */
const CONSUMER = 'cells';
const POLL_MS = 50;
/** How long a write may take to show in the stream. */
const APPEARS_WITHIN_MS = 300;

function partsOf({ database, streams }: Backend, log: Log) {
  return {
    stream: openStream(database, streams),
    state: openState(database, CONSUMER),
    cells: openCells(database),
    clock: systemClock,
    keys: database.keys,
    log,
    self: ownName(),
  };
}

/**
 * Counts all markers anew, beside writers and servers at work, and puts the cells right; with `checkOnly` it only tells
 * which blocks differ. Rejects with the signal's reason when it is aborted.
 */
export function recountCells(
  backend: Backend,
  log: Log,
  checkOnly: boolean,
  signal: AbortSignal,
): Promise<RecountResult> {
  const tables = openRecount(backend.database, CONSUMER);
  return recount({ ...partsOf(backend, log), tables, checkOnly }, signal);
}

/** Cells that somebody else keeps: of what is known of them, nothing can be trusted. */
export function leaveCells(): Cells {
  const unknown = { behindMs: undefined, gap: null, setAside: 0, batch: 0, recordsFolded: 0, blocksWritten: 0 };
  return {
    status: () => ({ owner: false, countsExact: false, ...unknown }),
    caughtUp: () => Promise.resolve(),
    stop: () => Promise.resolve(),
  };
}

/** Caches that the stream keeps up to date. */
export type Caches = Pick<Services, 'cellCache' | 'markerCache'>;

export interface KeepOptions {
  readonly caches?: Caches | undefined;
  readonly live?: LiveFeed | undefined;
  /** Whether counts of another layout are gone on with, inexact until a recount. */
  readonly upgrade?: boolean | undefined;
}

/** Begins to keep the cells, to keep caches right, and to tell of changes. The tables must be there. */
export function keepCells(backend: Backend, log: Log, { caches, live, upgrade }: KeepOptions = {}): Cells {
  const parts = partsOf(backend, log);
  const consumer = createConsumer({
    ...parts,
    since: () => firstSince(backend.database),
    ownerIsGone,
    upgrade,
    onRecord(record) {
      try {
        caches?.markerCache.changed(entryChanges(record.before, record.after));
      } catch (error) {
        // The cells count on, and nothing that was cached is trusted that missed this one.
        log.error({ err: error }, 'A record could not be brought into the cache of markers');
        caches?.markerCache.clear();
      }
      live?.onRecord(record);
    },
    onLoss(reason) {
      caches?.markerCache.clear();
      live?.onLoss(reason);
    },
    onApplied: (batch, changes) => caches?.cellCache.applied(batch, changes),
    // What was cached before was kept right by somebody else, or by nobody.
    onOwnership: (owner) => {
      caches?.cellCache.clear();
      caches?.markerCache.clear();
      live?.onOwnership(owner);
    },
  });
  const stopping = new AbortController();
  let failure: { readonly error: unknown } | undefined;
  const running = consumer.run(stopping.signal).catch((error: unknown) => {
    failure = { error };
    log.error({ err: error }, 'The cells are no longer kept');
  });
  return {
    status: () => consumer.status(),
    async caughtUp(signal) {
      const from = performance.now() + APPEARS_WITHIN_MS;
      for (;;) {
        signal.throwIfAborted();
        if (failure !== undefined) throw failure.error;
        const { behindMs } = consumer.status();
        if (behindMs !== undefined && performance.now() - behindMs >= from) return;
        // Aborted or not, the loop looks.
        await sleep(POLL_MS, undefined, { signal }).catch(() => undefined);
      }
    },
    async stop() {
      stopping.abort();
      await running;
    },
  };
}
