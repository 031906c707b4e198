import type { GeoTable } from '../geolibrary/answers.js';
import type { LiveChanges } from '../live/hub.js';
import type { CellCache } from '../loaders/cell-cache.js';
import type { CollectionCache } from '../loaders/collection-cache.js';
import type { GeometryCache } from '../loaders/geometry-cache.js';
import { createLoaders } from '../loaders/loaders.js';
import type { MarkerCache } from '../loaders/marker-cache.js';
import { type CollectionAnswers, storedAnswers } from '../map/answers.js';
import type { MapContext } from '../map/context.js';
import type { ObjectStore } from '../objects/object-store.js';
import type { Database } from '../store/database.js';
import type { GeometryStore } from '../store/zone/zone-geometry.js';
import type { Limits } from '../model/limits.js';
import type { Work } from './work.js';

/** What is known of the stream's consumer, as far as answers depend on it. */
export interface StreamStatus {
  /** Whether this process is the one that keeps the cells. */
  readonly owner: boolean;
  /** Milliseconds since the cells were last known to hold all of the stream; undefined before the first time. */
  readonly behindMs: number | undefined;
  /** False from a gap in the stream until a recount. */
  readonly countsExact: boolean;
}

/** What all requests of a process share. */
export interface Services {
  readonly db: Database;
  /** Where geometry lies that is too large for the table; left out where nobody has said where. */
  readonly objects?: ObjectStore | undefined;
  readonly cellCache: CellCache;
  readonly markerCache: MarkerCache;
  readonly geometryCache: GeometryCache;
  readonly collectionCache: CollectionCache;
  /** Undefined where no consumer runs. */
  readonly consumerStatus: () => StreamStatus | undefined;
  /** What subscriptions are answered from; left out where no changes are heard. */
  readonly live?: LiveChanges | undefined;
  /** A table of the Geo Library that is served beside the collections. */
  readonly geoTable?: GeoTable | undefined;
  readonly limits: Limits;
  /** Whether clients may ask for the schema; they may where it is left out. */
  readonly introspection?: boolean | undefined;
  readonly now: () => Date;
}

/** What resolvers work with: made anew for each request, so that nothing read for one client is shown to another. */
export interface RequestContext {
  readonly services: Services;
  readonly work: Work;
  readonly map: MapContext;
  /** What answers for the collection of this key, wherever its markers are stored. */
  readonly answers: (collection: string) => CollectionAnswers;
}

const TRUSTED_BEHIND_MS = 2_000;
/** Query calls of one request that are under way at once. */
const CONCURRENT_QUERIES = 16;

/** Whether this process keeps the cells and has not fallen behind, so that its caches hear of every change at once. */
export function isFollowing(status: StreamStatus | undefined): boolean {
  return status?.owner === true && status.behindMs !== undefined && status.behindMs <= TRUSTED_BEHIND_MS;
}

/** Whether a plan may leave out what the counts show to be empty. */
export function areCountsTrusted(status: StreamStatus | undefined): boolean {
  return isFollowing(status) && status?.countsExact === true;
}

/** Where a server keeps geometry. */
export function geometryStoreOf({ objects, limits }: Services): GeometryStore {
  return { objects, inlineBytes: limits.inlineGeometryBytes };
}

/** The context of one request. */
export function createContext(services: Services, work: Work): RequestContext {
  const { db, consumerStatus, limits, geoTable } = services;
  const geometryStore = geometryStoreOf(services);
  const loaders = createLoaders({ ...services, geometryStore, call: work, concurrency: CONCURRENT_QUERIES });
  const map = { loaders, keys: db.keys, limits, countsTrusted: () => areCountsTrusted(consumerStatus()) };
  const foreign = geoTable?.answers(work, limits);
  return {
    services,
    work,
    map,
    answers: (key) => (foreign && key === geoTable?.collection.key ? foreign : storedAnswers(map, key)),
  };
}
