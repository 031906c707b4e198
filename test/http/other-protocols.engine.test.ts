import { once } from 'node:events';
import { connect } from 'node:net';
import { expect, test, vi } from 'vitest';

import { memoryDatabase } from '../support/memory-store.js';
import { testServer } from './live-server.js';

const server = await testServer(memoryDatabase());

/** What Java's HttpClient and `curl --http2` send by default. */
const OFFER = [
  'Connection: Upgrade, HTTP2-Settings',
  'Upgrade: h2c',
  'HTTP2-Settings: AAEAAEAAAAIAAAABAAMAAABkAAQBAAAA',
];

test('a client that offers HTTP/2 is answered in HTTP/1.1, on one connection', async () => {
  const warned = vi.spyOn(process, 'emitWarning');
  const { hostname, port } = new URL(server.url);
  const socket = connect(Number(port), hostname);
  let received = '';
  socket.on('data', (data) => (received += String(data)));
  await once(socket, 'connect');
  /** Sends a request with its body in parts; resolves once `expected` has arrived. */
  async function ask(line: string, headers: readonly string[], parts: readonly string[], expected: string) {
    received = '';
    socket.write(`${[line, ...OFFER, ...headers, `Host: ${hostname}:${port}`].join('\r\n')}\r\n\r\n`);
    for (const part of parts) {
      await new Promise<void>((resolve) => setTimeout(resolve, 20));
      socket.write(part);
    }
    await expect.poll(() => received, { timeout: 30_000 }).toContain(expected);
    expect(received).toMatch(/^HTTP\/1\.1 200 /);
  }
  for (let n = 0; n < 12; n++) await ask('GET /healthz HTTP/1.1', [], [], '{"healthy":true}');
  const parts = ['{"query":"{__ty', 'pename}"}'];
  const headers = ['Content-Type: application/json', `Content-Length: ${parts.join('').length}`];
  await ask('POST /graphql HTTP/1.1', headers, parts, '"__typename":"Query"');
  await ask('POST /graphql HTTP/1.1', headers, [parts.join('')], '"__typename":"Query"');
  socket.destroy();
  expect(warned).not.toHaveBeenCalled();
});
