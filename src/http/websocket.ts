import { type IncomingMessage, STATUS_CODES } from 'node:http';
import type { Duplex } from 'node:stream';

import type { FastifyInstance } from 'fastify';
import { type FormattedExecutionResult, GraphQLError, type GraphQLFormattedError } from 'graphql';
import { CloseCode, type Server, handleProtocols, makeServer } from 'graphql-ws';
import { type WebSocket, WebSocketServer } from 'ws';

import { systemClock } from '../clock.js';
import { limitExceeded } from '../errors.js';
import { formatted } from '../graphql/error-format.js';
import type { Limits } from '../model/limits.js';
import type { OperationResult } from '../graphql/operation-result.js';
import type { GraphqlServer } from '../graphql/server.js';
import type { Subscribe } from '../graphql/subscriptions.js';
import { SocketAnswers } from './socket-answers.js';
import type { Log } from '../log.js';
import type { CheckHost } from './hosts.js';
import { denseJson } from './json-limit.js';
import { isForeignPage } from './origins.js';

export interface SubscriptionsOptions {
  readonly subscribe: Subscribe;
  readonly recentFrom: GraphqlServer['recentFrom'];
  readonly checkHost: CheckHost;
  readonly limits: Limits;
  /** See `HttpOptions`. */
  readonly allowedOrigins: readonly string[];
  readonly log: Log;
}

/**
 * Pings keep proxies from closing an idle connection. A client of a WebSocket that has not answered one when the next is
 * due is disconnected.
 */
export const PING_EVERY_MS = 12_000;
const CLOSES_WITHIN_MS = 1_000;
const GOING_AWAY = 1001;
/** The maximum that a close frame holds. */
const MAX_REASON_BYTES = 123;
/** A client that keeps sending without reading is disconnected when this much output is buffered for it. */
const MAX_UNREAD_BYTES = 16 * 1024 * 1024;

/** An error that is sent as formatted. */
class FormattedError extends GraphQLError {
  readonly #formatted: GraphQLFormattedError;

  constructor(error: GraphQLFormattedError) {
    super(error.message);
    this.#formatted = error;
  }

  override toJSON(): GraphQLFormattedError {
    return this.#formatted;
  }
}

/** Creates the graphql-ws protocol on top of `subscribe`. */
function createProtocol({ subscribe, recentFrom, limits }: SubscriptionsOptions, answers: SocketAnswers): Server {
  const max = limits.subscriptionsPerConnection;
  return makeServer({
    // By this server's clock, which the client does not know.
    onConnect: async (context) => {
      // Megabytes that graphql-ws would keep for each connection, and nothing reads.
      Object.assign(context, { connectionParams: undefined });
      const from = await recentFrom();
      if (from === undefined) return true;
      return { changesFrom: new Date(from).toISOString(), now: new Date(systemClock.wall()).toISOString() };
    },
    onSubscribe: async ({ subscriptions }, _id, request) => {
      const count = Object.keys(subscriptions).length;
      const started =
        count > max
          ? {
              errors: [
                formatted(limitExceeded('number of subscriptions on this connection', count, max, 'open another')),
              ],
            }
          : await subscribe(request);
      if ('errors' in started) return started.errors.map((error) => new FormattedError(error));
      return { ...started.args, contextValue: started.answers };
    },
    subscribe: ({ contextValue }) => contextValue as AsyncIterableIterator<never>,
    // Errors in answers are already formatted.
    onNext: async (_context, _id, _payload, _args, answer) =>
      (await answers.mark(answer as OperationResult)) as FormattedExecutionResult,
  });
}

function refuse(socket: Duplex, status: number): void {
  socket.end(`HTTP/1.1 ${status} ${STATUS_CODES[status] ?? ''}\r\nconnection: close\r\ncontent-length: 0\r\n\r\n`);
}

/** Headers that offer another protocol. */
const OFFER = /^(connection|upgrade|http2-settings)$/i;

/**
 * Lets Node parse a request again without its offer of another protocol. Java's HttpClient and `curl --http2` offer
 * HTTP/2 in each request; a server may ignore that, but Node leaves every such request to the WebSocket server.
 */
function withoutOffer({ method, url, rawHeaders }: IncomingMessage, socket: Duplex, head: Buffer): Duplex {
  const lines = rawHeaders.flatMap((name, at) =>
    at % 2 === 0 && !OFFER.test(name) ? [`${name}: ${rawHeaders[at + 1]}`] : [],
  );
  const text = [`${method} ${url} HTTP/1.1`, ...lines, '', ''].join('\r\n');
  socket.unshift(Buffer.concat([Buffer.from(text, 'latin1'), head]));
  return socket;
}

