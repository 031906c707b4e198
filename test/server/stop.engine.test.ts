import { setTimeout as sleep } from 'node:timers/promises';
import { expect, test } from 'vitest';

import { readConfig } from '../../src/config.js';
import { silentLog } from '../../src/log.js';
import { openServer } from '../../src/server/open-server.js';
import { createStreamsClient } from '../../src/stream/source/dynamodb.js';
import { interceptCalls } from '../support/faults.js';
import { postQuery } from '../support/post-query.js';
import { engine, testDatabase } from '../support/test-database.js';

const database = await testDatabase('readable', { stream: true });

test('a stopping server answers requests in progress within their full deadline, and leaves nothing behind', async () => {
  const streams = createStreamsClient(engine());
  const asked = new Promise<void>((resolve) => {
    interceptCalls(database, 'BatchGetItem', async (input, ask) => {
      resolve();
      // More than the five seconds that a request was once given.
      await sleep(6_000);
      return ask(input);
    });
  });
  const config = readConfig({}, { PORT: '0', CELLPORT_CONSUMER: 'off', CELLPORT_DRAIN_MS: '1000' });
  const server = openServer(
    config,
    { database, streams, where: '', storageFault: async () => undefined, close: async () => undefined },
    {},
    silentLog,
  );
  const url = await server.listen();
  const answer = postQuery(url, '{ collection(key: "none") { key } }');
  await asked;
  const closed = server.close();
  expect((await fetch(`${url}/readyz`)).status).toBe(503);
  expect((await fetch(`${url}/healthz`)).status).toBe(200);
  expect(await (await answer).json()).toEqual({ data: { collection: null } });
  await closed;
  await expect(fetch(`${url}/healthz`)).rejects.toThrow('fetch failed');
  streams.destroy();
});
