import { CellportError, reasonFor } from '../errors.js';
import type { Log } from '../log.js';
import { restartOnFailure } from '../retry.js';
import { openEmbeddedEngine } from '../search/embedded/embedded-engine.js';
import { isDamaged } from '../search/embedded/open.js';
import {
  IndexFault,
  type IndexStatus,
  type SearchEngine,
  type SearchReader,
  type TextSearch,
} from '../search/engine.js';
import { FOLLOW_RETRIES, readCheckpoint } from '../search/follow.js';
import { sourcesIn } from '../search/index-parts.js';
import { inLine } from '../search/line.js';
import { IN_USE, type SearchState } from '../search/opensearch/state.js';
import { LeaseLost, takeLease, whileLeased } from '../store/lease.js';
import type { StreamBackend } from './backend.js';
import { openCluster, type SearchCluster } from './search-cluster.js';
import { ServerIndex } from './server-index.js';

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

/** Where this server keeps its own index, and how large it may become. */
export interface OwnIndex {
  readonly dataDir: string;
  readonly searchBytes: number;
}

/** Search through an index of this server alone. */
export class OwnSearch implements ServerSearch {
  readonly #index: OwnIndex;
  readonly #backend: StreamBackend;
  readonly #log: Log;
  readonly #isBusy: (() => boolean) | undefined;
  readonly #stopping = new AbortController();
  #engine: SearchEngine | undefined;
  #reader: SearchReader | undefined;
  #follower: ServerIndex | undefined;
  #failure: unknown;
  #running: Promise<void> | undefined;

  constructor(index: OwnIndex, backend: StreamBackend, log: Log, isBusy?: () => boolean) {
    this.#index = index;
    this.#backend = backend;
    this.#log = log;
    this.#isBusy = isBusy;
  }

  get status(): IndexStatus {
    if (this.#failure !== undefined) return { state: 'failed', read: 0, reason: reasonFor(this.#failure) };
    return this.#follower?.status ?? { state: 'building', read: 0, reason: null };
  }

  hasRead(scope: string): boolean {
    return this.#follower?.hasRead(scope) === true;
  }

  open(): SearchReader {
    const { status } = this;
    if (this.#reader !== undefined && status.state === 'following') return this.#reader;
    const advice = ` (CELLPORT_SEARCH_MB limits it to ${this.#index.searchBytes / 1024 / 1024} MB)`;
    throw unavailable(status, this.#failure === undefined ? advice : '');
  }

  start(): void {
    this.#running ??= restartOnFailure(() => this.#follow(), {
      signal: this.#stopping.signal,
      longestMs: LONGEST_PAUSE_MS,
      onFailure: async (error) => {
        this.#failure = error;
        this.#log.error({ err: error }, 'Search has failed');
        await this.#close();
        // The disk may be full for a while, and a damaged index is replaced.
        if (error instanceof CellportError && !(error instanceof IndexFault)) throw error;
      },
      // A failure that it ends with has been logged.
    }).catch(() => undefined);
  }

  async stop(): Promise<void> {
    this.#stopping.abort();
    await this.#running;
    await this.#close();
  }

  /** Opens the index and follows the stream. Throws IndexFault once it cannot be written, or read by a search. */
  async #follow(): Promise<void> {
    const { database } = this.#backend;
    const { dataDir: folder, searchBytes: maxBytes } = this.#index;
    const replace = this.#failure instanceof IndexFault && isDamaged(this.#failure.cause);
    const place = { folder, table: database.tables.entities, maxBytes, isDamaged: replace };
    const opened = (this.#engine = await openEmbeddedEngine(place, () => database.clock.wall()));
    this.#failure = undefined;
    const broken = new AbortController();
    const noting = <T>(read: Promise<T>): Promise<T> =>
      read.catch((error: unknown) => {
        if (error instanceof IndexFault) broken.abort((this.#failure = error));
        throw error;
      });
    const watched: SearchReader = {
      ...opened,
      search: (...query) => noting(opened.search(...query)),
      count: (...query) => noting(opened.count(...query)),
    };
    this.#reader = inLine(watched, 1);
    this.#follower = new ServerIndex(opened, this.#backend, this.#log, this.#isBusy);
    await this.#follower.run(AbortSignal.any([this.#stopping.signal, broken.signal]));
    broken.signal.throwIfAborted();
  }

  async #close(): Promise<void> {
    const open = this.#engine;
    this.#engine = undefined;
    this.#reader = undefined;
    this.#follower = undefined;
    await open?.close();
  }
}

/** Whether the index is complete, according to its checkpoint. */
function statusOf(state: SearchState | undefined): IndexStatus {
  const checkpoint = state?.checkpoint ?? undefined;
  if (checkpoint === undefined) return { state: 'building', read: 0, reason: null };
  const { complete, read } = readCheckpoint(checkpoint);
  return { state: complete ? 'following' : 'building', read, reason: null };
}

/** Search through an index in OpenSearch that all servers of a table share; one of them follows the stream. */
export class FleetSearch implements ServerSearch {
  readonly #url: string;
  readonly #backend: StreamBackend;
  readonly #log: Log;
  readonly #isBusy: (() => boolean) | undefined;
  readonly #stopping = new AbortController();
  #cluster: SearchCluster | undefined;
  #follower: ServerIndex | undefined;
  #latest: () => SearchState | undefined = () => undefined;
  #running: Promise<void> | undefined;

  constructor(url: string, backend: StreamBackend, log: Log, isBusy?: () => boolean) {
    this.#url = url;
    this.#backend = backend;
    this.#log = log;
    this.#isBusy = isBusy;
  }

  get status(): IndexStatus {
    return this.#follower?.status.state === 'failed' ? this.#follower.status : statusOf(this.#latest());
  }

  hasRead(scope: string): boolean {
    return sourcesIn(this.#latest()?.checkpoint).has(scope);
  }

  open(): SearchReader {
    const { status } = this;
    if (this.#cluster === undefined || status.state !== 'following') throw unavailable(status);
    return this.#cluster.reader;
  }

  start(): void {
    const { signal } = this.#stopping;
    this.#running ??= restartOnFailure(
      async (progressed) => {
        const cluster = (this.#cluster ??= await openCluster(this.#url, this.#backend, this.#log));
        while (!signal.aborted) await this.#follow(cluster, progressed);
      },
      {
        signal,
        ...FOLLOW_RETRIES,
        onFailure: (err) => {
          if (!(err instanceof LeaseLost)) this.#log.warn({ err }, 'Cannot follow the stream into OpenSearch');
        },
      },
    ).catch((err: unknown) => this.#log.error({ err }, 'Search has failed'));
  }

  async stop(): Promise<void> {
    this.#stopping.abort();
    await this.#running;
    const open = this.#cluster;
    this.#cluster = undefined;
    await open?.close();
  }

  /** Waits for the lease, then follows the stream until another process takes over. */
  async #follow(cluster: SearchCluster, progressed: () => void): Promise<void> {
    const { signal } = this.#stopping;
    const look = (state: SearchState) => {
      this.#latest = () => state;
    };
    const lease = await takeLease(cluster.lease(IN_USE, look), signal);
    progressed();
    this.#latest = () => lease.current;
    const { index } = lease.current;
    if (index !== '' && !cluster.names.isCurrent(index))
      this.#log.warn(
        { index },
        'The search index is of another version of Cellport: run `cellport reindex` to rebuild it',
      );
    const follower = (this.#follower = cluster.follower(cluster.engine(lease, IN_USE), this.#isBusy));
    try {
      await whileLeased(lease, (working) => follower.run(working), signal);
    } finally {
      this.#follower = undefined;
    }
  }
}
