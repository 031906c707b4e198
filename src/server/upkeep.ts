import { systemClock } from '../clock.js';
import type { Config } from '../config.js';
import type { HotKey, Metrics } from '../http/metrics.js';
import type { Log } from '../log.js';
import type { Backend } from './backend.js';
import type { Background } from './background.js';
import { openPurging } from './cdn.js';
import { watchClock } from './clock-watch.js';
import { recountDerived, startConsumer, type Caches, type DerivedData } from './consumer.js';
import { keepExact } from './exact-counts.js';
import { FleetSearch } from './fleet-search.js';
import { watchHotKeys } from './hot-keys.js';
import { startJobs } from './jobs.js';
import { feedAll, type Live } from './live.js';
import { OwnSearch, type ServerSearch } from './search.js';
import { SourceKeeper } from './sources/keeper.js';
import { spreadHotPrefixes } from './spread.js';
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

export interface UpkeepParts {
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
  const completeAt = (): number => systemClock.now() - (derived.status().behindMs ?? Infinity);
  const purging = config.consumer && config.cdn ? openPurging(config.cdn, database.keys, completeAt, log) : undefined;
  const derived: DerivedData = config.consumer
    ? startConsumer(backend, log, { caches, live: feedAll([live.feed, purging]), embedded })
    : watchConsumer(database, live.ends);
  // DynamoDB Local has no partitions.
  const spreads = config.spreadWcu > 0 && !config.readOnly && !embedded;
  const spread = (hot: readonly HotKey[]) => spreadHotPrefixes(database, hot, config.spreadWcu, log);
  const stopWatching = metrics && watchHotKeys(metrics, database.keys, log, spreads ? spread : undefined);
  const stopWatchingClock = watchClock(database.clock, log);
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
      await purging?.stop();
    },
  };
}
