import type { Config } from '../config.js';
import type { Extension } from '../graphql/schema.js';
import type { Log } from '../log.js';
import { openAnswering, openBuckets } from './answering.js';
import type { Backend } from './backend.js';
import { storedReport, type DerivedData } from './consumer.js';
import type { Demo } from './demo.js';
import { metricsOf } from './hot-keys.js';
import { createAdmin, listen, type AdminPort } from './listen.js';
import { openLive } from './live.js';
import type { HttpServer, HttpServerOptions, ServerServices, ServiceOverrides } from './services.js';
import { openSearch, openUpkeep } from './upkeep.js';

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
