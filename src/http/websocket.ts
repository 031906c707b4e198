import { type IncomingMessage, STATUS_CODES } from 'node:http';
import type { Duplex } from 'node:stream';

import type { FastifyInstance } from 'fastify';
import {
  type ExecutionArgs,
  type FormattedExecutionResult,
  GraphQLError,
  type GraphQLFormattedError,
  GraphQLSchema,
  parse,
} from 'graphql';
import { CloseCode, type Server, type ServerOptions, handleProtocols, makeServer } from 'graphql-ws';
import { type WebSocket, WebSocketServer } from 'ws';

import { limitExceeded } from '../errors.js';
import { formatted } from '../graphql/error-format.js';
import type { Limits } from '../model/limits.js';
import type { GraphqlServer } from '../graphql/server.js';
import type { Subscribe } from '../graphql/subscriptions.js';
import type { Log } from '../log.js';

export interface SubscriptionsOptions {
  readonly subscribe: Subscribe;
  readonly recentFrom: GraphqlServer['recentFrom'];
  readonly limits: Limits;
  /** See `HttpOptions`. */
  readonly allowedOrigins: readonly string[];
  readonly log: Log;
}

/** A client that does not answer a ping until the next one is gone, or takes nothing of what it is sent. */
const PING_EVERY_MS = 12_000;
const CLOSES_WITHIN_MS = 1_000;
const GOING_AWAY = 1001;
/** What may wait for a client that goes on sending and does not read its answers. */
const MOST_UNREAD_BYTES = 16 * 1024 * 1024;

/** An error that is told as it was formatted. */
class ToldError extends GraphQLError {
  readonly #told: GraphQLFormattedError;

  constructor(told: GraphQLFormattedError) {
    super(told.message);
    this.#told = told;
  }

  override toJSON(): GraphQLFormattedError {
    return this.#told;
  }
}

// graphql-ws looks at what it believes to run; documents are checked and run elsewhere.
const STAND_IN = { schema: new GraphQLSchema({}), document: parse('subscription { any }') };

/** The protocol of graphql-ws around subscriptions that are begun by `subscribe`. */
function createProtocol({ subscribe, recentFrom, limits }: SubscriptionsOptions): Server {
  const options: ServerOptions = {
    // The acknowledgement says that changes are heard, and from when on they can be told: by this server's clock, which a
    // client cannot know.
    onConnect: async () => {
      const from = await recentFrom();
      return from === undefined ? true : { changesFrom: new Date(from).toISOString() };
    },
    onSubscribe: async ({ subscriptions }, _id, { query, operationName, variables }) => {
      const count = Object.keys(subscriptions).length;
      const most = limits.subscriptionsPerConnection;
      if (count > most) {
        return [
          new ToldError(formatted(limitExceeded('subscriptions on this connection', count, most, 'open another'))),
        ];
      }
      const begun = await subscribe({ query, operationName, variables });
      if ('errors' in begun) return begun.errors.map((error) => new ToldError(error));
      return { ...STAND_IN, contextValue: begun } satisfies ExecutionArgs;
    },
    subscribe: ({ contextValue }) => contextValue as AsyncIterableIterator<never>,
    // As it is: its errors are in their form already.
    onNext: (_context, _id, _payload, _args, answer) => answer as FormattedExecutionResult,
  };
  return makeServer(options);
}

/** A page of another site can open a WebSocket without asking; what it cannot do is to hide where it comes from. */
function isRefusedPage({ headers: { origin, host } }: IncomingMessage, allowed: readonly string[]): boolean {
  if (origin === undefined || allowed.includes('*') || allowed.includes(origin)) return false;
  return !URL.canParse(origin) || new URL(origin).host !== host;
}

function refuse(socket: Duplex, status: number): void {
  socket.end(`HTTP/1.1 ${status} ${STATUS_CODES[status] ?? ''}\r\nconnection: close\r\ncontent-length: 0\r\n\r\n`);
}

/** Speaks the protocol on one connection until it ends. */
function converse(protocol: Server, socket: WebSocket, log: Log): void {
  let answered = true;
  const pinging = setInterval(() => {
    if (!answered) {
      socket.terminate();
      return;
    }
    answered = false;
    socket.ping();
  }, PING_EVERY_MS);
  socket.on('pong', () => {
    answered = true;
  });
  // Whatever is wrong with a connection ends it, and that is all there is to do.
  socket.on('error', (err) => log.debug({ err }, 'A WebSocket has failed'));
  const closed = protocol.opened(
    {
      protocol: socket.protocol,
      // Resolves when it has left this process, so that nothing more is made for a client that does not take it.
      send: (data) =>
        new Promise((resolve, reject) => {
          if (socket.readyState !== socket.OPEN) resolve();
          else socket.send(data, (error) => (error ? reject(error) : resolve()));
        }),
      close: (code, reason) => socket.close(code, reason),
      onMessage: (take) => {
        socket.on('message', (data: Buffer) => {
          if (socket.bufferedAmount > MOST_UNREAD_BYTES) {
            socket.terminate();
            return;
          }
          take(data.toString()).catch((err: unknown) => {
            if (socket.readyState !== socket.OPEN) return;
            log.error({ err }, 'A message on a WebSocket met an unexpected error');
            socket.close(CloseCode.InternalServerError, 'Internal server error');
          });
        });
      },
    },
    undefined,
  );
  socket.once('close', (code, reason) => {
    clearInterval(pinging);
    closed(code, String(reason)).catch((err: unknown) => log.error({ err }, 'A WebSocket did not close in order'));
  });
}

/** Subscriptions over WebSockets at `/graphql`, in the protocol of graphql-ws. */
export function addWebsockets(server: FastifyInstance, options: SubscriptionsOptions): void {
  const { limits, allowedOrigins, log } = options;
  const protocol = createProtocol(options);
  const sockets = new WebSocketServer({
    noServer: true,
    maxPayload: limits.maxBodyBytes,
    perMessageDeflate: false,
    handleProtocols,
  });
  let closing = false;
  server.server.on('upgrade', (request: IncomingMessage, socket: Duplex, head: Buffer) => {
    socket.on('error', () => socket.destroy());
    const [path] = (request.url ?? '').split('?');
    if (path !== '/graphql') refuse(socket, 404);
    else if (isRefusedPage(request, allowedOrigins)) refuse(socket, 403);
    else if (closing || sockets.clients.size >= limits.subscriptions) refuse(socket, 503);
    else sockets.handleUpgrade(request, socket, head, (opened) => converse(protocol, opened, log));
  });
  server.addHook('preClose', async () => {
    closing = true;
    const open = [...sockets.clients];
    const gone = open.map((socket) => new Promise<void>((resolve) => socket.once('close', () => resolve())));
    for (const socket of open) socket.close(GOING_AWAY, 'the server is being stopped');
    const late = setTimeout(() => open.forEach((socket) => socket.terminate()), CLOSES_WITHIN_MS);
    await Promise.all(gone);
    clearTimeout(late);
  });
}
