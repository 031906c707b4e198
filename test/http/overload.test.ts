import { setTimeout as sleep } from 'node:timers/promises';

import { expect, test } from 'vitest';

import { interceptCalls } from '../support/faults.js';
import { newDatabase } from '../support/test-database.js';
import { startServer } from './live-server.js';

const QUERY = '{collections {nodes {key}}}';

test('an overloaded server refuses requests with 503 and Retry-After, and still answers health checks', async () => {
  const db = newDatabase();
  let goOn = () => {};
  const held = new Promise<void>((resolve) => {
    goOn = resolve;
  });
  interceptCalls(db, 'Query', async () => {
    await held;
    return { Items: [], Count: 0 };
  });
  const server = await startServer(db, { limits: { deadlineMs: 120_000 } });

  // An increasing number of requests, none of which is answered.
  const asked: ReturnType<typeof server.ask>[] = [];
  const asking = setInterval(() => asked.push(...Array.from({ length: 10 }, () => server.ask(QUERY))), 50);
  /** Repeats a request until it is refused as expected: one that is admitted is not answered before the end. */
  async function untilRefused(send: () => Promise<Response>, isExpected: (response: Response) => boolean) {
    for (;;) {
      // A connection may be closed before a large body has been sent.
      const response = await Promise.race([send().catch(() => undefined), sleep(2_000)]);
      if (response?.status === 503 && isExpected(response)) return response;
    }
  }
  const small = () => server.post(JSON.stringify({ query: QUERY }), { 'x-cellport-cost': '1' });
  const refused = await untilRefused(small, () => true);
  expect([refused.headers.get('retry-after'), await refused.json()]).toMatchObject([
    '1',
    { errors: [{ extensions: { code: 'UNAVAILABLE', retryAfterMs: 1_000 } }], extensions: { cost: { queries: 0 } } },
  ]);
  // Refused before it has been read, so the connection is closed.
  const body = JSON.stringify({ query: QUERY, variables: { text: 'x'.repeat(1_000_000) } });
  await untilRefused(
    () => server.post(body),
    ({ headers }) => headers.get('connection') === 'close',
  );
  expect((await fetch(`${server.url}/healthz`)).status).toBe(200);

  clearInterval(asking);
  goOn();
  const answers = await Promise.all(asked);
  const answered = answers.filter(({ status }) => status === 200);
  expect(answered.length).toBeGreaterThan(0);
  for (const { data } of answered) expect(data).toEqual({ collections: { nodes: [] } });
  for (const { status } of answers) expect([200, 503]).toContain(status);
  await server.close();
});
