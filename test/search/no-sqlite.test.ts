import { afterAll, beforeAll, expect, test, vi } from 'vitest';

import { silentLog } from '../../src/log.js';
import { openOwnSearch } from '../../src/server/search.js';
import { createCollection } from '../../src/store/collection/collections.js';
import { newCall } from '../../src/store/request/meter.js';
import { createStreamsClient } from '../../src/stream/dynamodb.js';
import { until } from '../live/support.js';
import { engine, testDatabase } from '../support/test-database.js';

const db = await testDatabase('readable', { stream: true });
const streams = createStreamsClient(engine());
beforeAll(() => {
  vi.doMock('libsql', () => {
    throw new Error('there is no binary');
  });
});
afterAll(() => {
  vi.doUnmock('libsql');
  streams.destroy();
});

test('where SQLite does not run, a server keeps its index in memory, and says so', async () => {
  const warnings: string[] = [];
  const log = { ...silentLog, warn: (_: unknown, message: string) => void warnings.push(message) };
  const config = { searchBytes: 2 ** 26, dataDir: '/dev/null/nowhere', tables: db.tables };
  const search = openOwnSearch(config, { database: db, streams }, log);
  search.start();
  await until(() => search.status.state === 'following');
  await createCollection(db, { key: 'parks', name: 'Grounds' }, '2026-11-21T10:00:00.000Z', newCall());
  const query = { words: ['grounds'], scopes: undefined, area: undefined, near: undefined };
  await until(async () => (await search.open().count(query)) === 1);
  expect(warnings).toEqual([expect.stringMatching(/^libsql has no SQLite for .+: the search index is in memory/)]);
  await search.stop();
});
