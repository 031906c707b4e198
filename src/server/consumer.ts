import { systemClock } from '../clock.js';
import type { Config } from '../config.js';
import { cellRange } from '../geo/geohash.js';
import type { ChangeLog } from '../loaders/area-memory.js';
import type { CellCache } from '../loaders/cell-cache.js';
import type { ConsumerReport } from '../loaders/consumer-trust.js';
import { silentLog, type Log } from '../log.js';
import type { CellChanges } from '../model/cell-changes.js';
import { LONGEST_BLOCK, placeOfParent } from '../model/cell.js';
import type { Collection } from '../model/collection.js';
import { pageName, type PageCache } from '../read/from-pages/page-cache.js';
import type { RecentCache } from '../read/from-pages/recent-cache.js';
import { occupiedLength, occupiedPrefixes, type PartitionPrefixes } from '../store/cell/partition-prefixes.js';
import { CONSUMER, loadStreamState } from '../store/cell/stream-state.js';
import { newCall, type Database } from '../store/database.js';
import { putRecentWrites } from '../store/page/recent-writes.js';
import { changeOf, DERIVED_FORMAT } from '../stream/change.js';
import { Consumer, reportOf, type ConsumerStatus } from '../stream/consume/consumer.js';
import { consumerParts } from '../stream/consume/derived-ports.js';
import { EMBEDDED_LOAD_POLICY } from '../stream/consume/flood.js';
import { reachedBy, readBeyond, type Followed } from '../stream/consume/follower.js';
import { ownerIsGone } from '../stream/consume/owners.js';
import type { PagesPort } from '../stream/ports.js';
import { openRecount } from '../stream/recount/reads.js';
import { recount } from '../stream/recount/recount.js';
import type { RecountResult } from '../stream/recount/scan.js';
import { firstState } from '../stream/state.js';
import type { StreamBackend } from './backend.js';
import { inBackground } from './background.js';
import type { LiveFeed } from './live.js';

/** The derived data of all collections, updated by this process or by the one that holds the lease. */
export interface DerivedData {
  status(): ConsumerStatus;
  /** Resolves once they include every write before the call. Rejects on abort, or if the consumer has failed. */
  caughtUp(signal: AbortSignal): Promise<void>;
  /** Stops, and releases the lease so that another process can take over immediately. */
  stop(): Promise<void>;
}

const POLL_MS = 50;
/** Maximum time for a write to appear in the stream of a table on AWS, in milliseconds. */
const APPEARS_WITHIN_MS = 300;

/** When every write before the call is in the stream. The embedded engine writes item and record in one transaction. */
export const inStreamBy = ({ waitsForDisk }: Database): number =>
  systemClock.now() + (waitsForDisk ? 0 : APPEARS_WITHIN_MS);

/**
 * Recounts all markers while servers and writers are running, and repairs the cells; with `checkOnly` it only finds the
 * blocks that differ. Rejects with the signal's reason on abort.
 */
export function recountDerived(
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
): Promise<PartitionPrefixes | undefined> {
  const { database } = backend;
  const { state: port, since, ...parts } = consumerParts(backend, silentLog);
  const until = inStreamBy(database);
  // Before the cells: what is complete in this state is in them.
  const state = (await port.load()) ?? firstState(await parts.stream.identify(), await since());
  if (state.layout !== DERIVED_FORMAT || state.gap !== null) return undefined;
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
  return occupiedPrefixes(newCall(database, signal), collection, recent);
}

/** Derived data that another process updates: this one does not know whether they are up to date. */
export function noConsumer(): DerivedData {
  const unknown = {
    behindMs: undefined,
    gap: null,
    pages: null,
    failingWrites: null,
    deadLetters: 0,
    batch: 0,
    complete: 0,
    endAt: null,
    summariesSince: null,
    recordsFolded: 0,
    blocksWritten: 0,
  };
  return {
    status: () => ({ owner: false, countsExact: false, ...unknown }),
    caughtUp: () => Promise.resolve(),
    stop: () => Promise.resolve(),
  };
}

/** On AWS a recount reads, and pays for, the whole table: that is for its owner to decide. */
function adviseRecount({ pages }: ConsumerStatus, log: Log): void {
  if (pages === null)
    log.warn({}, 'This table has no pages of markers, so maps read its index: run `cellport recount` once');
}

/**
 * How far the consumer is, whichever process runs it, as it was stored lately, and as a follower of the stream tells;
 * undefined before its first start.
 */
