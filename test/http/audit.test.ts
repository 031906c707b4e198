import { serverAudits } from 'graphql-http';
import { afterAll, beforeAll, expect, test } from 'vitest';

import { newDatabase } from '../support/test-database.js';
import { type LiveServer, startServer } from './live-server.js';

let server: LiveServer;
beforeAll(async () => {
  server = await startServer(newDatabase());
});
afterAll(() => server.close());

/** Queries by GET are answered to those who send a header that no page of another site can: these audits send none. */
const FORGERY_IS_REFUSED = ['5A70', 'D6D5', '6A70'];
/** Statuses of 400 where 200 is advised to clients that take application/json alone, as Apollo Server has it. */
const STATUS_400 = ['572B', 'FDE2', '7B9B'];

test('the audits of GraphQL over HTTP find no error, and no warning or notice but those that are wanted', async () => {
  const results = await Promise.all(
    serverAudits({ url: `${server.url}/graphql`, fetchFn: fetch }).map((audit) => audit.fn()),
  );
  const of = (status: string) => results.filter((result) => result.status === status).map(({ id }) => id);
  expect(results.length).toBeGreaterThan(55);
  expect(of('error')).toEqual([]);
  expect(of('warn').filter((id) => !STATUS_400.includes(id))).toEqual([]);
  expect(of('notice').filter((id) => !FORGERY_IS_REFUSED.includes(id))).toEqual([]);
});
