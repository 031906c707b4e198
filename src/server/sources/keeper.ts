import { isDeepStrictEqual } from 'node:util';

import { systemClock } from '../../clock.js';
import type { SourceReadiness } from '../../http/health.js';
import type { Log } from '../../log.js';
import type { Collection } from '../../model/collection.js';
import { everyCollection } from '../../store/collection/collections.js';
import { newCall } from '../../store/database.js';
import { hasSource, type SourceCollection } from '../../store/source/source-mapping.js';
import { type ConsumerStatus } from '../../stream/consume/consumer.js';
import type { StreamBackend } from '../backend.js';
import { inBackground, type Background } from '../background.js';
import { followSource, type Followed, type Following } from './follow.js';
import { sourceLog } from './source-log.js';

const LOOK_EVERY_MS = 2_000;

/** The sources of all collections: each is followed by one of the processes that keep them. */
export class SourceKeeper {
  readonly #backend: StreamBackend;
  readonly #log: Log;
  readonly #following: Following;
  readonly #followed = new Map<string, Followed>();
  readonly #running: Background;

  /** Begins at once. */
  constructor(backend: StreamBackend, log: Log, following: Following = {}) {
    this.#backend = backend;
    this.#log = log;
    this.#following = following;
    this.#running = inBackground((signal) => this.#run(signal));
  }

  /** The status of a source's consumer, by the scope of its collection; undefined while it is unknown here. */
  status(scope: string): ConsumerStatus | undefined {
    return this.#followed.get(scope)?.status();
  }

  /** The statuses of all of them, by the scopes of their collections. */
  statuses(): ReadonlyMap<string, ConsumerStatus> {
    return new Map(Array.from(this.#followed, ([scope, followed]) => [scope, followed.status()]));
  }

  /** All of them, for display. */
  list(): SourceReadiness[] {
    return Array.from(this.#followed.values(), (followed) => {
      const { key, source } = followed.collection;
      const { owner, behindMs: behind, countsExact } = followed.status();
      const behindMs = behind === undefined ? null : Math.round(behind);
      return { collection: key, table: source.table, owner, behindMs, countsExact, failure: followed.failure() };
    });
  }

  /** See `Followed.liveSince`, by the scope of its collection. */
  async liveSince(scope: string): Promise<number | undefined> {
    return this.#followed.get(scope)?.liveSince();
  }

  async #run(signal: AbortSignal): Promise<void> {
    while (!signal.aborted) {
      await this.#look(signal).catch((err: unknown) => {
        if (!signal.aborted) this.#log.warn({ err }, 'Cannot list the sources of collections; retrying');
      });
      await systemClock.sleep(LOOK_EVERY_MS, signal);
    }
  }

  /** Begins to follow sources that are new, and stops following those that are gone or others now. */
  async #look(signal: AbortSignal): Promise<void> {
    const { database } = this.#backend;
    const found = new Map<string, SourceCollection>();
    for await (const some of everyCollection(newCall(database, signal), 'in use')) {
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
      const { table, everyMs } = collection.source;
      const isSibling = ({ collection: one }: Followed) =>
        one.key !== collection.key && one.source.table === table && one.source.everyMs === undefined;
      const others = () => (everyMs === undefined ? [...this.#followed.values()].filter(isSibling) : []);
      const now = { upgrade: ended.has(scope), others };
      this.#followed.set(
        scope,
        followSource(this.#backend, collection, sourceLog(this.#log, collection), this.#following, now),
      );
    }
    await Promise.all(Array.from(this.#followed.values(), (followed) => followed.look()));
  }

  async stop(): Promise<void> {
    await this.#running.stop();
    await Promise.all(Array.from(this.#followed.values(), (followed) => followed.stop()));
  }
}

const isSame = (one: SourceCollection, other: Collection | undefined) =>
  one.createdAt === other?.createdAt && isDeepStrictEqual(one.source, other.source);
