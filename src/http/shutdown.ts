import type { IncomingMessage } from 'node:http';
import type { Socket } from 'node:net';

import type { FastifyInstance } from 'fastify';

/**
 * Makes closing the server end each connection as soon as no request is under way on it, and all of them after
 * `patienceMs`. Node's own way counts a connection that never sent anything as busy, and browsers open such ahead of need:
 * each would hold up the end of the process for many seconds.
 */
export function endConnectionsOnClose(server: FastifyInstance, patienceMs: number): void {
  const quiet = new Set<Socket>();
  let closing = false;
  server.server.on('connection', (socket: Socket) => {
    quiet.add(socket);
    socket.once('close', () => quiet.delete(socket));
  });
  // What has become a WebSocket is closed by its own rules.
  server.server.on('upgrade', ({ socket }: IncomingMessage) => quiet.delete(socket));
  server.server.on('request', ({ socket }, response) => {
    quiet.delete(socket);
    response.once('close', () => {
      if (closing) socket.end();
      else if (!socket.destroyed) quiet.add(socket);
    });
  });
  server.addHook('preClose', async () => {
    closing = true;
    for (const socket of quiet) socket.destroy();
    setTimeout(() => server.server.closeAllConnections(), patienceMs).unref();
  });
}
