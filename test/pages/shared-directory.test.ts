import { expect, test } from 'vitest';

import { ClientGone } from '../../src/graphql/work.js';
import { Budget } from '../../src/loaders/budget.js';
import { CellCache } from '../../src/loaders/cell-cache.js';
import { CollectionCache } from '../../src/loaders/collection-cache.js';
import { createGeometryCache } from '../../src/loaders/geometry-cache.js';
import { ReadFigures } from '../../src/loaders/range-loader.js';
import { DEFAULT_LIMITS } from '../../src/model/limits.js';
import { afterPartition, partitionRange } from '../../src/pages/directory.js';
import { RecentCells } from '../../src/pages/recent-cells.js';
import { Loaders } from '../../src/read/loaders.js';
import { newCall, type Database } from '../../src/store/database.js';
import { putDirectoryPart } from '../../src/store/page/pages.js';
import { memoryDatabase } from '../support/memory-store.js';
import { noClusters, testPages } from '../support/page-services.js';
import { testCollection } from '../support/test-database.js';

const now = () => performance.now();
const services = (db: Database) => ({
  db,
  cellCache: new CellCache({ maxBytes: 0, trusted: () => true, now }),
  collectionCache: new CollectionCache({ now }),
  ...testPages({ trusted: true }),
  geometryCache: createGeometryCache({ maxBytes: 0 }),
  readFigures: new ReadFigures(),
  keptClusters: noClusters,
  limits: DEFAULT_LIMITS,
  now: () => new Date(),
});

test('a client that leaves does not fail the request of another that waits for the same part of the directory', async () => {
  const db = memoryDatabase();
  const parks = await testCollection(db, { key: 'parks', name: 'Parks' }, '2026-11-21T10:00:00.000Z');
  const part = { begin: 'u', hints: [{ begin: 'u', markers: 3, bytes: 900 }], end: afterPartition('u') };
  await putDirectoryPart(newCall(db), { scope: 'parks', generation: '1' }, part);
  const shared = services(db);
  const read = async (signal: AbortSignal) => {
    const pages = await new Loaders(shared, newCall(db, signal)).pages.open(parks);
    return pages?.directory([partitionRange('u')], Infinity, new Budget(64, 100));
  };
  // A DynamoDB that takes 50 ms.
  let queries = 0;
  const { client } = db;
  const send = client.send.bind(client) as (...args: unknown[]) => Promise<unknown>;
  client.send = (async (...args: unknown[]) => {
    queries += 1;
    await new Promise((resolve) => setTimeout(resolve, 50));
    return send(...args);
  }) as never;
  const leaving = new AbortController();
  const first = read(leaving.signal);
  const second = read(new AbortController().signal);
  setTimeout(() => leaving.abort(new ClientGone('the client has disconnected')), 25);
  const [, b] = await Promise.allSettled([first, second]);
  expect(queries).toBe(1);
  expect(b).toMatchObject({ status: 'fulfilled' });
});

test('markers that were only published make no partition, as no page has them yet', async () => {
  const db = memoryDatabase();
  const parks = await testCollection(db, { key: 'parks', name: 'Parks' }, '2026-11-21T10:00:00.000Z');
  const loaders = new Loaders(services(db), newCall(db));
  const recent = RecentCells.NONE.with([{ batch: 9, sums: new Map([['u3k41', { count: 1, sumLng: 1, sumLat: 1 }]]) }]);
  loaders.recent.cells = () => Promise.resolve(recent);
  expect((await loaders.blocks.one(parks, '')).children.size).toBe(1);
  const pages = await loaders.pages.open(parks);
  const known = await pages?.directory([partitionRange('u')], Infinity, new Budget(64, 100));
  expect(known?.directory.size).toBe(0);
});
