import { setMaxListeners } from 'node:events';
import { STATUS_CODES, type IncomingMessage } from 'node:http';
import type { Duplex } from 'node:stream';
import type { FastifyInstance } from 'fastify';
import { CloseCode, handleProtocols, type Server } from 'graphql-ws';
import pLimit from 'p-limit';
import { WebSocketServer, type WebSocket } from 'ws';

import { FLOOD, GONE, LATER_S, OVERLOADED, RETRY_AFTER_S, SMALL_BYTES, TOO_MANY } from './admit.js';
import { denseJson } from './json-limit.js';
import { isForeignPage } from './origins.js';
import {
  createProtocol,
  SocketAnswers,
  TRY_AGAIN_LATER,
  type Connection,
  type SubscriptionsOptions,
} from './socket-protocol.js';

/**
 * Pings keep proxies from closing an idle connection. A client of a WebSocket that has not answered one when the next is
 * due is disconnected.
 */
export const PING_EVERY_MS = 12_000;
const CLOSES_WITHIN_MS = 1_000;
const GOING_AWAY = 1001;
/** Maximum number of sockets that have not yet been acknowledged, which clients must ask for within 3 s. */
const MOST_GREETING = 256;
/** The maximum that a close frame holds. */
const MAX_REASON_BYTES = 123;
const MOST_ANSWERING = 6;
/** A client that keeps sending without reading is disconnected when this much output is buffered for it. */
const MAX_UNREAD_BYTES = 16 * 1024 * 1024;

