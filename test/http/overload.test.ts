import { expect, test } from 'vitest';

import { interceptCalls } from '../support/faults.js';
import { newDatabase } from '../support/test-database.js';
import { startServer } from './live-server.js';

test('a server with too much work refuses more with 503 and Retry-After, and health checks are answered', async () => {
  const db = newDatabase();
  let goOn = () => {};
  const held = new Promise<void>((resolve) => {
    goOn = resolve;
  });
  interceptCalls(db, 'Query', async () => {
    await held;
    return { Items: [], Count: 0 };
  });
  const server = await startServer(db);
  const query = '{collections {nodes {key}}}';

  const asked = Array.from({ length: 40 }, () => server.ask(query));
  // Until those that wait have waited for so long that more would wait for too long.
  await new Promise((resolve) => setTimeout(resolve, 300));
  const refused = await server.post(JSON.stringify({ query }), { 'x-cellport-cost': '1' });
  expect([refused.status, refused.headers.get('retry-after'), await refused.json()]).toMatchObject([
    503,
    '1',
    { errors: [{ extensions: { code: 'UNAVAILABLE', retryAfterMs: 1_000 } }], extensions: { cost: { queries: 0 } } },
  ]);
  // Refused before it has been read: the connection is closed.
  const large = await server.post(JSON.stringify({ query, variables: { text: 'x'.repeat(1_000_000) } }));
  expect([large.status, large.headers.get('connection')]).toEqual([503, 'close']);
  expect((await fetch(`${server.url}/healthz`)).status).toBe(200);

  goOn();
  const answers = await Promise.all(asked);
  const answered = answers.filter(({ status }) => status === 200);
  // At least: a busy machine takes places away.
  expect(answered.length).toBeGreaterThanOrEqual(4);
  for (const { data } of answered) expect(data).toEqual({ collections: { nodes: [] } });
  for (const { status } of answers) expect([200, 503]).toContain(status);
  expect((await server.ask(query)).data).toEqual({ collections: { nodes: [] } });
  await server.close();
});
