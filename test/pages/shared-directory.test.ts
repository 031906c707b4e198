import { expect, test } from 'vitest';

import { ClientGone } from '../../src/graphql/work.js';
import { Budget } from '../../src/loaders/budget.js';
import { CellCache } from '../../src/loaders/cell-cache.js';
import { createCollectionCache } from '../../src/loaders/collection-cache.js';
import { createGeometryCache } from '../../src/loaders/geometry-cache.js';
import { DEFAULT_LIMITS } from '../../src/model/limits.js';
import { afterPartition, partitionRange } from '../../src/pages/directory.js';
import { Loaders } from '../../src/read/loaders.js';
import { createCollection } from '../../src/store/collection/collections.js';
import { putDirectoryPart } from '../../src/store/page/page-directory.js';
import { newCall } from '../../src/store/request/meter.js';
import { memoryDatabase } from '../support/memory-store.js';
import { noClusters, testPages } from '../support/page-services.js';

test('a client that leaves does not fail the request of another that waits for the same part of the directory', async () => {
  const db = memoryDatabase();
  const parks = await createCollection(db, { key: 'parks', name: 'Parks' }, '2026-11-21T10:00:00.000Z', newCall());
  const part = { begin: 'u', hints: [{ begin: 'u', markers: 3, bytes: 900 }], end: afterPartition('u') };
  await putDirectoryPart(db, { scope: 'parks', generation: '1' }, part, newCall());
  const now = () => performance.now();
  const shared = {
    db,
    cellCache: new CellCache({ maxBytes: 0, trusted: () => true, now }),
    collectionCache: createCollectionCache({ now }),
    ...testPages({ trusted: true }),
    geometryCache: createGeometryCache({ maxBytes: 0 }),
    keptClusters: noClusters,
    limits: DEFAULT_LIMITS,
    now: () => new Date(),
  };
  const read = async (signal: AbortSignal) => {
    const pages = await new Loaders(shared, newCall(signal)).pages.open(parks);
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
