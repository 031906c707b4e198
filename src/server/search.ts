import type { Config } from '../config.js';
import { CellportError } from '../errors.js';
import type { Log } from '../log.js';
import { retry } from '../retry.js';
import { openEmbeddedEngine } from '../search/embedded/embedded-engine.js';
import type { IndexStatus, SearchEngine, SearchReader, TextSearch } from '../search/engine.js';
import type { IndexFollower } from '../search/follow.js';
import { inLine } from '../search/line.js';
import type { StreamBackend } from './backend.js';
import { openFollower } from './index-follower.js';

const LONGEST_PAUSE_MS = 10_000;

/** This server's search, which follows the stream once started. */
export interface ServerSearch extends TextSearch {
  start(): void;
  stop(): Promise<void>;
}

/** The error while nothing can be found; `advice` is added if the index has failed. */
export function unavailable({ state, read, reason }: IndexStatus, advice = ''): CellportError {
  const message =
    state === 'failed'
      ? `search has failed: ${reason ?? 'unknown reason'}${advice}`
      : `the search index is being built, ${read.toLocaleString('en')} items read so far; try again later`;
  return new CellportError('UNAVAILABLE', message);
}

/** Opens search on an index of this server alone. */
export function openOwnSearch(
  { searchBytes, dataDir, tables }: Pick<Config, 'searchBytes' | 'dataDir' | 'tables'>,
  backend: StreamBackend,
  log: Log,
  isBusy?: () => boolean,
): ServerSearch {
  const advice = ` (CELLPORT_SEARCH_MB limits it to ${searchBytes / 1024 / 1024} MB)`;
  const stopping = new AbortController();
  let engine: SearchEngine | undefined;
  let reader: SearchReader | undefined;
  let follower: IndexFollower | undefined;
  let failure: string | undefined;
  let running: Promise<void> | undefined;

  const status = (): IndexStatus => {
    if (failure !== undefined) return { state: 'failed', read: 0, reason: failure };
    return follower?.status ?? { state: 'building', read: 0, reason: null };
  };

  function fail(error: unknown): void {
    failure = error instanceof Error ? error.message : String(error);
    log.error({ err: error }, 'Search has failed');
  }

  async function run(): Promise<void> {
    try {
      const place = { folder: dataDir, table: tables.entities, maxBytes: searchBytes };
      engine = await retry(() => openEmbeddedEngine(place, () => backend.database.clock.wall()), {
        attempts: Infinity,
        longestMs: LONGEST_PAUSE_MS,
        signal: stopping.signal,
        // The disk may be full for a while.
        retryable: (error) => !(error instanceof CellportError),
        onRetry: fail,
      });
      failure = undefined;
      reader = inLine(engine, 1);
      follower = openFollower(engine, backend, log, isBusy);
      await follower.run(stopping.signal);
    } catch (error) {
      if (!stopping.signal.aborted) fail(error);
    }
  }

  return {
    get status() {
      return status();
    },
    open() {
      const now = status();
      if (reader === undefined || now.state !== 'following')
        throw unavailable(now, failure === undefined ? advice : '');
      return reader;
    },
    start() {
      running ??= run();
    },
    async stop() {
      stopping.abort();
      await running;
      const open = engine;
      engine = undefined;
      reader = undefined;
      await open?.close();
    },
  };
}
