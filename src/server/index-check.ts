import { systemClock } from '../clock.js';
import { documentId } from '../keys/document-id.js';
import { documentOf } from '../search/document.js';
import type { SearchChange } from '../search/engine.js';
import { dropRefusals, refusalsIn } from '../search/opensearch/dead-letters.js';
import { findDrift, type Drift } from '../search/opensearch/drift.js';
import { IN_USE, stateItem } from '../search/opensearch/state.js';
import { IndexWriter, type Refusal } from '../search/opensearch/write.js';
import { openSearchTables } from '../search/tables.js';
import { CONSUMER } from '../store/cell/stream-state.js';
import { newCall } from '../store/database.js';
import { batchGet } from '../store/request/batches.js';
import { FOLLOWS_WITHIN_MS, withCluster, type IndexCommand } from './reindex.js';
import { shapes } from './search-cluster.js';

/** Compares the index in use with the table. */
export async function checkIndex(command: IndexCommand): Promise<Drift> {
  const { backend, signal } = command;
  const { database } = backend;
  return withCluster(command, async ({ client, names }) =>
    findDrift({
      client,
      alias: names.alias,
      keys: database.keys,
      tables: openSearchTables(database, CONSUMER),
      itemsOf: (keys) => batchGet(newCall(database, signal), database.tables.entities, keys, { consistent: true }),
      settle: async () => {
        await systemClock.sleep(FOLLOWS_WITHIN_MS, signal);
        await client.indices.refresh({ index: names.alias });
      },
    }),
  );
}

/**
 * Indexes the current states of the items that OpenSearch rejected. Calls back with those that it rejects again, and
 * returns how many there were of both.
 */
export async function replayRefusals(
  command: IndexCommand,
  onLeft: (left: readonly Refusal[]) => void,
): Promise<{ tried: number; left: number }> {
  const { backend, signal } = command;
  const { database } = backend;
  const { keys, tables } = database;
  return withCluster(command, async ({ client, names }) => {
    const state = await stateItem(database, IN_USE).load();
    const done = { tried: 0, left: 0 };
    if (state === undefined) return done;
    const collections = await openSearchTables(database, CONSUMER).listCollections();
    const rankBy = new Map(collections.map((collection) => [keys.scope(collection), collection.rankBy]));
    let left: Refusal[] = [];
    const onRefused = (some: readonly Refusal[]) => {
      left.push(...some);
      return Promise.resolve();
    };
    const writer = new IndexWriter({ client, clock: database.clock, shapeOf: shapes(database, onRefused), onRefused });
    for await (const refusals of refusalsIn(database, signal)) {
      left = [];
      const named = refusals.map(({ key }) => key);
      const items = await batchGet(newCall(database, signal), tables.entities, named, { consistent: true });
      const changes = items.flatMap((item): SearchChange[] => {
        const document = item && documentOf(keys, item, rankBy);
        return document ? [{ type: 'put', document }] : [];
      });
      await writer.apply(names.writing(state.index), changes);
      const isLeft = new Set(left.map(({ key }) => documentId(key)));
      const gone = named.filter((key) => !isLeft.has(documentId(key)));
      await dropRefusals(database, gone);
      onLeft(left);
      done.tried += named.length;
      done.left += named.length - gone.length;
    }
    return done;
  });
}
