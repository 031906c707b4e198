import { fastify } from 'fastify';
import { expect, test } from 'vitest';

import { addHealth, type Readiness } from '../../src/http/health.js';

const readiness: Readiness = {
  ready: true,
  reasons: [],
  clock: { aheadMs: 0, warning: null },
  stream: {
    owner: true,
    behindMs: 5,
    countsExact: false,
    gap: { since: '2026-11-29T00:00:00.000Z', reason: 'a count in the block "u3" of private is below zero' },
    deadLetters: 0,
  },
  load: null,
  search: null,
  sources: [{ collection: 'private', table: 'private', owner: true, behindMs: 1, countsExact: true, failure: null }],
};

test('/readyz names collections to admins alone', async () => {
  const server = fastify();
  addHealth(
    server,
    async () => readiness,
    async ({ authorization }) => authorization === 'admin',
  );
  const asked = async (headers: Record<string, string>) =>
    (await server.inject({ url: '/readyz', headers })).json() as Readiness;
  expect(await asked({ authorization: 'admin' })).toEqual(readiness);
  const told = await asked({});
  expect(told).toMatchObject({ ready: true, sources: [], stream: { behindMs: 5, countsExact: false } });
  expect(told.stream?.gap?.since).toBe('2026-11-29T00:00:00.000Z');
  expect(JSON.stringify(told)).not.toContain('private');
});
