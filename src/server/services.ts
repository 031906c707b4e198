import { fileURLToPath } from 'node:url';

import { MarkerCounts } from '../access/marker-counts.js';
import { systemClock } from '../clock.js';
import { CellportError } from '../errors.js';
import type { Services } from '../graphql/context.js';
import { AnswerWriter } from '../graphql/execution/json-text.js';
import type { Extension } from '../graphql/schema.js';
import { GraphqlServer } from '../graphql/server.js';
import {
  checkReadiness,
  type LoadReadiness,
  type Readiness,
  type SourceReadiness,
  type StreamReadiness,
} from '../http/health.js';
import { buildHttp, type ClientOptions, type StaticFolders } from '../http/server.js';
import type { LiveHub } from '../live/hub.js';
import { AreaMemory, ChangeLog } from '../loaders/area-memory.js';
import { CellCache } from '../loaders/cell-cache.js';
import { CollectionCache } from '../loaders/collection-cache.js';
import { createGeometryCache } from '../loaders/geometry-cache.js';
import { ReadFigures } from '../loaders/range-loader.js';
import { silentLog, type Log } from '../log.js';
import { bytesOfClusters } from '../map/cells/kept-clusters.js';
import { bytesOfAnswer } from '../map/tiles/kept-answer.js';
import { DEFAULT_CACHE_MB, DEFAULT_LIMITS } from '../model/limits.js';
import { DirectoryCache } from '../read/from-pages/directory-cache.js';
import { OwnWrites } from '../read/from-pages/own-writes.js';
import { RecentCache } from '../read/from-pages/recent-cache.js';
import { listCollections } from '../store/collection/collections.js';
import { newCall, type Database } from '../store/database.js';
import type { Backend } from './backend.js';
import { clockReadiness } from './clock-watch.js';
import { FollowedConsumers, type Consumers, type Status } from './followed-consumers.js';
import { sourceStatus } from './sources/report.js';

/** As long as the lease of the stream consumer: shorter interruptions are caught up. */
const WRITES_FAIL_AFTER_MS = 10_000;

/** What all requests of a server share. */
export interface ServerServices extends Services {
  readonly consumerStatus: () => Status | undefined;
  readonly live?: LiveHub | undefined;
  readonly load?: (() => LoadReadiness) | undefined;
  readonly storageFault?: Backend['storageFault'] | undefined;
  /** The sources that this process follows, or waits to follow. */
  readonly sources: () => readonly SourceReadiness[];
}

export interface ServiceOverrides
  extends Partial<ServerServices>, Partial<Pick<Consumers, 'sourceConsumerStatus' | 'storedReport'>> {
  /** Memory for all caches in bytes, 64 MB by default; 0 turns them off. */
  readonly cacheBytes?: number;
}

/** Of the memory for caches. The pages and cells of 100,000 cities fit into 64 MB. */
const CACHE_SHARES = {
  pages: 8 / 16,
  cells: 4 / 16,
  geometries: 1.25 / 16,
  clusters: 1.5 / 16,
  answers: 1.25 / 16,
} as const;

/** Creates the services over a database; `overrides` replaces defaults. */
export function createServices(
  database: Database,
  { cacheBytes = DEFAULT_CACHE_MB * 1024 * 1024, limits = DEFAULT_LIMITS, ...overrides }: ServiceOverrides = {},
): ServerServices {
  const { consumerStatus = () => undefined, sourceConsumerStatus = () => undefined } = overrides;
  const { storedReport = () => Promise.resolve(undefined) } = overrides;
  const now = () => systemClock.now();
  const wall = () => database.clock.wall();
  const part = (share: number) => Math.floor(cacheBytes * share);
  const consumers = { database, consumerStatus, sourceConsumerStatus, storedReport };
  const followed = new FollowedConsumers(consumers, part(CACHE_SHARES.pages));
  const { trust, pageCache } = followed;
  const changes = new ChangeLog(now);
  return {
    db: database,
    cellCache: new CellCache({ maxBytes: part(CACHE_SHARES.cells), now, trusted: (name) => followed.isFollowed(name) }),
    changes,
    answers: new AreaMemory({
      maxBytes: part(CACHE_SHARES.answers),
      bytesOf: bytesOfAnswer,
      changes,
      trusted: (scope) => followed.mayKeepMarkers(scope),
    }),
    keptClusters: new AreaMemory({
      maxBytes: part(CACHE_SHARES.clusters),
      bytesOf: bytesOfClusters,
      changes,
      trusted: (scope) => followed.mayKeep(scope),
    }),
    pageServices: {
      directories: new DirectoryCache(),
      pageCache,
      ownWrites: new OwnWrites(wall),
      recent: new RecentCache(),
    },
    readFigures: new ReadFigures(),
    trust,
    sourceTrust: (scope) => followed.sourceTrust(scope),
    sourceLiveSince: () => Promise.resolve(undefined),
    sources: () => [],
    sourceStatus: (scope, call) => sourceStatus(call, scope),
    geometryCache: createGeometryCache({ maxBytes: part(CACHE_SHARES.geometries) }),
    collectionCache: new CollectionCache({ now }),
    consumerStatus,
    markerCounts: new MarkerCounts(wall),
    answerWriter: new AnswerWriter(database.scheduler, limits.maxAnswerBytes),
    limits,
    now: () => new Date(database.clock.wall()),
    ...overrides,
  };
}

