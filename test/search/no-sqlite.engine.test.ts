import { afterAll, expect, test, vi } from 'vitest';

import { silentLog } from '../../src/log.js';
import { OwnSearch } from '../../src/server/search.js';
import { createStreamsClient } from '../../src/stream/source/dynamodb.js';
import { until } from '../live/support.js';
import { engine, testDatabase } from '../support/test-database.js';

const db = await testDatabase('readable', { stream: true });
const streams = createStreamsClient(engine());
afterAll(() => {
  vi.unstubAllEnvs();
  streams.destroy();
});

test('where SQLite does not run, search says so and what to do, and a server works without it', async () => {
  // libsql then looks for a binary that it has been compiled to, and finds none.
  vi.stubEnv('LIBSQL_JS_DEV', '1');
  const search = new OwnSearch(
    { searchBytes: 2 ** 26, dataDir: '/dev/null/nowhere' },
    { database: db, streams },
    silentLog,
  );
  search.start();
  await until(() => search.status.state === 'failed');
  expect(() => search.open()).toThrow(
    /^search has failed: search needs SQLite, and libsql has none for .+: set CELLPORT_OPENSEARCH_URL, or CELLPORT_SEARCH_MB=0$/,
  );
  await search.stop();
});
