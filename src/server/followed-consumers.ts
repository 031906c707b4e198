import { LRUCache } from 'lru-cache';

import { systemClock } from '../clock.js';
import { isFollowing, type StreamStatus } from '../graphql/context.js';
import { ConsumerTrust, type ConsumerReport } from '../loaders/consumer-trust.js';
import { FollowedPages } from '../read/from-pages/followed-pages.js';
import { PageCache } from '../read/from-pages/page-cache.js';
import type { Database } from '../store/database.js';
import type { ConsumerStatus } from '../stream/consume/consumer.js';
import { sourceReport } from './sources/report.js';

export type Status = StreamStatus & Partial<ConsumerStatus>;

/** How this process learns what consumers have done: its own ones, and those of others. */
export interface Consumers {
  readonly database: Database;
  readonly consumerStatus: () => Status | undefined;
  /** The status of a source's consumer in this process; undefined for what is no source. */
  readonly sourceConsumerStatus: (scope: string) => ConsumerStatus | undefined;
  /** Reads the progress of a consumer in another process. */
  readonly storedReport: () => Promise<ConsumerReport | undefined>;
}

/** More than any server follows. */
const MOST_SOURCES = 10_000;
/** Afterwards, the key may be that of a collection with markers of its own. */
const READ_LATELY_MS = 60_000;

const scopeOf = (name: string) => name.slice(0, name.indexOf('\n'));

/** Follows the consumers of Cellport's own table and of sources: tells what may be read and kept, and caches pages. */
export class FollowedConsumers {
  readonly #consumers: Consumers;
  readonly pageCache: PageCache;
  /** Of collections that have no source. */
  readonly trust: ConsumerTrust;
  readonly #pages: FollowedPages;
  readonly #sources = new LRUCache<string, { readonly trust: ConsumerTrust; readonly pages: FollowedPages }>({
    max: MOST_SOURCES,
    ttl: READ_LATELY_MS,
    updateAgeOnGet: true,
  });
  /** An answer may ask for hundreds of blocks in one turn of the event loop. */
  readonly #known = new Map<string, Readonly<Record<'isFollowed' | 'isPublishing' | 'hasPages', boolean>>>();

  constructor(consumers: Consumers, pageBytes: number) {
    this.#consumers = consumers;
    const { database, consumerStatus, storedReport } = consumers;
    this.pageCache = new PageCache({
      maxBytes: pageBytes,
      trusted: (name) => this.isFollowed(name) || (this.#sources.peek(scopeOf(name))?.pages ?? this.#pages).areCurrent,
      now: () => systemClock.now(),
    });
    this.#pages = new FollowedPages(this.pageCache);
    this.trust = new ConsumerTrust({
      own: () => ownReport(this.#pages, consumerStatus()),
      stored: async () => this.#pages.take(await storedReport()),
      wall: () => database.clock.wall(),
    });
  }

  /** Who tells what the consumer of a source has done, by the scope of its collection. */
  sourceTrust(scope: string): ConsumerTrust {
    const known = this.#sources.get(scope);
    if (known) return known.trust;
    const { database, sourceConsumerStatus } = this.#consumers;
    const pages = new FollowedPages(this.pageCache, scope);
    const trust = new ConsumerTrust({
      own: () => ownReport(pages, sourceConsumerStatus(scope)),
      stored: async () => pages.take(await sourceReport(database, scope)),
      wall: () => database.clock.wall(),
    });
    this.#sources.set(scope, { trust, pages });
    return trust;
  }

  /** Whether this process learns of each change of what has this name in a cache, at once. */
  isFollowed(name: string): boolean {
    return this.#of(scopeOf(name)).isFollowed;
  }

  /** Whether what was made of the counts of a scope may be kept until a change is noted. */
  mayKeep(scope: string): boolean {
    const { isFollowed, isPublishing } = this.#of(scope);
    // While pages lack published writes, answers show these before their changes are noted.
    return isFollowed && !isPublishing;
  }

  /** The same of answers that show markers: a change that counts do not show is noted when a page is written. */
  mayKeepMarkers(scope: string): boolean {
    return this.mayKeep(scope) && this.#of(scope).hasPages;
  }

  #of(scope: string) {
    if (this.#known.size === 0) setImmediate(() => this.#known.clear());
    let known = this.#known.get(scope);
    if (known === undefined) {
      // A source is followed by its own consumer, which may not have been found yet, or be gone.
      const ofOwn = () => (this.#sources.has(scope) ? undefined : this.#consumers.consumerStatus());
      const status = this.#consumers.sourceConsumerStatus(scope) ?? ofOwn();
      const { published, endAt = null, pages = null } = status ?? {};
      const isPublishing = published != null && published.endAt > (endAt ?? 0);
      known = { isFollowed: isFollowing(status), isPublishing, hasPages: pages !== null };
      this.#known.set(scope, known);
    }
    return known;
  }
}

/** The report of this process's consumer; undefined if another one maintains the pages. */
function ownReport(followed: FollowedPages, status: Partial<Status> = {}): ConsumerReport | undefined {
  const { owner = false, pages = null, gap = null, complete = 0, endAt = null, summariesSince = null } = status;
  const { formerPages = null, published = null } = status;
  if (!owner) return undefined;
  // A worker may believe this for long after its primary process has stopped, and hears of no page that another has written.
  followed.take(undefined);
  return { pages, formerPages, published, gap, complete, endAt, summariesSince };
}
