import { systemClock } from '../../clock.js';
import { doJob, type OwnJob } from '../../jobs/job.js';
import type { Log } from '../../log.js';
import { loadStreamState } from '../../store/cell/stream-state.js';
import { isHeld, type Sighting } from '../../store/lease.js';
import { newCall } from '../../store/request/meter.js';
import { type SourceCollection } from '../../store/source/source-mapping.js';
import { Consumer, type ConsumerStatus } from '../../stream/consume/consumer.js';
import { ownerIsGone, ownName } from '../../stream/consume/owners.js';
import { REREAD_JOB } from '../../stream/mapped/remove.js';
import { unbuiltState, withGap } from '../../stream/state.js';
import type { StreamBackend } from '../backend.js';
import { inBackground, type Background } from '../background.js';
import { forgetCached, noConsumer, noteBatch, notedPages, type Caches } from '../consumer.js';
import { keepExact } from '../exact-counts.js';
import { feedAll, type Live, type LiveFeed } from '../live.js';
import { Failures } from './failures.js';
import { fillSource, sourceParts } from './fill.js';
import { openSourceLive } from './live.js';
import { sourceConsumer } from './report.js';

const REREAD_LOOK_MS = 5_000;
const REREAD_LEASE_MS = 20_000;
/** A shard may be read five times a second, by all of its readers. */
const POLL_MS = 500;
/** The reason of the gap until a source is filled for the first time. */
const NOT_FILLED = 'the table has not been read yet';

/** Reads the table of a source without a stream again whenever it is due, in one of the processes that keep it. */
function rereadSource(backend: StreamBackend, collection: SourceCollection, log: Log, failures: Failures): Background {
  const { database } = backend;
  const { clock } = database;
  const scope = database.keys.scope(collection);
  const { everyMs = Infinity } = collection.source;
  const worker = { database, self: ownName(), ownerIsGone, clock, leaseMs: REREAD_LEASE_MS };
  const state: Sighting = {};
  /** Whether the table is to be read, and nobody does, such as a command with another mapping. */
  async function isDue(): Promise<boolean> {
    const found = await loadStreamState(database, sourceConsumer(scope), newCall());
    if (found === undefined) return true;
    const { gap, endAt } = found;
    return !isHeld(found, state, worker) && (gap !== null || clock.wall() - (endAt ?? -Infinity) >= everyMs);
  }
  const work = async (job: OwnJob) => {
    if (!(await isDue())) return;
    const { markers } = await fillSource(backend, collection, log, job.signal);
    log.info({ collection: collection.key, markers }, 'Read the table of a source again');
    await failures.clear();
  };
  return inBackground(async (signal) => {
    const seen = {};
    while (!signal.aborted) {
      try {
        if (await isDue()) await doJob(worker, database.keys.job(scope, REREAD_JOB), seen, work, signal);
      } catch (err) {
        if (signal.aborted) return;
        log.warn({ err, collection: collection.key }, 'Cannot read the table of a source; retrying');
        await failures.note(err);
      }
      await systemClock.sleep(REREAD_LOOK_MS, signal);
    }
  });
}

/** One source that this process follows, or waits to follow. */
export interface Followed {
  readonly collection: SourceCollection;
  status(): ConsumerStatus;
  /** See `SourceLive.since`; undefined if it has no live changes. */
  liveSince(): Promise<number | undefined>;
  /** Why it cannot be read, as far as this process knows; null if it can. */
  failure(): string | null;
  /** Whether it cannot go on, because the stored state is that of another mapping. */
  hasEnded(): boolean;
  /** Called again and again. */
  look(): Promise<void>;
  stop(): Promise<void>;
}

export interface Following {
  readonly caches?: Caches | undefined;
  readonly live?: Live | undefined;
  readonly purging?: LiveFeed | undefined;
  /** Whether only live changes are needed. */
  readonly liveOnly?: boolean | undefined;
}

export function followSource(
  backend: StreamBackend,
  collection: SourceCollection,
  log: Log,
  { caches, live: streams, purging, liveOnly = false }: Following,
  { upgrade }: { readonly upgrade: boolean },
): Followed {
  const failures = new Failures(backend.database, collection, log);
  const unknown = noConsumer();
  const others = {
    collection,
    failure: () => failures.now,
    hasEnded: () => false,
    liveSince: () => Promise.resolve(undefined),
    status: () => unknown.status(),
    look: () => Promise.resolve(),
    stop: () => Promise.resolve(),
  };
  if (collection.source.everyMs !== undefined) {
    if (liveOnly) return others;
    const rereading = rereadSource(backend, collection, log, failures);
    return { ...others, stop: () => rereading.stop() };
  }
  const found = sourceParts(backend, collection, log);
  const live = streams && openSourceLive(backend.database, streams, collection, found.stream);
  const feed = feedAll([live?.feed, purging]);
  const liveSince = async () => live?.since();
  if (liveOnly) return { ...others, liveSince, stop: async () => live?.close() };
  const parts = { ...found, stream: failures.watched(found.stream) };
  const stopping = new AbortController();
  const pageCache = caches?.pageServices.pageCache;
  const consumer = new Consumer({
    ...parts,
    pages: {
      ...parts.pages,
      open: (generation) => notedPages(parts.pages.open(generation), generation, pageCache, caches?.changes),
    },
    since: () => Promise.resolve(0),
    async first() {
      const state = unbuiltState(await parts.stream.identify(), parts.clock.wall());
      return withGap(state, NOT_FILLED, parts.clock.wall());
    },
    ownerIsGone,
    upgrade,
    pollMs: POLL_MS,
    onRecord: (record) => feed.onRecord(record),
    onLoss: (reason) => feed.onLoss(reason),
    onFailure: (error) => void failures.note(error),
    onApplied: (batch, changes) => noteBatch(caches, batch, changes),
    // Entries cached before were not updated meanwhile.
    onOwnership(owner) {
      feed.onOwnership(owner);
      forgetCached(caches);
    },
  });
  let ended = false;
  // The state is that of another mapping, which either this process or another one has not seen yet.
  const running = consumer.run(stopping.signal).catch((err: unknown) => {
    ended = true;
    log.debug({ err, collection: collection.key }, 'A source has another mapping');
  });
  const refill = (signal: AbortSignal) => fillSource(backend, collection, log, signal);
  const exact = keepExact(
    () => consumer.status(),
    refill,
    log,
    (error) => void failures.note(error),
  );
  return {
    collection,
    failure: () => failures.now,
    hasEnded: () => ended,
    liveSince,
    status: () => consumer.status(),
    look: () => failures.look(consumer.status()),
    async stop() {
      stopping.abort();
      await Promise.all([running, exact.stop(), live?.close()]);
    },
  };
}