export async function storedReport(
  database: Database,
  ends: readonly Followed[] = [],
): Promise<ConsumerReport | undefined> {
  const state = await loadStreamState(newCall(database), CONSUMER, { consistent: false });
  if (state?.layout !== DERIVED_FORMAT) return undefined;
  return { ...reportOf(state), endAt: reachedBy(state, ends), gap: state.gap };
}

/** Caches that the stream keeps up to date. */
export interface Caches {
  readonly cellCache: Pick<CellCache, 'applied' | 'clear'>;
  readonly pageServices: {
    readonly pageCache: Pick<PageCache, 'changed' | 'clear'>;
    readonly recent?: Pick<RecentCache, 'own'>;
  };
  readonly changes: Pick<ChangeLog, 'changed' | 'clear'>;
}

export interface KeepOptions {
  readonly caches?: Caches | undefined;
  readonly live?: LiveFeed | undefined;
  /**
   * Whether this is the embedded engine, where reads and writes cost nothing: counts of an older layout are accepted, as a
   * recount may follow, and the first ones of a load come early.
   */
  readonly embedded?: boolean | undefined;
}

/** Takes the changes of a batch into the caches. */
export function noteBatch(caches: Caches | undefined, batch: number, changes: CellChanges): void {
  caches?.cellCache.applied(batch, changes);
  for (const [scope, blocks] of changes) {
    const finest = [...blocks].filter(
      ([parent]) => parent.length === LONGEST_BLOCK && placeOfParent(parent) === undefined,
    );
    caches?.changes.changed(
      scope,
      finest.map(([parent]) => cellRange(parent)),
    );
  }
}

/** Drops what is cached: the changes since were not noted. */
export function forgetCached(caches: Caches | undefined): void {
  caches?.cellCache.clear();
  caches?.pageServices.pageCache.clear();
  caches?.changes.clear();
}

/** Pages whose writes are noted in the caches of readers. */
export function notedPages(
  pages: PagesPort,
  generation: string,
  cache: Pick<PageCache, 'changed'> | undefined,
  changes?: Caches['changes'],
): PagesPort {
  const write: PagesPort['write'] = async (replacements) => {
    try {
      return await pages.write(replacements);
    } finally {
      // Even if they failed: a write that fails may have been done.
      for (const { scope, begin, round, pages: written } of replacements) {
        cache?.changed(pageName(scope, generation, begin), round);
        const end = written.at(-1)?.end;
        const to = end === undefined ? cellRange(begin.charAt(0)).to : cellRange(end).from + 1;
        changes?.changed(scope, [{ from: cellRange(begin).from, to }]);
      }
    }
  };
  return { ...pages, write };
}

/** The derived data of all collections for a command: updated by it, unless servers alone do so. */
export function openDerived(backend: StreamBackend, { consumer, database }: Config, log: Log): DerivedData {
  return consumer ? startConsumer(backend, log, { embedded: database.kind === 'embedded' }) : noConsumer();
}

/** Starts the stream consumer, which updates derived data and caches and passes changes on. The tables must exist. */
export function startConsumer(
  backend: StreamBackend,
  log: Log,
  { caches, live, embedded }: KeepOptions = {},
): DerivedData {
  const parts = consumerParts(backend, log);
  const { pageCache, recent } = caches?.pageServices ?? {};
  const call = newCall(backend.database);
  const consumer = new Consumer({
    ...parts,
    pages: {
      ...parts.pages,
      recent: { put: (scope, as, part) => putRecentWrites(call, { scope, ...as }, part, recent?.own) },
      open: (generation) => notedPages(parts.pages.open(generation), generation, pageCache, caches?.changes),
    },
    ownerIsGone,
    upgrade: embedded,
    waits: true,
    ...(embedded === true ? { load: EMBEDDED_LOAD_POLICY } : {}),
    onRecord: (record) => live?.onRecord(record),
    onLoss: (reason) => live?.onLoss(reason),
    onApplied: (batch, changes) => noteBatch(caches, batch, changes),
    // Entries cached before were not updated meanwhile.
    onOwnership: (owner) => {
      if (owner && embedded !== true) adviseRecount(consumer.status(), log);
      forgetCached(caches);
      live?.onOwnership(owner);
    },
  });
  const running = inBackground((signal) => consumer.run(signal));
  return {
    status: () => consumer.status(),
    async caughtUp(signal) {
      const from = inStreamBy(backend.database);
      for (;;) {
        signal.throwIfAborted();
        if (consumer.otherFormat !== undefined) throw consumer.otherFormat;
        const { behindMs } = consumer.status();
        if (behindMs !== undefined && systemClock.now() - behindMs >= from) return;
        await systemClock.sleep(POLL_MS, signal);
      }
    },
    stop: () => running.stop(),
  };
}
