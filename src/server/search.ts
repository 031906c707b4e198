import type { Config } from '../config.js';
import { CellportError, reasonFor } from '../errors.js';
import type { Log } from '../log.js';
import { restartOnFailure } from '../retry.js';
import { openEmbeddedEngine } from '../search/embedded/embedded-engine.js';
import { isDamaged } from '../search/embedded/open.js';
import {
  type IndexStatus,
  type SearchEngine,
  type SearchReader,
  type TextSearch,
  IndexFault,
} from '../search/engine.js';
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
  let failure: unknown;
  let running: Promise<void> | undefined;

  const status = (): IndexStatus => {
    if (failure !== undefined) return { state: 'failed', read: 0, reason: reasonFor(failure) };
    return follower?.status ?? { state: 'building', read: 0, reason: null };
  };

  function fail(error: unknown): void {
    failure = error;
    log.error({ err: error }, 'Search has failed');
  }

  /** Opens the index and follows the stream. Throws IndexFault once it cannot be written, or read by a search. */
  async function follow(): Promise<void> {
    const replace = failure instanceof IndexFault && isDamaged(failure.cause);
    const place = { folder: dataDir, table: tables.entities, maxBytes: searchBytes, isDamaged: replace };
    const opened = (engine = await openEmbeddedEngine(place, () => backend.database.clock.wall()));
    failure = undefined;
    const broken = new AbortController();
    const noting = <T>(read: Promise<T>): Promise<T> =>
      read.catch((error: unknown) => {
        if (error instanceof IndexFault) broken.abort((failure = error));
        throw error;
      });
    const watched: SearchReader = {
      ...opened,
      search: (...query) => noting(opened.search(...query)),
      count: (...query) => noting(opened.count(...query)),
    };
    reader = inLine(watched, 1);
    follower = openFollower(opened, backend, log, isBusy);
    await follower.run(AbortSignal.any([stopping.signal, broken.signal]));
    broken.signal.throwIfAborted();
  }

  async function close(): Promise<void> {
    const open = engine;
    engine = undefined;
    reader = undefined;
    follower = undefined;
    await open?.close();
  }

  const run = () =>
    restartOnFailure(follow, {
      signal: stopping.signal,
      longestMs: LONGEST_PAUSE_MS,
      async onFailure(error) {
        fail(error);
        await close();
        // The disk may be full for a while, and a damaged index is replaced.
        if (error instanceof CellportError && !(error instanceof IndexFault)) throw error;
      },
    });

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
      // A failure that it ends with has been logged.
      running ??= run().catch(() => undefined);
    },
    async stop() {
      stopping.abort();
      await running;
      await close();
    },
  };
}
