import type { Config } from '../config.js';
import type { SourceReadiness } from '../http/health.js';
import type { HotKey, Metrics } from '../http/metrics.js';
import type { Log } from '../log.js';
import type { ConsumerStatus } from '../stream/consume/consumer.js';
import type { Backend } from './backend.js';
import type { Background } from './background.js';
import { watchClock } from './clock-watch.js';
import { noConsumer, recountDerived, startConsumer, type Caches, type DerivedData } from './consumer.js';
import { keepExact } from './exact-counts.js';
import { FleetSearch } from './fleet-search.js';
import { watchHotKeys } from './hot-keys.js';
import { startJobs } from './jobs.js';
import type { Live } from './live.js';
import { OwnSearch, type ServerSearch } from './search.js';
import { SourceKeeper } from './sources/keeper.js';
import { spreadHotPrefixes } from './spread.js';

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

const isEmbedded = ({ database }: Config) => database.kind === 'embedded';

export interface UpkeepParts {
  /** Those that are kept up to date. */
  readonly caches: Caches;
  readonly live: Live;
  readonly search: ServerSearch | undefined;
  /** Undefined for a server that samples no capacity. */
  readonly metrics: Metrics | undefined;
}

/** What one process of a server does for all that answer requests: it follows streams, and does the work that is due. */
export class Upkeep {
  readonly derived: DerivedData;
  readonly #config: Config;
  readonly #backend: Backend;
  readonly #parts: UpkeepParts;
  readonly #log: Log;
  readonly #watching: readonly (() => void)[];
  #sources: SourceKeeper | undefined;
  #jobs: readonly Background[] = [];

  /** Begins to update derived data and to receive changes. */
  constructor(config: Config, backend: Backend, parts: UpkeepParts, log: Log) {
    const { database } = backend;
    const embedded = isEmbedded(config);
    this.#config = config;
    this.#backend = backend;
    this.#parts = parts;
    this.#log = log;
    this.derived = config.consumer
      ? startConsumer(backend, log, { caches: parts.caches, live: parts.live.feed, embedded })
      : noConsumer();
    // DynamoDB Local has no partitions.
    const spreads = config.spreadWcu > 0 && !config.readOnly && !embedded;
    const spread = (hot: readonly HotKey[]) => spreadHotPrefixes(database, hot, config.spreadWcu, log);
    const hotKeys = parts.metrics && watchHotKeys(parts.metrics, database.keys, log, spreads ? spread : undefined);
    this.#watching = [watchClock(database.clock, log), ...(hotKeys ? [hotKeys] : [])];
  }

  /** The status of a source's consumer in this process; undefined for what is no source. */
  sourceStatus(scope: string): ConsumerStatus | undefined {
    return this.#config.consumer ? this.#sources?.status(scope) : undefined;
  }

  /** The statuses of all sources' consumers, by the scopes of their collections. */
  sourceStatuses(): ReadonlyMap<string, ConsumerStatus> {
    return (this.#config.consumer && this.#sources?.statuses()) || new Map();
  }

  /** See `Services.sourceLiveSince`. */
  async sourceLiveSince(scope: string): Promise<number | undefined> {
    return this.#sources?.liveSince(scope);
  }

  /** The sources that this process follows, or waits to follow. */
  sources(): readonly SourceReadiness[] {
    return (this.#config.consumer && this.#sources?.list()) || [];
  }

  /** Starts the background jobs, sources and search. */
  start(): void {
    const { derived } = this;
    const { caches, live, search } = this.#parts;
    const recountAll = (signal: AbortSignal) => recountDerived(this.#backend, this.#log, false, signal);
    this.#jobs = [
      startJobs(this.#backend, derived, this.#config.limits.deadlineMs, this.#log),
      ...(isEmbedded(this.#config) && this.#config.consumer
        ? [keepExact(() => derived.status(), recountAll, this.#log)]
        : []),
    ];
    this.#sources = new SourceKeeper(this.#backend, this.#log, { caches, live, liveOnly: !this.#config.consumer });
    search?.start();
  }

  async stop(): Promise<void> {
    for (const stop of this.#watching) stop();
    await this.#sources?.stop();
    for (const job of this.#jobs) await job.stop();
    await this.#parts.live.close();
    await this.#parts.search?.stop();
    await this.derived.stop();
  }
}
