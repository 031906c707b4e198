import type { SearchEngine, SearchReader } from '../engine.js';
import { parseOrder } from '../hit-order.js';
import { GONE_KEPT_MS, PURGE_EVERY_MS } from '../stored.js';
import type { Client } from './client.js';
import { createIndex, dropOthers, hasIndex, pointAlias, type SearchIndexNames } from './indexes.js';
import { asking, count, search } from './read.js';
import { IndexWriter, type WriterOptions } from './write.js';

/** Which index is written, and its checkpoint; stored outside of OpenSearch, which has no transactions. */
export interface IndexState {
  /** Name of the index; empty before the first one. */
  readonly index: string;
  readonly checkpoint: string | undefined;
}

/** Where the state is kept. A write fails once another process has taken over. */
export interface IndexStateStore {
  load(): Promise<IndexState>;
  store(state: IndexState): Promise<void>;
}

/** Searches the current index of a table. */
export function openReader(client: Client, names: SearchIndexNames, load: IndexStateStore['load']): SearchReader {
  const ask = (signal: AbortSignal | undefined) => asking(client, names.alias, signal);
  return {
    checkpoint: async () => (await load()).checkpoint,
    search: (query, { after, limit }, signal) =>
      search(ask(signal), query, after === undefined ? undefined : parseOrder(after), limit),
    count: (query, signal) => count(ask(signal), query),
    isPosition: (text) => parseOrder(text) !== undefined,
    close: () => Promise.resolve(),
  };
}

export interface EngineOptions extends WriterOptions {
  readonly names: SearchIndexNames;
  readonly state: IndexStateStore;
  /** Whether searches go to this index as soon as there is one, and all others are deleted; not while another one is in use. */
  readonly inUse: boolean;
  /** Indexes that are built beside this one. */
  readonly others: () => Promise<readonly string[]>;
}

/** Removes what is left of items that were deleted before a time: no record of them can come any more. */
async function purge(client: Client, index: string, before: number): Promise<void> {
  const query = { range: { deletedAt: { lt: before } } };
  await client.deleteByQuery({ index, conflicts: 'proceed', body: { query } });
}

/** An index in OpenSearch that one process at a time writes. */
export function openSearchEngine(options: EngineOptions): SearchEngine {
  const { client, clock, names, state, inUse, others } = options;
  const writer = new IndexWriter(options);
  let purgedAt = -Infinity;

  async function use(index: string): Promise<void> {
    if (!inUse) return;
    await pointAlias(client, names, index);
    await dropOthers(client, names, [index, ...(await others())]);
  }

  async function clear(): Promise<void> {
    const index = names.next();
    await createIndex(client, names, index);
    await state.store({ index, checkpoint: undefined });
    await use(index);
  }

  return {
    ...openReader(client, names, () => state.load()),
    /** Makes the index ready, which a crash, or somebody's deletion of it, may have left undone. */
    async checkpoint() {
      const { index, checkpoint } = await state.load();
      // One that was not finished before an update is begun anew.
      if ((inUse || names.isCurrent(index)) && (await hasIndex(client, index))) {
        await use(index);
        return checkpoint;
      }
      await clear();
      return undefined;
    },
    async write(changes, checkpoint) {
      const { index, checkpoint: before } = await state.load();
      await writer.apply(names.writing(index), changes).catch(async (error: unknown) => {
        // If a reindex has taken over and deleted the index, it is this that fails, with LeaseLost.
        await state.store({ index, checkpoint: before });
        throw error;
      });
      await state.store({ index, checkpoint });
      const now = clock.wall();
      if (now - purgedAt < PURGE_EVERY_MS) return;
      purgedAt = now;
      await purge(client, names.writing(index), now - GONE_KEPT_MS);
    },
    clear,
  };
}
