import { systemClock } from '../clock.js';
import type { Config } from '../config.js';
import type { Extension } from '../graphql/schema.js';
import type { HotKey, Metrics } from '../http/metrics.js';
import type { Log } from '../log.js';
import { requirePackages } from '../optional-package.js';
import { openAnswering, openBuckets } from './answering.js';
import type { Backend } from './backend.js';
import { inBackground, type Background } from './background.js';
import { openPurging } from './cdn.js';
import { watchClock } from './clock-watch.js';
import { recountDerived, startConsumer, storedReport, type Caches, type DerivedData } from './consumer.js';
import type { Demo } from './demo.js';
import { keepExact } from './exact-counts.js';
import { metricsOf, spreadHotPrefixes, watchHotKeys } from './hot-keys.js';
import { startJobs } from './jobs.js';
import { createAdmin, listen, type AdminPort } from './listen.js';
import { feedAll, openLive, type Live } from './live.js';
import { FleetSearch, OwnSearch, type ServerSearch } from './search.js';
import type { HttpServer, HttpServerOptions, ServerServices, ServiceOverrides } from './services.js';
import { SourceKeeper } from './sources/keeper.js';
import { watchConsumer } from './watch-consumer.js';

/** Opens search as configured; undefined if it is turned off. */
export function openSearch(
  config: Config,
  backend: Backend,
  log: Log,
  isBusy: () => boolean,
): ServerSearch | undefined {
  if (config.openSearchUrl !== undefined) return new FleetSearch(config.openSearchUrl, backend, log, isBusy);
  return config.searchBytes === 0 ? undefined : new OwnSearch(config, backend, log, isBusy);
}

interface UpkeepParts {
  /** Those that are kept up to date. */
  readonly caches: Caches;
  readonly live: Live;
  readonly search: ServerSearch | undefined;
  /** Undefined for a server that samples no capacity. */
  readonly metrics: Metrics | undefined;
}

export type Upkeep = ReturnType<typeof openUpkeep>;

/**
 * What one process of a server does for all that answer requests: it follows streams, and does the work that is due. Begins
 * to update derived data and to receive changes.
 */
export function openUpkeep(config: Config, backend: Backend, { caches, live, search, metrics }: UpkeepParts, log: Log) {
  const { database } = backend;
  const embedded = config.database.kind === 'embedded';
  const completeAt = (scope: string): number => {
    const source = sources?.status(scope);
    return systemClock.now() - ((source?.owner ? source : derived.status()).behindMs ?? Infinity);
  };
  const cdn = config.consumer ? config.cdn : undefined;
  if (cdn) requirePackages('CELLPORT_CDN', ['@aws-sdk/client-cloudfront']);
  const purging = cdn && openPurging(cdn, database.keys, completeAt, log);
  const derived: DerivedData = config.consumer
    ? startConsumer(backend, log, { caches, live: feedAll([live.feed, purging]), embedded })
    : watchConsumer(database, live.ends);
  // DynamoDB Local has no partitions.
  const spreads = config.spreadWcu > 0 && !config.readOnly && !embedded;
  const spread = (hot: readonly HotKey[]) => spreadHotPrefixes(database, hot, config.spreadWcu, log);
  const stopWatching = metrics && watchHotKeys(metrics, database.keys, log, spreads ? spread : undefined);
  const stopWatchingClock = watchClock(database.clock, log);
  const purgingNow = purging && inBackground((signal) => purging.run(signal));
  let sources: SourceKeeper | undefined;
  let jobs: Background | undefined;
  let exactCounts: Background | undefined;
  return {
    derived,
    /** The sources that this process follows, or waits to follow; undefined if it runs no consumers. */
    sources: () => (config.consumer ? sources : undefined),
    /** How far this process has itself read the stream. */
    ends: live.ends,
    /** See `Services.sourceLiveSince`. */
    liveSince: async (scope: string) => sources?.liveSince(scope),
    /** Starts the background jobs, sources and search. */
    start() {
      jobs = startJobs(backend, derived, config.limits.deadlineMs, log);
      if (embedded && config.consumer) {
        const recountAll = (signal: AbortSignal) => recountDerived(backend, log, false, signal);
        exactCounts = keepExact(() => derived.status(), recountAll, log);
      }
      sources = new SourceKeeper(backend, log, { caches, live, purging, liveOnly: !config.consumer });
      search?.start();
    },
    async stop() {
      stopWatching?.();
      stopWatchingClock();
      await sources?.stop();
      await exactCounts?.stop();
      await jobs?.stop();
      await live.close();
      await search?.stop();
      await derived.stop();
      await purgingNow?.stop();
    },
  };
}

export interface Server {
  readonly derived: DerivedData;
  readonly services: ServerServices;
  /** Starts the background jobs, and opens an HTTP server that does not listen: it can be reached by any host name. */
  open(extension: Extension): Promise<HttpServer>;
  /** Starts the background jobs and listens; returns the URL. Throws UNAVAILABLE if the port is in use. */
  listen(): Promise<string>;
  readonly admin: AdminPort;
  /**
   * Stops everything that the server started; requests in progress may finish within their deadline. Does not close the
   * backend.
   */
  close(): Promise<void>;
}

export interface ServerParts {
  readonly demo?: Demo | undefined;
  /** In place of rules. */
  readonly authenticator?: ServerServices['authenticator'];
}

/**
 * Opens a server over an open database whose tables exist. It updates derived data and receives changes, but does not listen
 * yet.
 */
export function openServer(config: Config, backend: Backend, { demo, authenticator }: ServerParts, log: Log): Server {
  const { consumption, keys } = backend.database;
  const live = openLive(backend, config.redisUrl, log);
  const search = openSearch(config, backend, log, () => demo?.readiness().state === 'loading');
  const metrics = consumption && metricsOf(consumption, keys);
  const admin = createAdmin(config, metrics, log);
  const kept: ServiceOverrides = {
    consumerStatus: () => upkeep.derived.status(),
    sourceConsumerStatus: (scope) => upkeep.sources()?.status(scope),
    sourceLiveSince: (scope) => upkeep.liveSince(scope),
    sources: () => upkeep.sources()?.list() ?? [],
    storedReport: () => storedReport(backend.database, live.ends),
    live: live.hub,
    search,
    load: demo && (() => demo.readiness()),
    ...(authenticator && { authenticator }),
  };
  const answering = openAnswering(config, backend, () => openBuckets(config, backend, log), kept, log);
  const { services } = answering;
  const upkeep = openUpkeep(config, backend, { caches: services, live, search, metrics }, log);
  async function open(options: HttpServerOptions): Promise<HttpServer> {
    const server = await answering.open({ metrics, registry: metrics?.registry(), ...options });
    upkeep.start();
    return server;
  }
  return {
    derived: upkeep.derived,
    services,
    open: (extension) => open({ allowedHosts: ['*'], extension }),
    admin,
    async listen() {
      const { http, ready } = await open(config.http.admin ? { metrics: undefined } : {});
      await admin.open(ready);
      return listen(http.server, config.http, (place) => http.listen(place));
    },
    async close() {
      await answering.close();
      await admin.close();
      await upkeep.stop();
    },
  };
}
