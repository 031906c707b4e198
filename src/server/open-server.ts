import { createServer } from 'node:net';

import { Authenticator } from '../access/authenticator.js';
import { Budgets, OwnBuckets } from '../access/budgets.js';
import { RedisBuckets } from '../access/redis-buckets.js';
import type { Config } from '../config.js';
import { CellportError } from '../errors.js';
import { compiling, interpreting } from '../graphql/execution/executor.js';
import { asSubgraph } from '../graphql/federation.js';
import type { Extension } from '../graphql/schema.js';
import type { HotKey } from '../http/metrics.js';
import type { Log } from '../log.js';
import { urlOf } from '../loopback.js';
import { openAudit } from './audit.js';
import type { Backend } from './backend.js';
import type { Background } from './background.js';
import { watchClock } from './clock-watch.js';
import { recountDerived, startConsumer, storedReport, type DerivedData } from './consumer.js';
import type { Demo } from './demo.js';
import { keepExact } from './exact-counts.js';
import { FleetSearch } from './fleet-search.js';
import { metricsOf, watchHotKeys } from './hot-keys.js';
import { startJobs } from './jobs.js';
import { openLive } from './live.js';
import { OwnSearch, type ServerSearch } from './search.js';
import {
  BUILT_FILES,
  createHttpServer,
  createServices,
  type HttpServer,
  type HttpServerOptions,
  type ServerServices,
} from './services.js';
import { SourceKeeper } from './sources/keeper.js';
import { spreadHotPrefixes } from './spread.js';
import { followDocuments } from './trusted-documents.js';
import { watchConsumer } from './watch-consumer.js';

export interface Server {
  readonly derived: DerivedData;
  readonly services: ServerServices;
  /** Starts the background jobs, and opens an HTTP server that does not listen: it can be reached by any host name. */
  open(extension: Extension): Promise<HttpServer>;
  /** Starts the background jobs and listens; returns the URL. Throws UNAVAILABLE if the port is in use. */
  listen(): Promise<string>;
  /**
   * Stops everything that the server started; requests in progress may finish within their deadline. Does not close the
   * backend.
   */
  close(): Promise<void>;
}

function portInUse({ host, port }: Config['http'], error: NodeJS.ErrnoException): Error {
  if (error.code !== 'EADDRINUSE') return error;
  return new CellportError('UNAVAILABLE', `port ${port} on ${host} is in use; set PORT to another`, { host, port });
}

/** Rejects with UNAVAILABLE if the port is in use, so that a command fails before it loads data. */
export async function checkPort(http: Config['http']): Promise<void> {
  const probe = createServer();
  await new Promise<void>((resolve, reject) => {
    probe.once('error', (error) => reject(portInUse(http, error)));
    probe.listen({ host: http.host, port: http.port }, resolve);
  });
  await new Promise((resolve) => probe.close(resolve));
}

async function listen({ http: server }: HttpServer, http: Config['http']): Promise<string> {
  const { host, port: wanted } = http;
  await server.listen({ host, port: wanted }).catch((error: NodeJS.ErrnoException) => {
    throw portInUse(http, error);
  });
  const address = server.server.address();
  const port = typeof address === 'object' && address !== null ? address.port : wanted;
  return urlOf(host, port);
}

/** Opens search as configured; undefined if it is turned off. */
function openSearch(config: Config, backend: Backend, log: Log, isBusy: () => boolean): ServerSearch | undefined {
  if (config.openSearchUrl !== undefined) return new FleetSearch(config.openSearchUrl, backend, log, isBusy);
  return config.searchBytes === 0 ? undefined : new OwnSearch(config, backend, log, isBusy);
}

function openBudgets({ budgets, limits, redisUrl }: Config, { database }: Backend, log: Log): Budgets {
  const own = new OwnBuckets(database.clock);
  const buckets = redisUrl === undefined ? own : new RedisBuckets(redisUrl, database.tables.entities, own, log);
  return new Budgets({ buckets, enforced: budgets === 'enforce', maxRequestUnits: limits.maxRequestUnits, log });
}

export interface ServerParts {
  readonly demo?: Demo | undefined;
}

/**
 * Opens a server over an open database whose tables exist. It updates derived data and receives changes, but does not listen
 * yet.
 */
export function openServer(config: Config, backend: Backend, { demo }: ServerParts, log: Log): Server {
  const { limits, introspection, readOnly, cacheBytes, cacheSeconds } = config;
  const live = openLive(backend, config.redisUrl, log);
  const search = openSearch(config, backend, log, () => demo?.readiness().state === 'loading');
  const authenticator = config.auth === true ? new Authenticator(backend.database, log) : undefined;
  const budgets = authenticator && openBudgets(config, backend, log);
  const services = createServices(backend.database, {
    authenticator,
    budgets,
    audit: openAudit(config, backend.database, log),
    cacheBytes,
    consumerStatus: () => derived.status(),
    sourceConsumerStatus: (scope) => (config.consumer ? sources?.status(scope) : undefined),
    sourceLiveSince: async (scope) => sources?.liveSince(scope),
    sources: () => (config.consumer && sources?.list()) || [],
    storedReport: () => storedReport(backend.database, live.ends),
    live: live.hub,
    search,
    load: demo && (() => demo.readiness()),
    storageFault: backend.storageFault,
    limits,
    introspection,
    readOnly,
    cacheSeconds,
    ...(config.trustedDocuments && { trustedDocuments: followDocuments(backend.database, BUILT_FILES.mapDir, log) }),
  });
  const embedded = config.database.kind === 'embedded';
  const derived = config.consumer
    ? startConsumer(backend, log, { caches: services, live: live.feed, embedded })
    : watchConsumer(backend.database, live.ends);
  const { consumption, keys } = backend.database;
  const metrics = consumption && metricsOf(consumption, keys);
  // DynamoDB Local has no partitions.
  const spreads = config.spreadWcu > 0 && !readOnly && !embedded;
  const spread = (hot: readonly HotKey[]) => spreadHotPrefixes(backend.database, hot, config.spreadWcu, log);
  const stopWatching = metrics && watchHotKeys(metrics, keys, log, spreads ? spread : undefined);
  const stopWatchingClock = watchClock(backend.database.clock, log);
  let sources: SourceKeeper | undefined;
  let jobs: Background | undefined;
  let exactCounts: Background | undefined;
  let server: HttpServer | undefined;
  async function open(options: HttpServerOptions): Promise<HttpServer> {
    authenticator?.start();
    jobs = startJobs(backend, derived, limits.deadlineMs, log);
    if (embedded && config.consumer) {
      const recountAll = (signal: AbortSignal) => recountDerived(backend, log, false, signal);
      exactCounts = keepExact(() => derived.status(), recountAll, log);
    }
    sources = new SourceKeeper(backend, log, { caches: services, live, liveOnly: !config.consumer });
    const executor = config.graphqlJit ? compiling : interpreting;
    const extension = config.federation ? asSubgraph(options.extension ?? {}) : options.extension;
    server = await createHttpServer(services, { ...config.http, metrics, executor, log, ...options, extension });
    search?.start();
    return server;
  }
  return {
    derived,
    services,
    open: (extension) => open({ allowedHosts: ['*'], extension }),
    listen: async () => listen(await open({}), config.http),
    async close() {
      stopWatching?.();
      stopWatchingClock();
      await server?.close().catch((err: unknown) => log.error({ err }, 'The server did not close cleanly'));
      await authenticator?.stop();
      budgets?.close();
      await sources?.stop();
      await exactCounts?.stop();
      await jobs?.stop();
      await live.close();
      await search?.stop();
      await derived.stop();
    },
  };
}
