import type { IncomingHttpHeaders, IncomingMessage } from 'node:http';
import type { Socket } from 'node:net';
import cors from '@fastify/cors';
import { fastify, type FastifyInstance } from 'fastify';
import { Registry } from 'prom-client';

import { credentialIn } from '../access/credential.js';
import { asksForNothing } from '../graphql/extensions.js';
import { type GraphqlServer } from '../graphql/server.js';
import type { Log } from '../log.js';
import type { Limits } from '../model/limits.js';
import { createAdmission } from '../scheduling/admission.js';
import type { Scheduler } from '../scheduling/scheduler.js';
import { readAddresses, type TrustedProxies } from './addresses.js';
import { addMetrics } from './admin.js';
import { admitRequests, createClientLimits, limitClients, RETRY_AFTER_S } from './admit.js';
import { answering, onlyGet } from './answering.js';
import { compressText } from './compression.js';
import { clientErrorHandler, frameworkErrors, handleErrors } from './errors.js';
import { addEventStreams } from './event-stream.js';
import { addGraphql } from './graphql-route.js';
import { addHealth, type Readiness } from './health.js';
import { checkHosts, hostChecker, type HostOptions } from './hosts.js';
import { addMaps } from './maps-route.js';
import type { Metrics } from './metrics.js';
import { addOgc } from './ogc/route.js';
import { addFigures, type ServerFigures } from './process-metrics.js';
import { countRequests, noteRequests } from './requests.js';
import { addGraphiql, addMap, type OwnStyle } from './static-files.js';
import { addTileChanges } from './tile-changes.js';
import { addTiles } from './tiles-route.js';
import { addWebsockets } from './websocket.js';

/**
 * When the server closes, closes each connection as soon as it has no request in progress, and all of them after
 * `timeoutMs`. Node counts a connection that has never sent anything as busy; browsers open such connections in
 * advance, and each would delay the shutdown by many seconds.
 */
function endConnectionsOnClose(server: FastifyInstance, timeoutMs: number): void {
  const idle = new Set<Socket>();
  let closing = false;
  let inProgress = 0;
  let onAnswered = () => undefined as void;
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
    inProgress += 1;
    response.once('close', () => {
      inProgress -= 1;
      onAnswered();
      if (closing) socket.end();
      else if (!socket.destroyed) idle.add(socket);
    });
  });
  server.addHook('preClose', async () => {
    closing = true;
    for (const socket of idle) socket.destroy();
    setTimeout(() => server.server.closeAllConnections(), timeoutMs).unref();
  });
  // Node waits only for connections that this server has accepted itself.
  server.addHook('onClose', async () => {
    await new Promise<void>((resolve) => {
      onAnswered = () => inProgress === 0 && resolve();
      onAnswered();
    });
  });
}

/** What an HTTP server consists of. */
export interface HttpParts {
  readonly graphql: GraphqlServer;
  readonly scheduler: Scheduler;
  readonly limits: Limits;
  readonly ready: () => Promise<Readiness>;
  readonly figures: ServerFigures;
  readonly log: Log;
  /** Ends all subscriptions with a reason when the server closes. */
  readonly endSubscriptions: () => void;
}

/** Folders of built files. */
export interface StaticFolders {
  /** That of GraphiQL. */
  readonly staticDir: string;
  /** That of the map; if undefined, `/` redirects to GraphiQL. */
  readonly mapDir?: string | undefined;
}

/** What clients of a server may do, and what they see. */
export interface ClientOptions extends HostOptions, OwnStyle {
  /** Origins of other sites whose pages may send requests and subscribe; `*` for any. */
  readonly allowedOrigins?: readonly string[] | undefined;
  /** What `/metrics` shows; undefined for a server that samples no capacity, or shows it on a port of its own. */
  readonly metrics?: Metrics | undefined;
  /** Where the metrics of requests are kept; by default, nobody sees them. */
  readonly registry?: Registry | undefined;
  /** Whether clients may request the cost and the reads of a request, and see hot keys; true by default. */
  readonly explain?: boolean | undefined;
  /** Whether GraphiQL is served; true by default. */
  readonly graphiql?: boolean | undefined;
  /** None by default. */
  readonly trustedProxies?: TrustedProxies | undefined;
  readonly requestTimeoutMs?: number | undefined;
}

/** A whole request must arrive within this time, so that slow senders do not accumulate. */
const REQUEST_TIMEOUT_MS = 30_000;
/** The longest key of a marker, 1,012 bytes, percent-encoded. */
const LONGEST_NAME = 3 * 1_012;
/** How often Node checks for slow senders; its default of 30 s would double the time that they get. */
const LOOK_FOR_SLOW_MS = 1_000;
/** The maximum that Chromium accepts. */
const PREFLIGHT_MAX_AGE_S = 7_200;

