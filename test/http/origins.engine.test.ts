import { once } from 'node:events';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { WebSocket } from 'ws';

import { newDatabase } from '../support/test-database.js';
import { startServer, type LiveServer } from './live-server.js';

const FRIEND = 'https://maps.example.org';
const STRANGER = 'https://evil.example';

describe.each([
  { allowed: [], welcome: [], unwelcome: [FRIEND, STRANGER] },
  { allowed: ['http://localhost:5173', FRIEND], welcome: [FRIEND], unwelcome: [STRANGER, 'http://maps.example.org'] },
  { allowed: ['*'], welcome: [FRIEND, STRANGER], unwelcome: [] },
])('pages of other sites, with $allowed allowed', ({ allowed, welcome, unwelcome }) => {
  let server: LiveServer;
  beforeAll(async () => {
    server = await startServer(newDatabase(), { allowedOrigins: allowed });
  });
  afterAll(() => server.close());

  /** The origin whose pages the browser allows to read the response. */
  const readers = (response: Response) => response.headers.get('access-control-allow-origin');
  const answers = (origin: string) => [
    server.post('{"query":"{ __typename }"}', { origin }),
    fetch(`${server.url}/graphql/stream?query=subscription{none}`, { headers: { origin } }),
  ];
  const mayAsk = (origin: string) =>
    fetch(`${server.url}/graphql`, {
      method: 'OPTIONS',
      headers: {
        origin,
        'access-control-request-method': 'POST',
        'access-control-request-headers': 'content-type,x-cellport-explain',
      },
    });
  const opened = async (origin: string) => {
    const socket = new WebSocket(`${server.url.replace('http', 'ws')}/graphql`, 'graphql-transport-ws', { origin });
    const isOpen = await once(socket, 'open').then(
      () => true,
      () => false,
    );
    socket.terminate();
    return isOpen;
  };

  test.each(welcome.map((origin) => [origin]))('may send requests and subscribe from %s', async (origin) => {
    const seenBy = allowed.includes('*') ? '*' : origin;
    const preflight = await mayAsk(origin);
    expect([preflight.status, readers(preflight)]).toEqual([204, seenBy]);
    expect(preflight.headers.get('access-control-allow-headers')).toBe('content-type,x-cellport-explain');
    expect(preflight.headers.get('access-control-allow-methods')).toBe('GET, POST');
    expect(preflight.headers.get('access-control-allow-credentials')).toBeNull();
    for (const answer of answers(origin)) {
      const response = await answer;
      expect([response.status, readers(response)]).toEqual([200, seenBy]);
      expect(response.headers.get('vary')).toBe(seenBy === '*' ? null : 'Origin');
      await response.text();
    }
    expect(await opened(origin)).toBe(true);
  });

  test.each(unwelcome.map((origin) => [origin]))('may not send requests or subscribe from %s', async (origin) => {
    expect(readers(await mayAsk(origin))).toBeNull();
    for (const answer of answers(origin)) {
      const response = await answer;
      expect(readers(response)).toBeNull();
      await response.text();
    }
    expect(await opened(origin)).toBe(false);
  });

  test('may be blocked, but the server’s own page never is', async () => {
    expect(await opened(server.url)).toBe(true);
  });
});
