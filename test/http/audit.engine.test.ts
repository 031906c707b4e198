import { serverAudits, type AuditResult } from 'graphql-http';
import { expect, test } from 'vitest';

import { newDatabase } from '../support/test-database.js';
import { testServer } from './live-server.js';

const server = await testServer(newDatabase());

/** Queries by GET require a header that pages of other sites cannot send; these audits do not send it. */
const NEEDS_HEADER = ['5A70', 'D6D5', '6A70'];
/** Apollo Server answers 400 where 200 is recommended for clients that accept only application/json. */
const STATUS_400 = ['572B', 'FDE2', '7B9B'];

test('the audits of GraphQL over HTTP find no errors, and only the intended warnings and notices', async () => {
  const results: AuditResult[] = [];
  // One by one: a busy server refuses some of sixty requests at once.
  for (const audit of serverAudits({ url: `${server.url}/graphql`, fetchFn: fetch })) results.push(await audit.fn());
  const of = (status: string) => results.filter((result) => result.status === status).map(({ id }) => id);
  expect(results.length).toBeGreaterThan(55);
  expect(of('error')).toEqual([]);
  expect(of('warn').filter((id) => !STATUS_400.includes(id))).toEqual([]);
  expect(of('notice').filter((id) => !NEEDS_HEADER.includes(id))).toEqual([]);
});
