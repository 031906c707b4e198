import { connect, type Socket } from 'node:net';
import { afterEach, expect, test, vi } from 'vitest';

import { createHttpServer, createServices } from '../../src/server/services.js';
import { memoryDatabase } from '../support/memory-store.js';

const CLIENTS = 50;

afterEach(() => vi.useRealTimers());

/** Connects clients at once, and counts those that the server has accepted when work that waits for arrivals goes on. */
async function acceptedBeforeWork(onConnection: () => void): Promise<number> {
  const database = memoryDatabase();
  const { http, close } = await createHttpServer(createServices(database));
  const { port } = new URL(await http.listen({ host: '127.0.0.1', port: 0 }));
  let accepted = 0;
  http.server.on('connection', () => {
    accepted += 1;
    onConnection();
  });
  vi.useFakeTimers({ toFake: ['performance'] });
  const clients: Socket[] = [];
  const before = await new Promise<number>((resolve) => {
    // All of them are in the queue of the system when this returns.
    for (let client = 0; client < CLIENTS; client += 1) clients.push(connect(Number(port), '127.0.0.1'));
    database.scheduler.afterArrivals(() => resolve(accepted));
  });
  for (const client of clients) client.destroy();
  await close();
  return before;
}

test('work waits until all who have connected are accepted', async () => {
  expect(await acceptedBeforeWork(() => undefined)).toBe(CLIENTS);
});

test('but no longer than 10 ms, however many connect', async () => {
  expect(await acceptedBeforeWork(() => vi.advanceTimersByTime(5))).toBeLessThan(CLIENTS / 2);
});
