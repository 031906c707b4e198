import { existsSync } from 'node:fs';

import fastifyStatic from '@fastify/static';
import { type FastifyInstance, fastify } from 'fastify';

import type { Limits } from '../graphql/limits.js';
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
  readonly log: Log;
  /** Ends all subscriptions with a reason, when the server is told to close. */
  readonly endSubscriptions?: (() => void) | undefined;
}

/** The whole of a request has to arrive within this time, so that slow senders do not pile up. */
const ARRIVES_WITHIN_MS = 30_000;

/**
 * Nothing but what this server itself serves may run or be loaded. The editor in GraphiQL writes style elements and keeps
 * its icon font in a data URL.
 */
const CONTENT_SECURITY_POLICY = [
  "default-src 'none'",
  "script-src 'self'",
  "worker-src 'self'",
  "connect-src 'self'",
  "style-src 'self' 'unsafe-inline'",
  "font-src 'self' data:",
  "img-src 'self' data:",
  "base-uri 'none'",
  "form-action 'none'",
  "frame-ancestors 'none'",
].join('; ');

function addGraphiql(server: FastifyInstance, folder: string): void {
  server.get('/', (_request, reply) => reply.redirect('/graphiql/'));
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
    setHeaders: (reply) => {
      void reply.header('content-security-policy', CONTENT_SECURITY_POLICY);
    },
  });
}

/**
 * The one port of Cellport: /graphql, /graphql/stream, /graphiql/, /healthz, /readyz. Listens to nothing yet: the caller says where.
 * Closing it lets answers under way finish and ends all other connections at once.
 */
export function buildHttp({ graphql, limits, ready, staticDir, log, endSubscriptions }: HttpOptions): FastifyInstance {
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
  const subscriptions = { subscribe: graphql.subscribe, limits, log };
  server.addHook('preClose', async () => endSubscriptions?.());
  addWebsockets(server, subscriptions);
  endConnectionsOnClose(server, limits.deadlineMs + 1_000);
  handleErrors(server, limits, log);
  addHealth(server, ready);
  addGraphql(server, graphql);
  addEventStreams(server, subscriptions);
  addGraphiql(server, staticDir);
  return server;
}