/** Runs the protocol on one connection until it closes. */
function serveConnection(
  protocol: Server,
  answers: SocketAnswers,
  socket: WebSocket,
  { limits, log }: SubscriptionsOptions,
): void {
  let alive = true;
  const pinging = setInterval(() => {
    if (!alive) {
      socket.terminate();
      return;
    }
    alive = false;
    socket.ping();
  }, PING_EVERY_MS);
  socket.on('pong', () => {
    alive = true;
  });
  // Any error closes the connection, so nothing else needs to be done.
  socket.on('error', (err) => log.debug({ err }, 'A WebSocket failed'));
  // Resolves when the message has left this process, so that no more is produced for a client that does not read.
  const send = (data: string) =>
    new Promise<void>((resolve, reject) => {
      const message = answers.spliced(data);
      if (socket.readyState !== socket.OPEN) resolve();
      else socket.send(message, (error) => (error ? reject(error) : resolve()));
    });
  const closed = protocol.opened(
    {
      protocol: socket.protocol,
      send,
      // The default answer would repeat the ping's payload, however large or deep.
      onPing: () => send('{"type":"pong"}'),
      // Some reasons repeat the client's input. A character that is cut in two takes up to three more bytes.
      close: (code, reason = '') =>
        socket.close(
          code,
          Buffer.from(reason)
            .subarray(0, MAX_REASON_BYTES - 3)
            .toString(),
        ),
      onMessage: (receive) => {
        socket.on('message', (data: Buffer) => {
          if (socket.bufferedAmount > MAX_UNREAD_BYTES) {
            socket.terminate();
            return;
          }
          const message = data.toString();
          const refused = denseJson(message, limits);
          if (refused !== undefined) {
            socket.close(CloseCode.BadRequest, refused.message);
            return;
          }
          receive(message).catch((err: unknown) => {
            if (socket.readyState !== socket.OPEN) return;
            // The protocol throws for messages that only servers may send.
            if (err instanceof Error && err.message.startsWith('Unexpected message of type')) {
              socket.close(CloseCode.BadRequest, 'Invalid message received');
              return;
            }
            log.error({ err }, 'A message on a WebSocket failed with an unexpected error');
            socket.close(CloseCode.InternalServerError, 'Internal server error');
          });
        });
      },
    },
    undefined,
  );
  socket.once('close', (code, reason) => {
    clearInterval(pinging);
    closed(code, String(reason)).catch((err: unknown) => log.error({ err }, 'A WebSocket did not close cleanly'));
  });
}

/** Serves subscriptions over WebSockets at `/graphql`, in the graphql-ws protocol. */
export function addWebsockets(server: FastifyInstance, options: SubscriptionsOptions): void {
  const { limits, allowedOrigins, checkHost } = options;
  const answers = new SocketAnswers(limits.maxAnswerBytes);
  const protocol = createProtocol(options, answers);
  const sockets = new WebSocketServer({
    noServer: true,
    maxPayload: limits.maxBodyBytes,
    perMessageDeflate: false,
    handleProtocols,
  });
  let closing = false;
  server.server.on('upgrade', (request: IncomingMessage, socket: Duplex, head: Buffer) => {
    if (request.headers.upgrade?.toLowerCase() !== 'websocket') {
      server.server.emit('connection', withoutOffer(request, socket, head));
      return;
    }
    socket.on('error', () => socket.destroy());
    const [path] = (request.url ?? '').split('?');
    if (path !== '/graphql') refuse(socket, 404);
    else if (checkHost(request.headers.host)) refuse(socket, 403);
    // Browsers open WebSockets to any host.
    else if (isForeignPage(request.headers, allowedOrigins)) refuse(socket, 403);
    else if (closing || sockets.clients.size >= limits.subscriptions) refuse(socket, 503);
    else sockets.handleUpgrade(request, socket, head, (opened) => serveConnection(protocol, answers, opened, options));
  });
  server.addHook('preClose', async () => {
    closing = true;
    const open = [...sockets.clients];
    const closed = open.map((socket) => new Promise<void>((resolve) => socket.once('close', () => resolve())));
    for (const socket of open) socket.close(GOING_AWAY, 'the server is shutting down');
    const late = setTimeout(() => open.forEach((socket) => socket.terminate()), CLOSES_WITHIN_MS);
    await Promise.all(closed);
    clearTimeout(late);
  });
}
