import { createHash } from 'node:crypto';

import { systemClock } from '../clock.js';
import { reasonFor } from '../errors.js';
import type { Services } from '../graphql/context.js';
import { doJob, type OwnJob } from '../jobs/job.js';
import type { Log } from '../log.js';
import type { Collection } from '../model/collection.js';
import { STALE_AFTER_MS } from '../model/limits.js';
import type { DeadLetter } from '../store/cell/dead-letters.js';
import { everyCollection } from '../store/collection/collection-changes.js';
import type { Database } from '../store/database.js';
import { LeaseLost } from '../store/lease.js';
import { newCall } from '../store/request/meter.js';
import { noteFailure } from '../store/source/failure.js';
import { noteRejected } from '../store/source/rejected-items.js';
import { hasSource, type SourceCollection } from '../store/source/source-mapping.js';
import { DERIVED_FORMAT } from '../stream/change.js';
import { Consumer, type ConsumerStatus } from '../stream/consume/consumer.js';
import { openBlocks, openPages, openState } from '../stream/consume/derived-ports.js';
import { ownerIsGone, ownName } from '../stream/consume/owners.js';
import { NO_DAYS, openFill, type FillProgress } from '../stream/mapped/fill.js';
import { mappedStream } from '../stream/mapped/mapped-stream.js';
import type { StatePort, StreamPort } from '../stream/ports.js';
import { recount } from '../stream/recount/recount.js';
import type { RecountResult } from '../stream/recount/scan.js';
import { openTableStream } from '../stream/source/dynamodb.js';
import { firstState, withGap } from '../stream/state.js';
import type { StreamBackend } from './backend.js';
import { inBackground, type Background } from './background.js';
import { noConsumer, notedPages } from './consumer.js';
import { keepExact } from './exact-counts.js';
import type { LiveFeed } from './live.js';
import { sourceConsumer, sourceReport } from './source-report.js';

const LOOK_EVERY_MS = 2_000;
const REREAD_LOOK_MS = 5_000;
const REREAD_LEASE_MS = 20_000;
/** A shard may be read five times a second, by all of its readers. */
const POLL_MS = 500;

/** The stream of a table that is read again and again instead. */
const NO_STREAM: StreamPort = {
  identify: () => Promise.resolve('none'),
  listShards: () => Promise.resolve({ shards: [], more: false }),
  openShard: () => Promise.reject(new Error('there are no shards')),
  readRecords: () => Promise.reject(new Error('there are no records')),
};

/**
 * The state of a source's consumer. What is stored as the format of the derived data names the mapping, too, so that a
 * process that knows only another mapping leaves it alone.
 */
function openSourceState(database: Database, consumer: string, mapping: () => string): StatePort {
  const port = openState(database, consumer);
  const stored = () => `${DERIVED_FORMAT} ${createHash('sha256').update(mapping()).digest('hex').slice(0, 16)}`;
  return {
    async load() {
      const found = await port.load();
      return found && { ...found, layout: found.layout === stored() ? DERIVED_FORMAT : found.layout };
    },
    put: (next) => port.put({ ...next, layout: next.layout === DERIVED_FORMAT ? stored() : next.layout }),
    putDeadLetters: (items: readonly DeadLetter[]) => noteRejected(database, consumer, items, newCall()),
  };
}

/** What consumers and fills of a source share: its table seems to have markers of Cellport's own. */
function sourceParts(
  { database, streams }: StreamBackend,
  collection: SourceCollection,
  log: Log,
  mapping = () => collection.source.mapping,
) {
  const { keys, clock } = database;
  const { table, everyMs } = collection.source;
  const consumer = sourceConsumer(keys.scope(collection));
  const stream = everyMs === undefined ? openTableStream(database, table, streams) : NO_STREAM;
  return {
    stream: mappedStream(keys, collection, stream),
    state: openSourceState(database, consumer, mapping),
    cells: openBlocks(database),
    pages: { ...openPages(database), versionsByBatch: true },
    clock,
    keys,
    log,
    self: ownName(),
  };
}