function refuse(socket: Duplex, status: number, onRefused: SubscriptionsOptions['onRefused']): void {
  onRefused(status);
  const seconds = status === 503 ? RETRY_AFTER_S : status === 429 ? LATER_S : undefined;
  const later = seconds === undefined ? '' : `retry-after: ${seconds}\r\n`;
  const head = `HTTP/1.1 ${status} ${STATUS_CODES[status] ?? ''}\r\nconnection: close\r\n${later}`;
  socket.end(`${head}content-length: 0\r\n\r\n`, () => socket.destroy());
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

/** Pings a client, and disconnects it if it has not answered the ping before. */
function pinged(socket: WebSocket): NodeJS.Timeout {
  let alive = true;
  socket.on('pong', () => {
    alive = true;
  });
  return setInterval(() => {
    if (!alive) {
      socket.terminate();
      return;
    }
    alive = false;
    socket.ping();
  }, PING_EVERY_MS);
}

/** Some reasons repeat the client's input. A character that is cut in two takes up to three more bytes. */
const shortReason = (reason = '') =>
  Buffer.from(reason)
    .subarray(0, MAX_REASON_BYTES - 3)
    .toString();

/** The WebSockets of a server, from their request to upgrade until they are closed. */
class Sockets {
  readonly #options: SubscriptionsOptions;
  readonly #answers: SocketAnswers;
  readonly #protocol: Server<Connection>;
  readonly #server: WebSocketServer;
  #closing = false;
  #open = 0;
  /** Those that are not acknowledged yet. */
  #greeting = 0;

  constructor(options: SubscriptionsOptions) {
    this.#options = options;
    this.#answers = new SocketAnswers(options.graphql);
    this.#protocol = createProtocol(options, this.#answers);
    this.#server = new WebSocketServer({
      noServer: true,
      maxPayload: options.limits.maxBodyBytes,
      perMessageDeflate: false,
      // One message of a socket in each round of the event loop, however many have arrived.
      allowSynchronousEvents: false,
      handleProtocols,
    });
  }

  /** Opens or refuses a socket. */
  upgrade(request: IncomingMessage, socket: Duplex, head: Buffer): void {
    const { limits, allowedOrigins, checkHost, onRefused } = this.#options;
    socket.on('error', () => socket.destroy());
    const [path] = (request.url ?? '').split('?');
    if (path !== '/graphql') refuse(socket, 404, onRefused);
    else if (checkHost(request.headers.host)) refuse(socket, 403, onRefused);
    // Browsers open WebSockets to any host.
    else if (isForeignPage(request.headers, allowedOrigins)) refuse(socket, 403, onRefused);
    else if (this.#closing || this.#open >= limits.subscriptions || this.#greeting >= MOST_GREETING)
      refuse(socket, 503, onRefused);
    else void this.#greet(request, socket, head);
  }

  /** Closes all sockets; resolves once they are closed. */
  async close(): Promise<void> {
    this.#closing = true;
    const open = [...this.#server.clients];
    const closed = open.map((socket) => new Promise<void>((resolve) => socket.once('close', () => resolve())));
    for (const socket of open) socket.close(GOING_AWAY, 'the server is shutting down');
    const late = setTimeout(() => open.forEach((socket) => socket.terminate()), CLOSES_WITHIN_MS);
    await Promise.all(closed);
    clearTimeout(late);
  }

  async #greet(request: IncomingMessage, socket: Duplex, head: Buffer): Promise<void> {
    const { admission, clients, log, onRefused } = this.#options;
    const client = clients.opens(request, socket);
    const address = clients.addressOf(request);
    const refusal = client.used > 1 ? TOO_MANY : OVERLOADED;
    const gone = new AbortController();
    // All subscriptions of the socket listen; above ten listeners Node warns of a leak.
    setMaxListeners(0, gone.signal);
    this.#open += 1;
    this.#greeting += 1;
    let greeted = () => {
      this.#greeting -= 1;
      client.greeted();
      greeted = () => undefined;
    };
    socket.once('end', () => gone.abort(GONE));
    socket.once('close', () => {
      this.#open -= 1;
      greeted();
      gone.abort(GONE);
    });
    const place = client.used > 1 ? undefined : await admission.read.enter(gone.signal);
    if (client.used > FLOOD) refuse(socket, 429, onRefused);
    else if (this.#closing || gone.signal.aborted) refuse(socket, 503, onRefused);
    else {
      this.#server.handleUpgrade(request, socket, head, (opened) => {
        if (place !== undefined) {
          this.#serve(opened, { headers: request.headers, gone: gone.signal, greeted: () => greeted(), address });
          return;
        }
        // Clients of graphql-ws do not connect again after a status of 503.
        log.warn({}, refusal.message);
        onRefused(refusal === TOO_MANY ? 429 : 503);
        opened.on('error', () => opened.terminate());
        opened.close(TRY_AGAIN_LATER, refusal.message);
        setTimeout(() => opened.terminate(), CLOSES_WITHIN_MS).unref();
      });
    }
    place?.leave();
  }

  /** Runs the protocol on one socket until it closes. */
  #serve(socket: WebSocket, from: Pick<Connection, 'headers' | 'gone' | 'greeted' | 'address'>): void {
    const { admission, limits, log } = this.#options;
    const pinging = pinged(socket);
    // Any error closes the connection, so nothing else needs to be done.
    socket.on('error', (err) => log.debug({ err }, 'A WebSocket failed'));
    // Resolves when the message has left this process, so that no more is produced for a client that does not read.
    const send = (data: string) =>
      new Promise<void>((resolve, reject) => {
        const message = this.#answers.spliced(data);
        if (socket.readyState !== socket.OPEN) resolve();
        else socket.send(message, (error) => (error ? reject(error) : resolve()));
      });
    const close = (code: number, reason?: string) => socket.close(code, shortReason(reason));
    const isReading = () => {
      // Nothing is done for one that is closing: its client may go on sending for half a minute.
      if (socket.readyState !== socket.OPEN) return false;
      if (socket.bufferedAmount <= MAX_UNREAD_BYTES) return true;
      socket.terminate();
      return false;
    };
    const [starting, answering] = [pLimit(1), pLimit(MOST_ANSWERING)];
    const connection = { ...from, close, isReading, bytes: 0, starting, answering };
    const closed = this.#protocol.opened(
      {
        protocol: socket.protocol,
        send,
        // The default answer would repeat the ping's payload, however large or deep.
        onPing: () => send('{"type":"pong"}'),
        close,
        onMessage: (receive) => {
          socket.on('message', (data: Buffer) => {
            if (!isReading()) return;
            if (data.length > SMALL_BYTES && admission.read.isFull()) {
              close(TRY_AGAIN_LATER, OVERLOADED.message);
              return;
            }
            const message = data.toString();
            const refused = denseJson(message, limits);
            if (refused !== undefined) {
              socket.close(CloseCode.BadRequest, refused.message);
              return;
            }
            connection.bytes = data.length;
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
      connection,
    );
    socket.once('close', (code, reason) => {
      clearInterval(pinging);
      closed(code, String(reason)).catch((err: unknown) => log.error({ err }, 'A WebSocket did not close cleanly'));
    });
  }
}

/** Serves operations over WebSockets at `/graphql`, in the graphql-ws protocol. */
export function addWebsockets(server: FastifyInstance, options: SubscriptionsOptions): void {
  const sockets = new Sockets(options);
  server.server.on('upgrade', (request: IncomingMessage, socket: Duplex, head: Buffer) => {
    if (request.headers.upgrade?.toLowerCase() === 'websocket') sockets.upgrade(request, socket, head);
    else server.server.emit('connection', withoutOffer(request, socket, head));
  });
  server.addHook('preClose', async () => sockets.close());
}
