import { systemClock } from '../clock.js';
import type { Services } from '../graphql/context.js';
import { type Log, silentLog } from '../log.js';
import type { Collection } from '../model/collection.js';
import { type Prefixes, occupiedLength, occupiedPrefixes } from '../store/cell/partition-prefixes.js';
import { entryChanges } from '../store/marker/entry-changes.js';
import { newCall } from '../store/request/meter.js';
import { LAYOUT, changeOf } from '../stream/change.js';
import { type ConsumerStatus, createConsumer } from '../stream/consumer.js';
import { firstSince, openCells, openState, openStream } from '../stream/dynamodb.js';
import { readBeyond } from '../stream/follower.js';
import { ownName, ownerIsGone } from '../stream/owners.js';
import { openRecount } from '../stream/recount-reads.js';
import { type RecountResult, recount } from '../stream/recount.js';
import { firstState } from '../stream/state.js';
import type { StreamBackend } from './backend.js';
import type { LiveFeed } from './live.js';

/** The cells of all collections, updated by this process or by the one that holds the lease. */
export interface Cells {
  status(): ConsumerStatus;
  /** Resolves once the cells include every write before the call. Rejects on abort, or if the consumer has failed. */
  caughtUp(signal: AbortSignal): Promise<void>;
  /** Stops, and releases the lease so that another process can take over immediately. */
  stop(): Promise<void>;
}

/** Name of the consumer's state. */
const CONSUMER = 'cells';
const POLL_MS = 50;
/** How long a write may take to appear in the stream. */
const APPEARS_WITHIN_MS = 300;

/** What a stream consumer and a recount share; `consumer` names the stored state. */
export function consumerParts({ database, streams }: StreamBackend, log: Log, consumer = CONSUMER) {
  return {
    stream: openStream(database, streams),
    state: openState(database, consumer),
    cells: openCells(database),
    clock: systemClock,
    keys: database.keys,
    log,
    self: ownName(),
    since: () => firstSince(database),
  };
}

/**
 * Recounts all markers while servers and writers are running, and repairs the cells; with `checkOnly` it only finds the
 * blocks that differ. Rejects with the signal's reason on abort.
 */
export function recountCells(
  backend: StreamBackend,
  log: Log,
  checkOnly: boolean,
  signal: AbortSignal,
): Promise<RecountResult> {
  const tables = openRecount(backend.database, CONSUMER);
  return recount({ ...consumerParts(backend, log), tables, checkOnly }, signal);
}

/**
 * The prefixes under which a collection may have markers, with every write before the call: those of the cells, and those
 * of records that the cells may not have yet. Only reads. Undefined if the cells may be wrong; throws if the stream cannot
 * be read.
 */
export async function findOccupied(
  backend: StreamBackend,
  collection: Collection,
  signal: AbortSignal,
): Promise<Prefixes | undefined> {
  const { database } = backend;
  const { state: port, since, ...parts } = consumerParts(backend, silentLog);
  const until = systemClock.now() + APPEARS_WITHIN_MS;
  // Before the cells: what is complete in this state is in them.
  const state = (await port.load()) ?? firstState(await parts.stream.identify(), await since());
  if (state.layout !== LAYOUT || state.gap !== null) return undefined;
  const scope = database.keys.scope(collection);
  const recent = new Set<string>();
  await readBeyond(
    {
      ...parts,
      pollMs: POLL_MS,
      onRecord(record) {
        const change = changeOf(database.keys, record);
        if (change?.scope === scope && change.after) recent.add(change.after.cell.slice(0, occupiedLength(collection)));
      },
    },
    state,
    until,
    signal,
  );
  return occupiedPrefixes(database, collection, newCall(signal), recent);
}

/** Cells that another process updates: this one does not know whether they are up to date. */
export function unknownCells(): Cells {
  const unknown = {
    behindMs: undefined,
    gap: null,
    failingWrites: null,
    setAside: 0,
    batch: 0,
    recordsFolded: 0,
    blocksWritten: 0,
  };
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
  /** Whether to continue from counts of an older layout, which are inexact until a recount. */
  readonly upgrade?: boolean | undefined;
}

/** Starts the stream consumer, which updates the cells and caches and passes changes on. The tables must exist. */
export function keepCells(backend: StreamBackend, log: Log, { caches, live, upgrade }: KeepOptions = {}): Cells {
  const consumer = createConsumer({
    ...consumerParts(backend, log),
    ownerIsGone,
    upgrade,
    onRecord(record) {
      try {
        caches?.markerCache.changed(entryChanges(record.before, record.after));
      } catch (error) {
        // The cells are still updated, but the cache has missed a change and can no longer be trusted.
        log.error({ err: error }, 'Could not apply a record to the marker cache; cleared it');
        caches?.markerCache.clear();
      }
      live?.onRecord(record);
    },
    onLoss(reason) {
      caches?.markerCache.clear();
      live?.onLoss(reason);
    },
    onApplied: (batch, changes) => caches?.cellCache.applied(batch, changes),
    // Entries cached before were not updated meanwhile.
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
    log.error({ err: error }, 'The stream consumer has failed; cells are no longer updated');
  });
  return {
    status: () => consumer.status(),
    async caughtUp(signal) {
      const from = systemClock.now() + APPEARS_WITHIN_MS;
      for (;;) {
        signal.throwIfAborted();
        if (failure !== undefined) throw failure.error;
        const { behindMs } = consumer.status();
        if (behindMs !== undefined && systemClock.now() - behindMs >= from) return;
        await systemClock.sleep(POLL_MS, signal);
      }
    },
    async stop() {
      stopping.abort();
      await running;
    },
  };
}
