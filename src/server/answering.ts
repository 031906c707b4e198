import { Authenticator } from '../access/authenticator.js';
import { Budgets, OwnBuckets, type Buckets } from '../access/budgets.js';
import { RedisBuckets } from '../access/redis-buckets.js';
import type { Config } from '../config.js';
import { compiling, interpreting } from '../graphql/execution/executor.js';
import { asSubgraph } from '../graphql/federation.js';
import type { Log } from '../log.js';
import { openAudit } from './audit.js';
import type { Backend } from './backend.js';
import { storedReport } from './consumer.js';
import {
  BUILT_FILES,
  createHttpServer,
  createServices,
  type HttpServer,
  type HttpServerOptions,
  type ServerServices,
  type ServiceOverrides,
} from './services.js';
import { followDocuments } from './trusted-documents.js';

/** Where budgets are kept: in this process or, as configured, in Redis. */
export function openBuckets({ redisUrl }: Config, { database }: Backend, log: Log): Buckets {
  const own = new OwnBuckets(database.clock);
  return redisUrl === undefined ? own : new RedisBuckets(redisUrl, database.tables.entities, own, log);
}

/** What answers requests in one process. */
export class Answering {
  readonly services: ServerServices;
  readonly #config: Config;
  readonly #log: Log;
  #server: HttpServer | undefined;

  /** `buckets` opens those of budgets; `overrides` is what the services take from elsewhere. */
  constructor(
    config: Config,
    { database, storageFault }: Backend,
    buckets: () => Buckets,
    overrides: ServiceOverrides,
    log: Log,
  ) {
    const { budgets, limits, introspection, readOnly, cacheBytes, cacheSeconds } = config;
    const enforced = budgets === 'enforce';
    const { maxRequestUnits } = limits;
    const auth = config.auth === true;
    this.#config = config;
    this.#log = log;
    this.services = createServices(database, {
      authenticator: auth ? new Authenticator(database, log) : undefined,
      budgets: auth ? new Budgets({ buckets: buckets(), enforced, maxRequestUnits, log }) : undefined,
      audit: openAudit(config, database, log),
      cacheBytes,
      storedReport: () => storedReport(database),
      storageFault,
      limits,
      introspection,
      readOnly,
      cacheSeconds,
      ...(config.trustedDocuments && { trustedDocuments: followDocuments(database, BUILT_FILES.mapDir, log) }),
      ...overrides,
    });
  }

  /** Opens the HTTP server, which does not listen yet. */
  async open(options: HttpServerOptions): Promise<HttpServer> {
    const { http, graphqlJit, federation } = this.#config;
    this.services.authenticator?.start();
    const executor = graphqlJit ? compiling : interpreting;
    const extension = federation ? asSubgraph(options.extension ?? {}) : options.extension;
    this.#server = await createHttpServer(this.services, { ...http, executor, log: this.#log, ...options, extension });
    return this.#server;
  }

  /** Requests in progress may finish within their deadline. */
  async close(): Promise<void> {
    await this.#server?.close().catch((err: unknown) => this.#log.error({ err }, 'The server did not close cleanly'));
    await this.services.authenticator?.stop();
    this.services.budgets?.close();
  }
}
