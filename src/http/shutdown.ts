import type { IncomingMessage } from 'node:http';
import type { Socket } from 'node:net';

import type { FastifyInstance } from 'fastify';

/**
 * When the server closes, closes each connection as soon as it has no request in progress, and all of them after
 * `timeoutMs`. Node counts a connection that has never sent anything as busy; browsers open such connections in
 * advance, and each would delay the shutdown by many seconds.
 */
export function endConnectionsOnClose(server: FastifyInstance, timeoutMs: number): void {
  const idle = new Set<Socket>();
  let closing = false;
  function forget(this: Socket): void {
    idle.delete(this);
  }
  server.server.on('connection', (socket: Socket) => {
    idle.add(socket);
    // A connection may come again: see `withoutOffer`.
    socket.off('close', forget).once('close', forget);
  });
  // WebSockets are closed by their own protocol.
  server.server.on('upgrade', ({ socket }: IncomingMessage) => idle.delete(socket));
  server.server.on('request', ({ socket }, response) => {
    idle.delete(socket);
    response.once('close', () => {
      if (closing) socket.end();
      else if (!socket.destroyed) idle.add(socket);
    });
  });
  server.addHook('preClose', async () => {
    closing = true;
    for (const socket of idle) socket.destroy();
    setTimeout(() => server.server.closeAllConnections(), timeoutMs).unref();
  });
}
