import { existsSync } from 'node:fs';

import cors from '@fastify/cors';
import fastifyStatic from '@fastify/static';
import { type FastifyInstance, fastify } from 'fastify';

import type { Limits } from '../model/limits.js';
import type { GraphqlServer } from '../graphql/server.js';
import type { Log } from '../log.js';
import { handleErrors } from './errors.js';
import { type Readiness, addHealth } from './health.js';
import { addEventStreams } from './event-stream.js';
import { addGraphql } from './graphql-route.js';
import { endConnectionsOnClose } from './shutdown.js';
import { addWebsockets } from './websocket.js';

export interface HttpOptions {
  readonly graphql: GraphqlServer;
  readonly limits: Limits;
  readonly ready: () => Promise<Readiness>;
  /** Folder of the built GraphiQL page. */
  readonly staticDir: string;
  /** Folder of the built map page; without it `/` leads to GraphiQL. */
  readonly mapDir?: string | undefined;
  /** Origins of other sites whose pages may ask and subscribe; `*` for any. */
  readonly allowedOrigins?: readonly string[] | undefined;
  readonly log: Log;
  /** Ends all subscriptions with a reason, when the server is told to close. */
  readonly endSubscriptions?: (() => void) | undefined;
}

/** The whole of a request has to arrive within this time, so that slow senders do not pile up. */
const ARRIVES_WITHIN_MS = 30_000;
/** What Chromium keeps at most. */
const PREFLIGHT_HOLDS_S = 7_200;

/** Nothing but what this server itself serves may run or be loaded, besides what a page says it needs. */
const policy = (needs: Partial<Record<'style' | 'font' | 'img', string>>) =>
  [
    "default-src 'none'",
    "script-src 'self'",
    "worker-src 'self'",
    "connect-src 'self'",
    ...(['style', 'font', 'img'] as const).map((kind) => `${kind}-src ${["'self'", needs[kind]].join(' ').trim()}`),
    "base-uri 'none'",
    "form-action 'none'",
    "frame-ancestors 'none'",
  ].join('; ');

/** The editor in GraphiQL writes style elements and keeps its icon font in a data URL. */
const GRAPHIQL_POLICY = policy({ style: "'unsafe-inline'", font: 'data:', img: 'data:' });
/** The style sheet of MapLibre has the icons of its buttons in data URLs. */
const MAP_POLICY = policy({ img: 'data:' });

/**
 * Lets pages of other sites ask. Without credentials: nothing here knows a user by a cookie, so that `*` gives away no
 * more than the port itself does.
 */
function allowOrigins(server: FastifyInstance, origins: readonly string[]): void {
  if (origins.length === 0) return;
  void server.register(cors, {
    origin: origins.includes('*') ? '*' : [...origins],
    methods: ['GET', 'POST'],
    maxAge: PREFLIGHT_HOLDS_S,
  });
}

/** The map at `/`, its parts under `/map/`; GraphiQL in its place where the map is not built. */
function addMap(server: FastifyInstance, folder: string | undefined): void {
  if (folder === undefined || !existsSync(folder)) {
    server.get('/', (_request, reply) => reply.redirect('/graphiql/'));
    return;
  }
  void server.register(fastifyStatic, {
    root: folder,
    prefix: '/map/',
    index: false,
    setHeaders(reply, path) {
      // Files with a hash in their name never change; all else is asked for again, and mostly answered with a 304.
      const lasts = path.includes('/assets/') ? 'public, max-age=31536000, immutable' : 'no-cache';
      void reply.header('cache-control', lasts).header('content-security-policy', MAP_POLICY);
    },
  });
  server.get('/', (_request, reply) => reply.sendFile('index.html', { cacheControl: false }));
  server.get('/map/', (_request, reply) => reply.redirect('/'));
}

function addGraphiql(server: FastifyInstance, folder: string): void {
  if (!existsSync(folder)) {
    for (const url of ['/graphiql', '/graphiql/']) {
      server.get(url, (_request, reply) =>
        reply.code(404).type('text/plain').send('GraphiQL is not built: run `npm run build`.\n'),
      );
    }
    return;
  }
  server.get('/graphiql', (_request, reply) => reply.redirect('/graphiql/'));
  void server.register(fastifyStatic, {
    root: folder,
    prefix: '/graphiql/',
    decorateReply: false,
    setHeaders: (reply) => {
      void reply.header('content-security-policy', GRAPHIQL_POLICY);
    },
  });
}

/**
 * The one port of Cellport: / (the map), /graphql, /graphql/stream, /graphiql/, /healthz, /readyz. Listens to nothing yet: the caller says where.
 * Closing it lets answers under way finish and ends all other connections at once.
 */
export function buildHttp({
  graphql,
  limits,
  ready,
  staticDir,
  mapDir,
  allowedOrigins = [],
  log,
  endSubscriptions,
}: HttpOptions): FastifyInstance {
  const server = fastify({
    bodyLimit: limits.maxBodyBytes,
    requestTimeout: ARRIVES_WITHIN_MS,
    forceCloseConnections: false,
    return503OnClosing: true,
  });
  // Only JSON is understood: a form or a text can be sent from any page of the web without asking.
  server.removeContentTypeParser('text/plain');
  server.addHook('onSend', async (_request, reply) => {
    void reply.headers({ 'x-content-type-options': 'nosniff', 'referrer-policy': 'no-referrer' });
  });
  // Before connections are ended: clients are told why.
  const { subscribe, recentFrom } = graphql;
  const subscriptions = { subscribe, recentFrom, limits, allowedOrigins, log };
  server.addHook('preClose', async () => endSubscriptions?.());
  addWebsockets(server, subscriptions);
  endConnectionsOnClose(server, limits.deadlineMs + 1_000);
  handleErrors(server, limits, log);
  allowOrigins(server, allowedOrigins);
  addHealth(server, ready);
  addGraphql(server, graphql);
  addEventStreams(server, subscriptions);
  addMap(server, mapDir);
  addGraphiql(server, staticDir);
  return server;
}
