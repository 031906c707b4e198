import type { EventEmitter } from 'node:events';
import type { IncomingHttpHeaders, IncomingMessage } from 'node:http';
import type { Socket } from 'node:net';
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { LRUCache } from 'lru-cache';

import { CellportError } from '../errors.js';
import { formatted } from '../graphql/error-format.js';
import { withExtensions } from '../graphql/extensions.js';
import type { Log } from '../log.js';
import { isLoopback } from '../loopback.js';
import type { Limits } from '../model/limits.js';
import { networkOf } from '../model/network.js';
import { FEW, type Admission } from '../scheduling/admission.js';
import type { Addresses } from './addresses.js';
import { keepBodies } from './json-limit.js';

export const LATER_S = 5;
/** The error for clients with too many connections. */
export const TOO_MANY = new CellportError('THROTTLED', 'too many connections from your address; retry later', {
  retryAfterMs: 1_000 * LATER_S,
});
/** Clients that use more than this many times their limit are refused as cheaply as possible. */
export const FLOOD = 2;
const MINUTE_MS = 60_000;
/** Beyond these, the networks that were seen least lately are forgotten; some 4 MB. */
const MOST_NETWORKS = 20_000;

type Request = Pick<IncomingMessage, 'socket' | 'headers'>;

/** Counts one more of a network, or so many; returns their number, and the function that removes them, to be called once. */
function add(open: Map<string, number>, network: string, more = 1): readonly [count: number, remove: () => void] {
  const change = (by: number) => {
    const count = (open.get(network) ?? 0) + by;
    if (count === 0) open.delete(network);
    else open.set(network, count);
    return count;
  };
  return [change(more), () => void change(-more)];
}

export type ClientLimits = ReturnType<typeof createClientLimits>;

/**
 * Counts what each client uses of its limits: 1 is all of it. A client is a network, see `networkOf`. The machine itself has
 * no limits, and neither has a trusted proxy: of its clients, each request in progress and each WebSocket counts as a
 * connection.
 */
export function createClientLimits(addresses: Addresses, limits: Limits, log: Log) {
  const connections = new Map<string, number>();
  const greeting = new Map<string, number>();
  /** The number of WebSockets in the minute after the first. */
  const opened = new LRUCache<string, { count: number }>({ max: MOST_NETWORKS, ttl: MINUTE_MS });
  const useOf = new WeakMap<Socket, number>();
  const peerOf = ({ socket }: Request) => addresses.of({ socket, headers: {} });

  function warned(address: string, use: number): number {
    const message = 'A client has too many connections; if its address is that of a proxy, set CELLPORT_TRUST_PROXY';
    if (use > 1) log.warn({ address }, message);
    return use;
  }

  function connect(address: string, open: EventEmitter): number {
    const [count, remove] = add(connections, networkOf(address));
    open.once('close', remove);
    return warned(address, count / limits.connectionsPerAddress);
  }

  /** What the client of a request uses until `busy` closes; 0 if it has no limits. */
  function use(request: Request, busy: EventEmitter): number {
    const address = addresses.of(request);
    return address === peerOf(request) ? (useOf.get(request.socket) ?? 0) : connect(address, busy);
  }

  return {
    use,
    addressOf: (request: Request) => addresses.of(request),
    /** Counts a connection until it closes, and closes it if its client floods the server. */
    connected(socket: Socket): void {
      // A connection may come again: see `withoutOffer`.
      if (useOf.has(socket)) return;
      const address = peerOf({ socket, headers: {} });
      const isExempt = isLoopback(address) || addresses.isProxy(address);
      const used = isExempt ? 0 : connect(address, socket);
      useOf.set(socket, used);
      if (used > FLOOD) socket.destroy();
    },
    /** The same as `use` for a WebSocket; `greeted` is to be called once, when it is acknowledged or has closed. */
    opens(request: Request, socket: EventEmitter): { readonly used: number; readonly greeted: () => void } {
      const connected = use(request, socket);
      if (connected === 0) return { used: 0, greeted: () => undefined };
      const address = addresses.of(request);
      const network = networkOf(address);
      const minute = opened.get(network) ?? { count: 0 };
      if (minute.count === 0) opened.set(network, minute);
      minute.count += 1;
      const [count, greeted] = add(greeting, network);
      const used = Math.max(minute.count / limits.socketsPerMinute, count / limits.handshakesPerAddress);
      return { used: Math.max(connected, warned(address, used)), greeted };
    },
  };
}

