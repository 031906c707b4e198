import type { CellportError } from '../errors.js';
import type { GeoTable } from '../geolibrary/answers.js';
import type { LiveChanges } from '../live/hub.js';
import type { CellCache } from '../loaders/cell-cache.js';
import type { CollectionCache } from '../loaders/collection-cache.js';
import type { GeometryCache } from '../loaders/geometry-cache.js';
import { TRUSTED_MS } from '../loaders/pages/trust.js';
import { CONCURRENT_QUERIES, createLoaders } from '../loaders/loaders.js';
import type { PageServices } from '../loaders/pages/page-loader.js';
import { type CollectionAnswers, storedAnswers } from '../map/answers.js';
import type { MapContext } from '../map/context.js';
import type { Database } from '../store/database.js';
import type { TextSearch } from '../search/engine.js';
import type { Limits } from '../model/limits.js';
import type { Work } from './work.js';

/** The state of the stream consumer, as far as answers depend on it. */
export interface StreamStatus {
  /** Whether this process updates the cells. */
  readonly owner: boolean;
  /** Milliseconds since the cells last included the whole stream; undefined before the first time. */
  readonly behindMs: number | undefined;
  /** False from a gap in the stream until a recount. */
  readonly countsExact: boolean;
}

/** What all requests of a process share. */
export interface Services {
  readonly db: Database;
  readonly cellCache: CellCache;
  readonly pageServices: PageServices;
  readonly geometryCache: GeometryCache;
  readonly collectionCache: CollectionCache;
  /** Undefined if no consumer runs. */
  readonly consumerStatus: () => StreamStatus | undefined;
  /** What subscriptions follow, if this process follows changes. */
  readonly live?: LiveChanges | undefined;
  /** A table of the Geo Library that is served like a collection. */
  readonly geoTable?: GeoTable | undefined;
  /** Undefined if search is off. */
  readonly search?: TextSearch | undefined;
  readonly limits: Limits;
  /** Whether clients may introspect the schema; true by default. */
  readonly introspection?: boolean | undefined;
  /** Whether every mutation is refused; false by default. */
  readonly readOnly?: boolean | undefined;
  readonly now: () => Date;
}

/** What resolvers work with. One for each request, so that no client sees what was read for another. */
export interface RequestContext {
  readonly services: Services;
  readonly work: Work;
  /** Why this request may not change anything, if it may not. */
  readonly forbidsWrites?: CellportError | undefined;
  readonly map: MapContext;
  /** Set while compiled code executes the request, which cannot stop within a list: it gives up at a long one. */
  readonly compiled?: { tooLong: boolean } | undefined;
  /** The source of answers for the collection with this key, in either kind of table. */
  readonly answers: (collection: string) => CollectionAnswers;
}

/** Whether this process updates the cells and has not fallen behind, so that its caches see every change at once. */
export function isFollowing(status: StreamStatus | undefined): boolean {
  return status?.owner === true && status.behindMs !== undefined && status.behindMs <= TRUSTED_MS;
}

/** The context of one request. */
export function createContext(services: Services, work: Work): RequestContext {
  const { db, limits, geoTable } = services;
  const loaders = createLoaders({ ...services, call: work, concurrency: CONCURRENT_QUERIES });
  const { turn } = work;
  const map = { loaders, keys: db.keys, limits, turn };
  const foreign = geoTable?.answers(work, limits);
  return {
    services,
    work,
    map,
    answers: (key) => (foreign && key === geoTable?.collection.key ? foreign : storedAnswers(map, key)),
  };
}
