import { expect, test, vi } from 'vitest';

import { serve } from '../../server/sources/server.js';
import { MAPPING, mappingFile, shop, shopTables } from '../../server/sources/shops.js';
import { HAS_OPENSEARCH } from '../../services/opensearch-server.js';
import { deleteItem, putItem } from '../../sources/foreign-table.js';
import { runCliHere } from '../../support/run-cli.js';
import { engineSettings, testDatabase } from '../../support/test-database.js';
import { clusterUrl } from './cluster.js';

const soon = { timeout: 40_000, interval: 300 };

test.skipIf(!HAS_OPENSEARCH)(
  'a source is searched in OpenSearch, also after other mappings and a reindex',
  async () => {
    const db = await testDatabase('readable', { stream: true });
    const { cli, make, follow } = shopTables(db);
    const settings = { CELLPORT_OPENSEARCH_URL: await clusterUrl() };
    const reindex = (...args: string[]) =>
      runCliHere(['reindex', ...args], { ...engineSettings(), ...settings, CELLPORT_TABLE: db.tables.entities });
    const table = await make('found', [shop('a', 1, 1), shop('b', 2, 2, { stars: 5 })]);
    expect((await follow('found', { ...MAPPING, table })).code).toBe(0);
    const { ask } = await serve(db, settings);
    const found = async (text: string, collections?: readonly string[]) => {
      const query = `query ($text: String!, $collections: [String!]) {
      search(text: $text, collections: $collections) { totalCount nodes: edges { node { ... on Marker { key } } } }
    }`;
      const { data, errors } = await ask(query, { text, collections });
      const edges = (data?.search.nodes ?? []) as { node: { key: string } }[];
      return errors?.[0]?.message ?? [data.search.totalCount, ...edges.map(({ node }) => node.key).sort()];
    };
    await vi.waitFor(async () => expect(await found('shop', ['found'])).toEqual([2, 'a', 'b']), soon);
    expect(await found('shop')).toEqual([2, 'a', 'b']);
    await putItem(db, table, shop('c', 3, 3, { title: 'Quincaillerie', stars: 5 }));
    await deleteItem(db, table, { PK: 'SHOP#a', SK: 'META' });
    await vi.waitFor(async () => expect(await found('bakery', ['found'])).toEqual([2, 'b', 'c']), soon);
    expect(await found('quinc')).toEqual([1, 'c']);
    expect((await reindex('--check')).output).toContain('0 of 1 documents missing or stale, 0 too many');
    const next = { ...MAPPING, table, name: 'kind', where: [{ path: 'title', ne: 'Shop b' }] };
    expect((await cli('source', 'change', 'found', await mappingFile(next))).code).toBe(0);
    await vi.waitFor(async () => {
      expect(await found('bakery')).toEqual([1, 'c']);
      expect(await found('quinc')).toEqual([0]);
    }, soon);
    expect(await reindex()).toMatchObject({ code: 0 });
    await vi.waitFor(async () => expect(await found('bakery', ['found'])).toEqual([1, 'c']), soon);
    await putItem(db, table, shop('d', 3, 3));
    await vi.waitFor(async () => expect(await found('bakery', ['found'])).toEqual([2, 'c', 'd']), soon);
  },
);