export interface FillOptions {
  /** Whether to compare only. */
  readonly checkOnly?: boolean;
  readonly onProgress?: (progress: FillProgress) => void;
  /** The mapping that a new one replaces, and what stores the new one once everything is built. */
  readonly replaced?: { readonly mapping: string; store(): Promise<unknown> };
}

/**
 * Reads the whole table of a source, then its stream, and rebuilds its counts and pages, whichever process follows it.
 * Nothing is written to the table.
 */
export function fillSource(
  backend: StreamBackend,
  collection: SourceCollection,
  log: Log,
  signal: AbortSignal,
  { checkOnly = false, onProgress, replaced }: FillOptions = {},
): Promise<RecountResult> {
  const { database } = backend;
  let mapping = replaced?.mapping ?? collection.source.mapping;
  const parts = sourceParts(backend, collection, log, () => mapping);
  const fill = openFill(database, collection, sourceConsumer(database.keys.scope(collection)), checkOnly, onProgress);
  const built = async () => {
    await replaced?.store();
    ({ mapping } = collection.source);
  };
  return recount({ ...parts, days: { port: NO_DAYS }, tables: { ...fill, built }, checkOnly }, signal);
}

/** Reads the table of a source without a stream again whenever it is due, in one of the processes that keep it. */
function rereadSource(backend: StreamBackend, collection: SourceCollection, log: Log, failures: Failures): Background {
  const { database } = backend;
  const scope = database.keys.scope(collection);
  const { everyMs = Infinity } = collection.source;
  const worker = { database, self: ownName(), ownerIsGone, clock: database.clock, leaseMs: REREAD_LEASE_MS };
  const isDue = async () =>
    database.clock.wall() - ((await sourceReport(database, scope))?.endAt ?? -Infinity) >= everyMs;
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
        if (await isDue()) await doJob(worker, database.keys.job(scope, 'reread'), seen, work, signal);
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
interface Followed {
  readonly collection: SourceCollection;
  status(): ConsumerStatus;
  /** Whether it cannot go on, because the stored state is that of another mapping. */
  hasEnded(): boolean;
  /** Called again and again. */
  look(): Promise<void>;
  stop(): Promise<void>;
}

interface Following {
  readonly caches?: Pick<Services, 'cellCache' | 'pageServices'> | undefined;
  readonly live?: Pick<LiveFeed, 'onRecord'> | undefined;
}

function followSource(
  backend: StreamBackend,
  collection: SourceCollection,
  log: Log,
  { caches, live }: Following,
  upgrade: boolean,
): Followed {
  const failures = new Failures(backend.database, sourceConsumer(backend.database.keys.scope(collection)), log);
  if (collection.source.everyMs !== undefined) {
    const rereading = rereadSource(backend, collection, log, failures);
    const { status } = noConsumer();
    return { collection, hasEnded: () => false, status, look: () => Promise.resolve(), stop: () => rereading.stop() };
  }
  const parts = sourceParts(backend, collection, log);
  const stopping = new AbortController();
  const { pageCache } = caches?.pageServices ?? {};
  const consumer = new Consumer({
    ...parts,
    pages: { ...parts.pages, open: (generation) => notedPages(parts.pages.open(generation), generation, pageCache) },
    since: () => Promise.resolve(0),
    async first() {
      const state = firstState(await parts.stream.identify(), parts.clock.wall());
      return { ...withGap(state, NOT_FILLED, parts.clock.wall()), pages: null };
    },
    ownerIsGone,
    upgrade,
    pollMs: POLL_MS,
    onRecord: (record) => live?.onRecord(record),
    onFailure: (error) => void failures.note(error),
    onApplied: (batch, changes) => caches?.cellCache.applied(batch, changes),
    // Entries cached before were not updated meanwhile.
    onOwnership() {
      caches?.cellCache.clear();
      pageCache?.clear();
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
    hasEnded: () => ended,
    status: () => consumer.status(),
    look: () => failures.look(consumer.status()),
    async stop() {
      stopping.abort();
      await Promise.all([running, exact.stop()]);
    },
  };
}

/** Notes in the database why a source cannot be read, so that every process can tell, until it can again. */
class Failures {
  readonly #database: Database;
  readonly #consumer: string;
  readonly #log: Log;
  /** Undefined before the first look: an earlier process may have noted one. */
  #noted: string | null | undefined;

  constructor(database: Database, consumer: string, log: Log) {
    this.#database = database;
    this.#consumer = consumer;
    this.#log = log;
  }

  async note(error: unknown): Promise<void> {
    if (!(error instanceof LeaseLost)) await this.#set(reasonFor(error));
  }

  async look({ owner, gap, behindMs = Infinity }: ConsumerStatus): Promise<void> {
    if (owner && gap === null && behindMs <= STALE_AFTER_MS) await this.clear();
  }

  clear(): Promise<void> {
    return this.#set(null);
  }

  async #set(reason: string | null): Promise<void> {
    if (reason === this.#noted) return;
    this.#noted = reason;
    const since = new Date(this.#database.clock.wall()).toISOString();
    const failure = reason === null ? null : { reason, since };
    await noteFailure(this.#database, this.#consumer, failure, newCall()).catch((err: unknown) => {
      this.#noted = undefined;
      this.#log.warn({ err }, 'Cannot note the state of a source');
    });
  }
}

/** The reason of the gap until a source is filled for the first time. */
export const NOT_FILLED = 'the table has not been read yet';

/** The sources of all collections: each is followed by one of the processes that keep them. */
export class SourceKeeper {
  readonly #backend: StreamBackend;
  readonly #log: Log;
  readonly #following: Following;
  readonly #followed = new Map<string, Followed>();
  readonly #stopping = new AbortController();
  readonly #running: Promise<void>;

  /** Begins at once. */
  constructor(backend: StreamBackend, log: Log, following: Following = {}) {
    this.#backend = backend;
    this.#log = log;
    this.#following = following;
    this.#running = this.#run();
  }

  /** The status of a source's consumer, by the scope of its collection; undefined while it is unknown here. */
  status(scope: string): ConsumerStatus | undefined {
    return this.#followed.get(scope)?.status();
  }

  async #run(): Promise<void> {
    const { signal } = this.#stopping;
    while (!signal.aborted) {
      await this.#look(signal).catch((err: unknown) => {
        if (!signal.aborted) this.#log.warn({ err }, 'cannot list the sources of collections; retrying');
      });
      await systemClock.sleep(LOOK_EVERY_MS, signal);
    }
  }

  /** Begins to follow sources that are new, and stops following those that are gone or others now. */
  async #look(signal: AbortSignal): Promise<void> {
    const { database } = this.#backend;
    const found = new Map<string, SourceCollection>();
    for await (const some of everyCollection(database, 'in use', newCall(signal))) {
      for (const one of some) if (hasSource(one)) found.set(database.keys.scope(one), one);
    }
    const ended = new Set<string>();
    for (const [scope, followed] of this.#followed) {
      if (isSame(followed.collection, found.get(scope)) && !followed.hasEnded()) continue;
      if (followed.hasEnded()) ended.add(scope);
      this.#followed.delete(scope);
      await followed.stop();
    }
    for (const [scope, collection] of found) {
      if (this.#followed.has(scope) || signal.aborted) continue;
      // If it is still the mapping of the collection, the stored state is the outdated one.
      const followed = followSource(this.#backend, collection, this.#log, this.#following, ended.has(scope));
      this.#followed.set(scope, followed);
    }
    await Promise.all(Array.from(this.#followed.values(), (followed) => followed.look()));
  }

  async stop(): Promise<void> {
    this.#stopping.abort();
    await this.#running;
    await Promise.all(Array.from(this.#followed.values(), (followed) => followed.stop()));
  }
}

const isSame = (one: SourceCollection, other: Collection | undefined) =>
  one.createdAt === other?.createdAt && JSON.stringify(one.source) === JSON.stringify(other.source);
