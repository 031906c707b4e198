import { systemClock } from '../clock.js';
import type { Services } from '../graphql/context.js';
import type { Log } from '../log.js';
import type { Collection } from '../model/collection.js';
import type { DeadLetter } from '../store/cell/dead-letters.js';
import { everyCollection } from '../store/collection/collection-changes.js';
import { newCall } from '../store/request/meter.js';
import { noteRejected } from '../store/source/rejected-items.js';
import { hasSource, type SourceCollection } from '../store/source/source-mapping.js';
import { Consumer, type ConsumerStatus } from '../stream/consume/consumer.js';
import { openBlocks, openPages, openState } from '../stream/consume/derived-ports.js';
import { ownerIsGone, ownName } from '../stream/consume/owners.js';
import { NO_DAYS, openFill, type FillProgress } from '../stream/mapped/fill.js';
import { mappedStream } from '../stream/mapped/mapped-stream.js';
import { recount } from '../stream/recount/recount.js';
import type { RecountResult } from '../stream/recount/scan.js';
import { openTableStream } from '../stream/source/dynamodb.js';
import { firstState, withGap } from '../stream/state.js';
import type { StreamBackend } from './backend.js';
import { notedPages } from './consumer.js';
import { keepExact } from './exact-counts.js';
import type { LiveFeed } from './live.js';
import { sourceConsumer } from './source-report.js';

const LOOK_EVERY_MS = 2_000;

/** What consumers and fills of a source share: its table seems to have markers of Cellport's own. */
export function sourceParts({ database, streams }: StreamBackend, collection: SourceCollection, log: Log) {
  const { keys, clock } = database;
  const stream = openTableStream(database, collection.source.table, streams);
  const consumer = sourceConsumer(keys.scope(collection));
  return {
    stream: mappedStream(keys, collection, stream),
    state: {
      ...openState(database, consumer),
      putDeadLetters: (items: readonly DeadLetter[]) => noteRejected(database, consumer, items, newCall()),
    },
    cells: openBlocks(database),
    pages: { ...openPages(database), versionsByBatch: true },
    clock,
    keys,
    log,
    self: ownName(),
  };
}

/**
 * Reads the whole table of a source, then its stream, and rebuilds its counts and pages, whichever process follows it;
 * with `checkOnly` it only compares. Nothing is written to the table.
 */
export function fillSource(
  backend: StreamBackend,
  collection: SourceCollection,
  log: Log,
  signal: AbortSignal,
  { checkOnly = false, onProgress }: { checkOnly?: boolean; onProgress?: (progress: FillProgress) => void } = {},
): Promise<RecountResult> {
  const scope = backend.database.keys.scope(collection);
  const tables = openFill(backend.database, collection, sourceConsumer(scope), checkOnly, onProgress);
  return recount({ ...sourceParts(backend, collection, log), days: { port: NO_DAYS }, tables, checkOnly }, signal);
}

/** One source that this process follows, or waits to follow. */
interface Followed {
  readonly collection: SourceCollection;
  status(): ConsumerStatus;
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
): Followed {
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
    onRecord: (record) => live?.onRecord(record),
    onApplied: (batch, changes) => caches?.cellCache.applied(batch, changes),
    // Entries cached before were not updated meanwhile.
    onOwnership() {
      caches?.cellCache.clear();
      pageCache?.clear();
    },
  });
  const running = consumer.run(stopping.signal).catch((err: unknown) => {
    log.error({ err, collection: collection.key }, 'The consumer of a source has failed');
  });
  const refill = (signal: AbortSignal) => fillSource(backend, collection, log, signal);
  const exact = keepExact(() => consumer.status(), refill, log);
  return {
    collection,
    status: () => consumer.status(),
    async stop() {
      stopping.abort();
      await Promise.all([running, exact.stop()]);
    },
  };
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
    for (const [scope, followed] of this.#followed) {
      if (isSame(followed.collection, found.get(scope))) continue;
      this.#followed.delete(scope);
      await followed.stop();
    }
    for (const [scope, collection] of found) {
      if (this.#followed.has(scope) || signal.aborted) continue;
      this.#followed.set(scope, followSource(this.#backend, collection, this.#log, this.#following));
    }
  }

  async stop(): Promise<void> {
    this.#stopping.abort();
    await this.#running;
    await Promise.all(Array.from(this.#followed.values(), (followed) => followed.stop()));
  }
}

const isSame = (one: SourceCollection, other: Collection | undefined) =>
  one.createdAt === other?.createdAt && JSON.stringify(one.source) === JSON.stringify(other.source);