/**
 * Allows pages of other sites to send requests, without credentials. Users are not identified by cookies, so `*`
 * exposes no more than the port itself does.
 */
function allowOrigins(server: FastifyInstance, origins: readonly string[]): void {
  if (origins.length === 0) return;
  void server.register(cors, {
    origin: origins.includes('*') ? '*' : [...origins],
    methods: ['GET', 'POST'],
    exposedHeaders: 'ratelimit, ratelimit-policy, retry-after, x-request-id, x-cellport-count, content-location',
    maxAge: PREFLIGHT_MAX_AGE_S,
  });
}

/**
 * Builds the HTTP server with everything on Cellport's single port: / (the map), /graphql, /graphql/stream, /graphiql/,
 * /tiles/, /maps/, /ogc, /healthz, /readyz, /metrics, /hot-keys, /status. It does not listen yet. Closing it lets requests in progress finish and closes all other
 * connections at once.
 */
export function buildHttp(
  { graphql, scheduler, limits, ready, figures, log, endSubscriptions }: HttpParts,
  { staticDir, mapDir }: StaticFolders,
  options: ClientOptions,
): FastifyInstance {
  const { allowedOrigins = [], metrics, explain = true, requestTimeoutMs = REQUEST_TIMEOUT_MS } = options;
  const { graphiql = true, trustedProxies = 0, registry = new Registry() } = options;
  const server = fastify({
    bodyLimit: limits.maxBodyBytes,
    requestTimeout: requestTimeoutMs,
    http: { headersTimeout: requestTimeoutMs, connectionsCheckingInterval: LOOK_FOR_SLOW_MS },
    forceCloseConnections: false,
    return503OnClosing: true,
    frameworkErrors,
    clientErrorHandler,
    routerOptions: { maxParamLength: LONGEST_NAME },
  });
  server.server.on('connection', () => scheduler.connectionAccepted());
  addFigures(registry, figures);
  const count = countRequests(registry);
  noteRequests(server, log, count);
  const addresses = readAddresses(trustedProxies);
  const clients = createClientLimits(addresses, limits, log);
  limitClients(server, clients);
  const checkHost = hostChecker(options);
  checkHosts(server, checkHost);
  if (!explain) server.addHook('onRequest', async ({ headers }) => asksForNothing(headers));
  // Only JSON is accepted: any page on the web can send forms and plain text without a preflight request.
  server.removeContentTypeParser('text/plain');
  const admission = createAdmission(scheduler, limits.deadlineMs);
  server.addHook('onRequest', async ({ routeOptions: { url: route = '' }, headers, raw }, reply) => {
    const isAsking = /^\/(graphql|tiles|maps|ogc)(\/|$)/.test(route);
    const shows =
      (headers.authorization ?? headers['x-api-key']) !== undefined &&
      /^\/(metrics|hot-keys|status|readyz)$/.test(route);
    if (!isAsking && !shows) return undefined;
    const flood = await graphql.floodOf(headers, clients.addressOf(raw));
    if (flood === undefined) return undefined;
    void reply.header('retry-after', RETRY_AFTER_S);
    throw flood;
  });
  const admit = admitRequests(server, admission, clients, limits, log);
  server.addHook('onSend', async (_request, reply) => {
    void reply.headers({ 'x-content-type-options': 'nosniff', 'referrer-policy': 'no-referrer' });
  });
  compressText(server);
  const subscriptions = {
    graphql,
    admission,
    limits,
    allowedOrigins,
    checkHost,
    clients,
    log,
    onRefused: count.status,
  };
  // Before connections are closed, so that clients receive the reason.
  server.addHook('preClose', async () => endSubscriptions());
  addWebsockets(server, subscriptions);
  endConnectionsOnClose(server, limits.deadlineMs + 1_000);
  handleErrors(server, limits, log);
  allowOrigins(server, allowedOrigins);
  const isAdmin = async (headers: IncomingHttpHeaders) => {
    const access = await graphql.accessOf(credentialIn(headers));
    return access === undefined || access.isAdmin;
  };
  // Load balancers ask without a credential.
  addHealth(server, ready, (headers) => isAdmin(headers).catch(() => false));
  if (metrics !== undefined) addMetrics(server, metrics, ready, { explain, isAdmin });
  addGraphql(server, graphql, admit, admission, allowedOrigins);
  addEventStreams(server, subscriptions, admit);
  const answer = answering(graphql, admit);
  addTiles(server, answer, addresses, limits);
  addTileChanges(server, subscriptions, admit);
  addMaps(server, answer, addresses, limits);
  addOgc(server, answer, addresses, limits);
  onlyGet(server);
  addMap(server, mapDir, options, addresses);
  addGraphiql(server, graphiql ? staticDir : undefined);
  return server;
}
