import { systemClock, type Clock } from '../../clock.js';
import { reasonFor } from '../../errors.js';
import { doJob, type OwnJob } from '../../jobs/job.js';
import type { Log } from '../../log.js';
import { STALE_AFTER_MS } from '../../model/limits.js';
import { loadStreamState, type StreamState } from '../../store/cell/stream-state.js';
import { newCall, type Database } from '../../store/database.js';
import { isHeld, LeaseLost, type Sighting } from '../../store/lease.js';
import { isFailure } from '../../store/request/failures.js';
import { noteFailure } from '../../store/source/failure.js';
import type { SourceCollection } from '../../store/source/source-mapping.js';
import { Consumer, reportOf, type ConsumerStatus } from '../../stream/consume/consumer.js';
import { ownerIsGone, ownName } from '../../stream/consume/owners.js';
import { REREAD_JOB } from '../../stream/mapped/remove.js';
import { StreamFailure, type StreamPort } from '../../stream/ports.js';
import { unbuiltState, withGap } from '../../stream/state.js';
import type { StreamBackend } from '../backend.js';
import { inBackground, type Background } from '../background.js';
import type { Purging } from '../cdn.js';
import { forgetCached, noConsumer, noteBatch, notedPages, type Caches } from '../consumer.js';
import { keepExact } from '../exact-counts.js';
import { feedAll, type Live } from '../live.js';
import { fillSource, sourceParts } from './fill.js';
import { openSourceLive } from './live.js';
import { sourceConsumer } from './report.js';

/** Shorter failures are caught up. */
const FAILING_MS = 5_000;

/** Notes in the database why a source cannot be read, so that every process can tell, until it can again. */
class Failures {
  readonly #database: Database;
  readonly #collection: SourceCollection;
  readonly #log: Log;
  /** Undefined before the first look: an earlier process may have noted one. */
  #noted: string | null | undefined;
  /** When calls of the stream began to fail; undefined if the last one did not. */
  #failingSince: number | undefined;

  constructor(database: Database, collection: SourceCollection, log: Log) {
    this.#database = database;
    this.#collection = collection;
    this.#log = log;
  }

  /** What is noted; null if nothing is. */
  get now(): string | null {
    return this.#noted ?? null;
  }

