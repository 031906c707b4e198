import type { Log } from '../log.js';
import { restartOnFailure } from '../retry.js';
import type { IndexStatus, SearchReader } from '../search/engine.js';
import { FOLLOW_RETRIES, readCheckpoint } from '../search/follow.js';
import { sourcesIn } from '../search/index-parts.js';
import { IN_USE, type SearchState } from '../search/opensearch/state.js';
import { LeaseLost, takeLease, whileLeased } from '../store/lease.js';
import type { StreamBackend } from './backend.js';
import { openCluster, type SearchCluster } from './search-cluster.js';
import { unavailable, type ServerSearch } from './search.js';
import type { ServerIndex } from './server-index.js';

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
