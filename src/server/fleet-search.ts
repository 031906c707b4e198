import type { Config } from '../config.js';
import type { Log } from '../log.js';
import type { IndexStatus } from '../search/engine.js';
import { type IndexFollower, FOLLOW_RETRIES, readCheckpoint } from '../search/follow.js';
import { IN_USE, type SearchState } from '../search/opensearch/state.js';
import { restartOnFailure } from '../retry.js';
import { LeaseLost, takeLease, whileLeased } from '../store/lease.js';
import type { StreamBackend } from './backend.js';
import { type ServerSearch, unavailable } from './search.js';
import { type SearchCluster, openCluster } from './search-cluster.js';

/** Whether the index is complete, according to its checkpoint. */
function statusOf(state: SearchState | undefined): IndexStatus {
  const checkpoint = state?.checkpoint ?? undefined;
  if (checkpoint === undefined) return { state: 'building', read: 0, reason: null };
  const { complete, read } = readCheckpoint(checkpoint);
  return { state: complete ? 'following' : 'building', read, reason: null };
}

/** Search through an index in OpenSearch that all servers of a table share; one of them follows the stream. */
export function openFleetSearch(
  url: string,
  config: Pick<Config, 'tables'>,
  backend: StreamBackend,
  log: Log,
  isBusy?: () => boolean,
): ServerSearch {
  const stopping = new AbortController();
  const { signal } = stopping;
  let cluster: SearchCluster | undefined;
  let follower: IndexFollower | undefined;
  let latest: () => SearchState | undefined = () => undefined;
  let running: Promise<void> | undefined;

  /** Waits for the lease, then follows the stream until another process takes over. */
  async function follow(opened: SearchCluster, progressed: () => void): Promise<void> {
    const look = (state: SearchState) => {
      latest = () => state;
    };
    const lease = await takeLease(opened.lease(IN_USE, look), signal);
    progressed();
    latest = () => lease.current;
    const { index } = lease.current;
    if (index !== '' && !opened.names.isCurrent(index))
      log.warn({ index }, 'The search index is of another version of Cellport: run `cellport reindex` to rebuild it');
    const own = opened.follower(opened.engine(lease, IN_USE), isBusy);
    follower = own;
    try {
      await whileLeased(lease, (working) => own.run(working), signal);
    } finally {
      follower = undefined;
    }
  }

  const run = () =>
    restartOnFailure(
      async (progressed) => {
        cluster ??= await openCluster(url, config, backend, log);
        while (!signal.aborted) await follow(cluster, progressed);
      },
      {
        signal,
        ...FOLLOW_RETRIES,
        onFailure(err) {
          if (!(err instanceof LeaseLost)) log.warn({ err }, 'Cannot follow the stream into OpenSearch');
        },
      },
    );

  const status = (): IndexStatus => (follower?.status.state === 'failed' ? follower.status : statusOf(latest()));
  return {
    get status() {
      return status();
    },
    open() {
      const now = status();
      if (cluster === undefined || now.state !== 'following') throw unavailable(now);
      return cluster.reader;
    },
    start() {
      running ??= run().catch((err: unknown) => log.error({ err }, 'Search has failed'));
    },
    async stop() {
      stopping.abort();
      await running;
      const open = cluster;
      cluster = undefined;
      await open?.close();
    },
  };
}
