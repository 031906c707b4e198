import { Authenticator } from '../access/authenticator.js';
import { Budgets, OwnBuckets, type Buckets } from '../access/budgets.js';
import { RedisBuckets } from '../access/redis-buckets.js';
import type { Config } from '../config.js';
import { compiling, interpreting } from '../graphql/execution/executor.js';
import { asSubgraph } from '../graphql/federation.js';
import type { Log } from '../log.js';
import { openAudit } from './audit.js';
import type { Backend } from './backend.js';
import {
  BUILT_FILES,
  createHttpServer,
  createServices,
  type HttpServer,
  type HttpServerOptions,
  type ServiceOverrides,
} from './services.js';
import { followDocuments } from './trusted-documents.js';

/** Where budgets are kept: in this process or, as configured, in Redis. */
export function openBuckets({ redisUrl }: Config, { database }: Backend, log: Log): Buckets {
  const own = new OwnBuckets(database.clock);
  return redisUrl === undefined ? own : new RedisBuckets(redisUrl, database.tables.entities, own, log);
}

interface Opening extends HttpServerOptions {
  readonly followsRules?: boolean;
}

/** What answers requests in one process. `buckets` opens those of budgets; `upkeep` is what another part provides. */
export function openAnswering(
  config: Config,
  { database, storageFault }: Backend,
  buckets: () => Buckets,
  upkeep: ServiceOverrides,
  log: Log,
) {
  const { auth, http, limits, introspection, readOnly, cacheBytes, cacheSeconds } = config;
  const enforced = config.budgets === 'enforce';
  const { maxRequestUnits } = limits;
  const authenticator = auth === true ? new Authenticator(database, log) : undefined;
  const budgets = authenticator && new Budgets({ buckets: buckets(), enforced, maxRequestUnits, log });
  const services = createServices(database, {
    authenticator,
    budgets,
    audit: openAudit(config, database, log),
    cacheBytes,
    storageFault,
    limits,
    introspection,
    readOnly,
    cacheSeconds,
    ...(config.trustedDocuments && { trustedDocuments: followDocuments(database, BUILT_FILES.mapDir, log) }),
    ...upkeep,
  });
  let server: HttpServer | undefined;
  return {
    services,
    /** Opens the HTTP server, which does not listen yet. With `followsRules: false`, nothing goes on between requests. */
    async open({ followsRules = true, ...options }: Opening): Promise<HttpServer> {
      if (followsRules) authenticator?.start();
      const executor = config.graphqlJit ? compiling : interpreting;
      const extension = config.federation ? asSubgraph(options.extension ?? {}) : options.extension;
      server = await createHttpServer(services, { ...http, executor, log, ...options, extension });
      return server;
    },
    /** Requests in progress may finish within their deadline. */
    async close(): Promise<void> {
      await server?.close().catch((err: unknown) => log.error({ err }, 'The server did not close cleanly'));
      await authenticator?.stop();
      budgets?.close();
    },
  };
}
