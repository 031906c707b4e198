import { systemClock } from '../clock.js';
import { documentOf } from '../search/document.js';
import type { SearchChange } from '../search/engine.js';
import { dropRefusals, listRefusals } from '../search/opensearch/dead-letters.js';
import { type Drift, findDrift } from '../search/opensearch/drift.js';
import { IN_USE, stateItem } from '../search/opensearch/state.js';
import { type Refusal, IndexWriter } from '../search/opensearch/write.js';
import { openSearchTables } from '../search/tables.js';
import { batchGet } from '../store/request/batch-get.js';
import { newCall } from '../store/request/meter.js';
import { CONSUMER } from './cells.js';
import { FOLLOWS_WITHIN_MS, type IndexCommand, withCluster } from './reindex.js';
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
      itemsOf: (keys) => batchGet(database, database.tables.entities, keys, newCall(signal), { consistent: true }),
      settle: async () => {
        await systemClock.sleep(FOLLOWS_WITHIN_MS, signal);
        await client.indices.refresh({ index: names.alias });
      },
    }),
  );
}

/**
 * Indexes the current states of the items that OpenSearch rejected. Returns how many there were, and those that it
 * rejects again.
 */
export async function replayRefusals(command: IndexCommand): Promise<{ tried: number; left: readonly Refusal[] }> {
  const { backend, signal } = command;
  const { database } = backend;
  const { keys, tables } = database;
  return withCluster(command, async ({ client, names }) => {
    const refusals = await listRefusals(database);
    const state = await stateItem(database, IN_USE).load();
    if (refusals.length === 0 || state === undefined) return { tried: 0, left: refusals };
    const left: Refusal[] = [];
    const onRefused = (some: readonly Refusal[]) => {
      left.push(...some);
      return Promise.resolve();
    };
    const named = refusals.map(({ key }) => key);
    const items = await batchGet(database, tables.entities, named, newCall(signal), { consistent: true });
    const collections = await openSearchTables(database, CONSUMER).listCollections();
    const rankBy = new Map(collections.map((collection) => [keys.scope(collection), collection.rankBy]));
    const changes = items.flatMap((item): SearchChange[] => {
      const document = item && documentOf(keys, item, rankBy);
      return document ? [{ type: 'put', document }] : [];
    });
    const writer = new IndexWriter({ client, clock: systemClock, shapeOf: shapes(database, onRefused), onRefused });
    await writer.apply(names.writing(state.index), changes);
    const isLeft = new Set(left.map(({ key }) => `${key.pk}#${key.sk}`));
    await dropRefusals(
      database,
      named.filter(({ pk, sk }) => !isLeft.has(`${pk}#${sk}`)),
    );
    return { tried: refusals.length, left };
  });
}
