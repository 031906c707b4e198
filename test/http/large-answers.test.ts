import { afterAll, beforeAll, expect, test, vi } from 'vitest';

import { DEFAULT_LIMITS } from '../../src/model/limits.js';
import { makeCollection, type Made } from '../map/fixture.js';
import { memoryDatabase } from '../support/memory-store.js';
import { testPages } from '../support/page-services.js';
import { startServer, type LiveServer } from './live-server.js';

const db = memoryDatabase();
const servers: LiveServer[] = [];
let url = '';
let small = '';

beforeAll(async () => {
  const markers = Array.from({ length: 10_000 }, (_, n): Made => ({
    key: `m${n}`,
    position: { lng: (n % 100) / 1_000, lat: Math.floor(n / 100) / 1_000 },
    category: 'c',
    properties: { text: `${n} ${'&<text> '.repeat(20)}` },
  }));
  await makeCollection(db, { key: 'parks', mapProperties: ['text'] }, markers);
  const start = async (maxAnswerBytes: number) => {
    const server = await startServer(db, {
      ...testPages({ trusted: true }),
      limits: { maxAnswerBytes, deadlineMs: 60_000 },
    });
    servers.push(server);
    return server.url;
  };
  url = await start(DEFAULT_LIMITS.maxAnswerBytes);
  small = await start(100_000);
});
afterAll(() => Promise.all(servers.map((server) => server.close())));

test('the largest page of items for people is written in steps', async () => {
  const turns = vi.spyOn(db.scheduler, 'takeTurn');
  const turnsOf = async (f: string) => {
    turns.mockClear();
    await (await fetch(`${url}/ogc/collections/parks/items?limit=10000&f=${f}`)).arrayBuffer();
    return turns.mock.calls.length;
  };
  await turnsOf('json');
  expect(await turnsOf('html')).toBeGreaterThan(50);
});

test.each([
  '/ogc/collections/parks/items?limit=10000',
  '/ogc/collections/parks/items?limit=10000&f=html',
  '/maps/parks?bbox=-1,-1,1,1&zoom=22&limit=5000',
  '/maps/parks?bbox=0,0,0.1,0.04&zoom=14&limit=5000',
])('an answer is not larger than those of GraphQL may be: %s', async (path) => {
  const answer = await fetch(small + path);
  expect([answer.status, await answer.json()]).toEqual([
    400,
    {
      errors: [
        {
          message: expect.stringContaining('size of the answer is more than 100000 bytes') as string,
          extensions: expect.objectContaining({ code: 'LIMIT_EXCEEDED' }) as object,
        },
      ],
    },
  ]);
});