/** Applies the limits to the connections and requests of a server; those that open WebSockets call `opens`. */
export function limitClients(server: FastifyInstance, clients: ClientLimits): void {
  server.server.on('connection', (socket: Socket) => clients.connected(socket));
  server.addHook('onRequest', async ({ raw }, reply) => {
    if (clients.use(raw, reply.raw) <= 1) return undefined;
    // A connection that stays open would stay beyond the limit.
    void reply.headers({ 'retry-after': LATER_S, connection: 'close' });
    throw TOO_MANY;
  });
}

/** Refusing a text this small would cost as much as reading and parsing it. */
export const SMALL_BYTES = 16 * 1024;
export const RETRY_AFTER_S = 1;
/** The part of the memory for bodies that one client may take: one that sends slowly would keep others from theirs. */
const SHARE = 1 / 4;
export const OVERLOADED = new CellportError('UNAVAILABLE', 'the server is overloaded; retry later', {
  retryAfterMs: 1_000 * RETRY_AFTER_S,
});
const REFUSAL = `${JSON.stringify({ errors: [formatted(OVERLOADED)] })}\n`;
/** The answer to a request that is refused. */
export const refusalOf = (headers: IncomingHttpHeaders): string => withExtensions(REFUSAL, headers);

/** A request that has been admitted. */
export interface Admitted {
  /** The JSON of its body; undefined if it has none. */
  readonly body: unknown;
  /** How long it has waited, in milliseconds. */
  readonly waitedMs: number;
  /** Aborted when the connection closes before the answer has been sent. */
  readonly gone: AbortSignal;
  /** The address of the client. */
  readonly address: string;
}

/**
 * Does the work of a request once it is admitted, which holds a place until then; answers with 503 and resolves to
 * undefined if it is refused.
 */
export type Admit = <T>(
  request: FastifyRequest,
  reply: FastifyReply,
  work: (admitted: Admitted) => Promise<T>,
) => Promise<T | undefined>;

/** Without a reason, each abort would create an error with its stack. */
export const GONE = 'the client has disconnected';

function goneSignal(reply: FastifyReply): AbortSignal {
  const controller = new AbortController();
  reply.raw.once('close', () => {
    if (!reply.raw.writableFinished) controller.abort(GONE);
  });
  return controller.signal;
}

/** Any word in the body may be taken for that of a mutation: such a request is only less impatient. */
export const kindOf = ({ body }: FastifyRequest) =>
  Buffer.isBuffer(body) && body.includes('mutation') ? 'write' : 'read';

/** The size of a body according to its head, in bytes; the largest that is allowed if the head does not say. */
function announcedBytes({ headers }: FastifyRequest, { maxBodyBytes }: Limits): number {
  if (headers['transfer-encoding'] !== undefined) return maxBodyBytes;
  return Math.min(Number(headers['content-length'] ?? 0), maxBodyBytes);
}

/**
 * Makes the routes of `server` that call the returned function pass admission. Bodies wait unparsed and outside the
 * heap; those that are not small count before they have arrived, so that all of them have at most 64 times the allowed size of one.
 */
export function admitRequests(
  server: FastifyInstance,
  admission: Admission,
  clients: ClientLimits,
  limits: Limits,
  log: Log,
): Admit {
  const parse = keepBodies(server, limits);
  const mostBytes = FEW * limits.maxBodyBytes;
  let heldBytes = 0;
  /** The same of each client. */
  const held = new Map<string, number>();

  function refuse(reply: FastifyReply) {
    log.warn({}, OVERLOADED.message);
    const body = refusalOf(reply.request.headers);
    return reply.code(503).header('retry-after', RETRY_AFTER_S).type('application/json; charset=utf-8').send(body);
  }

  server.addHook('onRequest', async (request, reply) => {
    const bytes = announcedBytes(request, limits);
    if (bytes <= SMALL_BYTES) return undefined;
    const address = clients.addressOf(request.raw);
    const isExempt = address === '' || isLoopback(address);
    const [own, release] = add(held, networkOf(address), bytes);
    heldBytes += bytes;
    const leave = () => {
      heldBytes -= bytes;
      release();
    };
    if (heldBytes > mostBytes || (!isExempt && own > SHARE * mostBytes)) {
      leave();
      // Closing the connection discards the body.
      return refuse(reply.header('connection', 'close'));
    }
    reply.raw.once('close', leave);
    return undefined;
  });

  return async (request, reply, work) => {
    const gone = goneSignal(reply);
    const place = await admission[kindOf(request)].enter(gone);
    if (place === undefined) {
      if (!gone.aborted) void refuse(reply);
      return undefined;
    }
    try {
      const address = clients.addressOf(request.raw);
      return await work({ body: await parse(request), waitedMs: place.waitedMs, gone, address });
    } finally {
      place.leave();
    }
  };
}
