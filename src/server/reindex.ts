import { systemClock } from '../clock.js';
import { CellportError } from '../errors.js';
import type { Log } from '../log.js';
import { isConnectionError } from '../search/opensearch/client.js';
import { dropOthers, pointAlias } from '../search/opensearch/indexes.js';
import { IN_USE, NEXT, stateItem, type SearchState } from '../search/opensearch/state.js';
import { takeLease, whileLeased, type Lease } from '../store/lease.js';
import type { StreamBackend } from './backend.js';
import { inStreamBy } from './consumer.js';
import { openCluster, type SearchCluster } from './search-cluster.js';
import type { ServerIndex } from './server-index.js';

/** What a command on the index in OpenSearch needs. */
export interface IndexCommand {
  readonly url: string;
  readonly backend: StreamBackend;
  readonly log: Log;
  readonly signal: AbortSignal;
}

export interface Reindexed {
  /** Number of documents in the new index, and in the previous one. */
  readonly documents: number;
  readonly before: number;
}

const POLL_MS = 100;
/** How long a server may take to add a write to the index that it maintains. */
export const FOLLOWS_WITHIN_MS = 3_000;
const COMPARISONS = 5;

/** Opens OpenSearch for a command, and closes it afterwards. Throws UNAVAILABLE if it does not respond. */
export async function withCluster<T>(
  { url, backend, log }: IndexCommand,
  work: (cluster: SearchCluster) => Promise<T>,
): Promise<T> {
  const cluster = await openCluster(url, backend, log);
  try {
    await cluster.client.ping().catch((cause: unknown) => {
      if (!isConnectionError(cause)) return;
      throw new CellportError('UNAVAILABLE', `OpenSearch does not respond at ${new URL(url).host}`, {}, { cause });
    });
    return await work(cluster);
  } finally {
    await cluster.close();
  }
}

/** The number of documents that searches of an index find, including everything written before the call. */
async function countIn({ client }: SearchCluster, index: string): Promise<number> {
  await client.indices.refresh({ index });
  const query = { bool: { must_not: { exists: { field: 'deletedAt' } } } };
  return (await client.count({ index, body: { query } })).body.count;
}

/**
 * Builds an index next to the one in use, while both follow the stream, then switches searches to it in one step. After
 * a crash it resumes. Throws CONFLICT if another process is reindexing, or if the counts of both indexes differ, unless
 * that is accepted.
 */
export async function reindex(
  command: IndexCommand,
  { acceptCount, onRead }: { readonly acceptCount: boolean; readonly onRead: (items: number) => void },
): Promise<Reindexed> {
  const { backend, signal } = command;
  return withCluster(command, async (cluster) => {
    const options = cluster.lease(NEXT);
    const late = AbortSignal.timeout(options.leaseMs * 1.5);
    const lease = await takeLease(options, AbortSignal.any([signal, late])).catch((error: unknown) => {
      if (!late.aborted) throw error;
      throw new CellportError('CONFLICT', 'another `cellport reindex` is running');
    });
    const inUse = await stateItem(backend.database, IN_USE).load();
    // A previous run was killed after the switch.
    if (lease.current.index === inUse?.index)
      await lease.update((state) => ({ ...state, index: '', checkpoint: null }));
    return whileLeased(
      lease,
      async (working) => {
        const building = new AbortController();
        const follower = cluster.follower(cluster.engine(lease, NEXT));
        const running = follower.run(AbortSignal.any([working, building.signal]));
        try {
          const complete = () => untilComplete(follower, inStreamBy(backend.database), onRead, working);
          await complete();
          const counts = await compareCounts(cluster, lease, complete, acceptCount, working);
          building.abort();
          await running;
          await putIntoUse(cluster, lease, working);
          return counts;
        } finally {
          building.abort();
          await running;
        }
      },
      signal,
    );
  });
}

/** Waits until an index includes everything that was in the stream by `from`. */
async function untilComplete(
  follower: ServerIndex,
  from: number,
  onRead: (items: number) => void,
  signal: AbortSignal,
): Promise<void> {
  while ((follower.completeAt ?? -Infinity) < from || follower.status.state !== 'following' || !follower.hasSources) {
    const { state, read, reason } = follower.status;
    if (state === 'failed') throw new CellportError('UNAVAILABLE', reason ?? 'the stream cannot be read');
    onRead(read);
    await systemClock.sleep(POLL_MS, signal);
  }
}

/** The counts of both indexes, once they agree: writes continue meanwhile, and one index may receive them first. */
async function compareCounts(
  cluster: SearchCluster,
  { current: { index } }: Lease<SearchState>,
  complete: () => Promise<void>,
  acceptCount: boolean,
  signal: AbortSignal,
): Promise<Reindexed> {
  const { client, names } = cluster;
  if (!(await client.indices.existsAlias({ name: names.alias })).body)
    return { documents: await countIn(cluster, index), before: 0 };
  for (let comparisons = 1; ; comparisons += 1) {
    await complete();
    const counts = { before: await countIn(cluster, names.alias), documents: await countIn(cluster, index) };
    if (counts.documents === counts.before || acceptCount) return counts;
    if (comparisons === COMPARISONS) {
      const message = `the new index has ${counts.documents} documents, the one in use ${counts.before}`;
      throw new CellportError('CONFLICT', `${message}: see \`cellport reindex --check\`, or pass --accept-count`);
    }
    await systemClock.sleep(FOLLOWS_WITHIN_MS / COMPARISONS, signal);
  }
}

/**
 * Takes over from the server that follows the stream, so that the next one continues with the new index at its
 * checkpoint.
 */
async function putIntoUse(
  { client, names, ...cluster }: SearchCluster,
  next: Lease<SearchState>,
  signal: AbortSignal,
): Promise<void> {
  const { index, checkpoint } = next.current;
  const lease = await takeLease({ ...cluster.lease(IN_USE), force: true }, signal);
  await whileLeased(
    lease,
    async () => {
      // From here on, every server switches searches to this index if this process ends.
      await lease.update((state) => ({ ...state, index, checkpoint }));
      await pointAlias(client, names, index);
      await dropOthers(client, names, [index]);
      await next.update((state) => ({ ...state, index: '', checkpoint: null }));
    },
    signal,
  );
}