/** The files built by `npm run build`. */
export const BUILT_FILES: StaticFolders = {
  staticDir: fileURLToPath(new URL('../../dist/graphiql/', import.meta.url)),
  mapDir: fileURLToPath(new URL('../../dist/page/', import.meta.url)),
};

export interface HttpServerOptions extends ClientOptions {
  /**
   * How long the server continues after `close` with /readyz failing, so that a load balancer sends its requests
   * elsewhere.
   */
  readonly drainMs?: number | undefined;
  readonly executor?: Parameters<typeof GraphqlServer.open>[2];
  readonly extension?: Extension | undefined;
  readonly files?: StaticFolders;
  readonly log?: Log;
}

export interface HttpServer {
  readonly graphql: GraphqlServer;
  /** What /readyz answers. */
  readonly ready: () => Promise<Readiness>;
  readonly http: ReturnType<typeof buildHttp>;
  /** Fails /readyz, drains, stops listening; resolves when all requests in progress are answered. */
  readonly close: () => Promise<void>;
}

/** Creates an HTTP server on these services, not yet listening. */
export async function createHttpServer(
  services: ServerServices,
  { executor, extension, files = BUILT_FILES, log = silentLog, drainMs = 0, ...clients }: HttpServerOptions = {},
): Promise<HttpServer> {
  const graphql = await GraphqlServer.open(services, log, executor, extension);
  let stopping = false;
  const ready = async (): Promise<Readiness> => {
    const status = services.consumerStatus();
    const load = services.load?.() ?? null;
    const search = services.search?.status ?? null;
    const clock = clockReadiness(services.db.clock);
    const sources = services.sources();
    if (stopping) {
      const reasons = ['the server is shutting down'];
      return { ready: false, reasons, clock, stream: null, load, search, sources };
    }
    const ping = (signal: AbortSignal) =>
      listCollections(newCall(services.db, signal), { first: 1 }).catch((err: unknown) => {
        if (!(err instanceof CellportError)) log.error({ err }, 'DynamoDB cannot be read');
        throw err;
      });
    const faults = async () =>
      [await services.storageFault?.(), writeFault(status)].filter((fault) => fault !== undefined);
    return checkReadiness(ping, faults, { clock, stream: stream(), load, search, sources });
  };
  const stream = () => {
    const status = services.consumerStatus();
    return status === undefined ? null : readinessOf(status);
  };
  const endSubscriptions = () => services.live?.close();
  const { scheduler } = services.db;
  const figures = { ...figuresOf(services), stream, subscriptions: () => graphql.subscriptions.active };
  const parts = { graphql, scheduler, limits: services.limits, ready, figures, log, endSubscriptions };
  const http = buildHttp(parts, files, clients);
  return {
    graphql,
    ready,
    http,
    close: async () => {
      stopping = true;
      if (drainMs > 0) await systemClock.sleep(drainMs);
      await http.close();
      await graphql.stop();
    },
  };
}

/** What /metrics shows of what all requests share. */
function figuresOf({ sources, readFigures: reads, pageServices, ...others }: ServerServices) {
  const { cellCache: cells, answers, keptClusters: clusters, geometryCache: geometries } = others;
  const { pageCache: pages } = pageServices;
  const all = Object.entries({ answers, cells, clusters, geometries, pages });
  const caches = () => Object.fromEntries(all.map(([name, { figures }]) => [name, figures()]));
  return { sources, reads, caches, pagesDecoded: () => pages.decoded };
}

/** Why writes fail; undefined if they work or have failed only briefly. */
function writeFault({ failingWrites }: Partial<Status> = {}): string | undefined {
  if (failingWrites === undefined || failingWrites === null || failingWrites.forMs < WRITES_FAIL_AFTER_MS) {
    return undefined;
  }
  return `writes have failed for ${Math.floor(failingWrites.forMs / 1_000)} s: ${failingWrites.reason}`;
}

function readinessOf({ owner, behindMs, countsExact, gap = null, deadLetters = 0 }: Status): StreamReadiness {
  return { owner, behindMs: behindMs === undefined ? null : Math.round(behindMs), countsExact, gap, deadLetters };
}