  /** A stream whose lasting failures are noted: consumers try again for as long as it takes. */
  watched(port: StreamPort): StreamPort {
    const { clock } = this.#database;
    const watch =
      <Args extends unknown[], T>(call: (...args: Args) => Promise<T>) =>
      async (...args: Args): Promise<T> => {
        try {
          const answer = await call(...args);
          this.#failingSince = undefined;
          return answer;
        } catch (error) {
          if (error instanceof StreamFailure) throw error;
          this.#failingSince ??= clock.now();
          if (clock.now() - this.#failingSince >= FAILING_MS) void this.note(error);
          throw error;
        }
      };
    return {
      identify: watch(() => port.identify()),
      listShards: watch((stream, after) => port.listShards(stream, after)),
      openShard: watch((stream, shard, start) => port.openShard(stream, shard, start)),
      readRecords: watch((iterator) => port.readRecords(iterator)),
    };
  }

  async note(error: unknown): Promise<void> {
    if (error instanceof LeaseLost) return;
    const { table } = this.#collection.source;
    const denied = `this server may not read table ${table}: see \`cellport iam --role source --table ${table}\``;
    await this.#set(isFailure(error, 'AccessDeniedException') ? denied : reasonFor(error));
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
    const consumer = sourceConsumer(this.#database.keys.scope(this.#collection));
    await noteFailure(newCall(this.#database), consumer, failure).catch((err: unknown) => {
      this.#noted = undefined;
      this.#log.warn({ err }, 'Cannot note its state');
    });
  }
}

const REREAD_LOOK_MS = 5_000;
const REREAD_LEASE_MS = 20_000;
/** A shard may be read five times a second, by all of its readers. */
const POLL_MS = 500;
/** The reason of the gap until a source is filled for the first time. */
const NOT_FILLED = 'the table has not been read yet';

/** Reads the table of a source without a stream again whenever it is due, in one of the processes that keep it. */
function rereadSource(
  backend: StreamBackend,
  collection: SourceCollection,
  log: Log,
  failures: Failures,
  purging: Purging | undefined,
): Background & Pick<Followed, 'status'> {
  const { database } = backend;
  const { clock } = database;
  const scope = database.keys.scope(collection);
  const { everyMs = Infinity } = collection.source;
  let known: StreamState | undefined;
  const worker = { database, self: ownName(), ownerIsGone, clock, leaseMs: REREAD_LEASE_MS };
  const state: Sighting = {};
  /** Whether the table is to be read, and nobody does, such as a command with another mapping. */
  async function isDue(): Promise<boolean> {
    known = await loadStreamState(newCall(database), sourceConsumer(scope));
    if (known === undefined) return true;
    const { gap, endAt } = known;
    return !isHeld(known, state, worker) && (gap !== null || clock.wall() - (endAt ?? -Infinity) >= everyMs);
  }
  const work = async (job: OwnJob) => {
    if (!(await isDue())) return;
    const { markers } = await fillSource(backend, collection, log, job.signal);
    purging?.noteAll(scope);
    log.info({ markers }, 'Read its table again');
    await failures.clear();
  };
  const rereading = inBackground(async (signal) => {
    const seen = {};
    while (!signal.aborted) {
      try {
        if (await isDue()) await doJob(worker, database.keys.job(scope, REREAD_JOB), seen, work, signal);
      } catch (err) {
        if (signal.aborted) return;
        log.warn({ err }, 'Cannot read its table; retrying');
        await failures.note(err);
      }
      await systemClock.sleep(REREAD_LOOK_MS, signal);
    }
  });
  return {
    stop: () => rereading.stop(),
    status() {
      const unknown = noConsumer().status();
      if (known === undefined) return unknown;
      const { gap, pages } = known;
      // How far it is behind stays unknown: alerts would take the interval for a lag.
      return { ...unknown, ...reportOf(known), gap, countsExact: gap === null && !!pages && failures.now === null };
    },
  };
}

/** One source that this process follows, or waits to follow. */
export interface Followed {
  readonly collection: SourceCollection;
  status(): ConsumerStatus;
  /** Whether this process follows or fills it, or another one seems to; undefined if nobody does. */
  follower(): 'this' | 'other' | undefined;
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

/** How long a source that is free is left to a process that follows another one of its table. */
const LEFT_MS = 10_000;
/** A source that was not asked about for so long was not free. */
const ASKED_MS = 10_000;

/**
 * Whether to follow a source that is free. All sources of a table should be followed by one process, as DynamoDB allows
 * a shard two readers: by the one that follows some already or, if none does, the first.
 */
export function followsTogether(clock: Pick<Clock, 'now'>, key: string, others: () => readonly Followed[]) {
  let freeSince = -Infinity;
  let askedAt = -Infinity;
  return (): boolean => {
    const now = clock.now();
    if (now - askedAt > ASKED_MS) freeSince = now;
    askedAt = now;
    const siblings = others();
    const isFirst = siblings.every(({ collection }) => key < collection.key);
    const followers = siblings.map((one) => one.follower());
    const isLeft = !isFirst || followers.includes('other');
    return followers.includes('this') || !isLeft || now - freeSince >= LEFT_MS;
  };
}

export interface Following {
  readonly caches?: Caches | undefined;
  readonly live?: Live | undefined;
  readonly purging?: Purging | undefined;
  /** Whether only live changes are needed. */
  readonly liveOnly?: boolean | undefined;
}

export function followSource(
  backend: StreamBackend,
  collection: SourceCollection,
  log: Log,
  { caches, live: streams, purging, liveOnly = false }: Following,
  { upgrade, others: siblings }: { readonly upgrade: boolean; readonly others: () => readonly Followed[] },
): Followed {
  const failures = new Failures(backend.database, collection, log);
  const others = {
    collection,
    failure: () => failures.now,
    hasEnded: () => false,
    follower: () => undefined,
    liveSince: () => Promise.resolve(undefined),
    status: () => noConsumer().status(),
    look: () => Promise.resolve(),
    stop: () => Promise.resolve(),
  };
  if (collection.source.everyMs !== undefined) {
    if (liveOnly) return others;
    const rereading = rereadSource(backend, collection, log, failures, purging);
    return { ...others, ...rereading };
  }
  const found = sourceParts(backend, collection, log);
  const live = streams && openSourceLive(backend.database, streams, collection, found.stream);
  const feed = feedAll([live?.feed, purging?.ofSource(backend.database.keys.scope(collection))]);
  const liveSince = async () => live?.since();
  if (liveOnly) return { ...others, liveSince, stop: async () => live?.close() };
  const parts = { ...found, stream: failures.watched(found.stream) };
  const { clock } = parts;
  const note = (error: unknown) => void failures.note(error);
  const pageCache = caches?.pageServices.pageCache;
  const consumer = new Consumer({
    ...parts,
    pages: {
      ...parts.pages,
      open: (generation) => notedPages(parts.pages.open(generation), generation, pageCache, caches?.changes),
    },
    since: () => Promise.resolve(0),
    first: async () => withGap(unbuiltState(await parts.stream.identify(), clock.wall()), NOT_FILLED, clock.wall()),
    ownerIsGone,
    mayTake: followsTogether(clock, collection.key, siblings),
    upgrade,
    pollMs: POLL_MS,
    onRecord: (record) => feed.onRecord(record),
    onLoss: (reason) => feed.onLoss(reason),
    onFailure: note,
    onApplied: (batch, changes) => noteBatch(caches, batch, changes),
    // Entries cached before were not updated meanwhile.
    onOwnership(owner) {
      feed.onOwnership(owner);
      forgetCached(caches);
    },
  });
  let ended = false;
  // The state is that of another mapping, which either this process or another one has not seen yet.
  const running = inBackground((signal) =>
    consumer.run(signal).catch((err: unknown) => {
      ended = true;
      log.debug({ err }, 'It has another mapping');
    }),
  );
  let isFilling = false;
  const refill = async (signal: AbortSignal) => {
    isFilling = true;
    return fillSource(backend, collection, log, signal).finally(() => (isFilling = false));
  };
  const status = () => consumer.status();
  const exact = keepExact(status, refill, log, note);
  return {
    collection,
    failure: () => failures.now,
    hasEnded: () => ended,
    liveSince,
    status,
    follower: () => (isFilling || status().owner ? 'this' : consumer.isHeldElsewhere ? 'other' : undefined),
    look: () => failures.look(status()),
    async stop() {
      await Promise.all([running.stop(), exact.stop(), live?.close()]);
    },
  };
}
