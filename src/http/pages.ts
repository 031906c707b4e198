import { existsSync } from 'node:fs';

import fastifyStatic from '@fastify/static';
import type { FastifyInstance } from 'fastify';

import { varyByEncoding } from './compression.js';

/** A content security policy that allows what this server serves, and the given sources. */
const policy = (also: Partial<Record<'style' | 'font' | 'img', string>>) =>
  [
    "default-src 'none'",
    "script-src 'self'",
    "worker-src 'self'",
    "connect-src 'self'",
    ...(['style', 'font', 'img'] as const).map((kind) => `${kind}-src ${["'self'", also[kind]].join(' ').trim()}`),
    "base-uri 'none'",
    "form-action 'none'",
    "frame-ancestors 'none'",
  ].join('; ');

/** GraphiQL's editor writes style elements and has its icon font in a data URL. */
const GRAPHIQL_POLICY = policy({ style: "'unsafe-inline'", font: 'data:', img: 'data:' });
/** MapLibre's style sheet has its icons in data URLs. */
const MAP_POLICY = policy({ img: 'data:' });

/** Paths of files that never change: those with a hash in their names, and tiles, in a folder named by one. */
const UNCHANGING = /[\\/](assets|tiles)[\\/]/;

interface Folder {
  readonly root: string;
  /** Where its files are served. */
  readonly prefix: string;
  readonly contentSecurityPolicy: string;
}

/** Serves the files of a folder in an encoding that the client accepts; `scripts/precompress.mjs` has written them. */
function addFiles(server: FastifyInstance, { root, prefix, contentSecurityPolicy }: Folder): void {
  server.addHook('onRequest', async (_request, reply) => {
    varyByEncoding(reply);
    void reply.header('content-security-policy', contentSecurityPolicy);
  });
  void server.register(fastifyStatic, {
    root,
    prefix,
    preCompressed: true,
    // It would overwrite what setHeaders sets.
    cacheControl: false,
    setHeaders(response, path) {
      // All others are revalidated, mostly with a 304.
      const cacheControl = UNCHANGING.test(path.slice(root.length))
        ? 'public, max-age=31536000, immutable'
        : 'no-cache';
      response.setHeader('cache-control', cacheControl);
    },
  });
}

/** The map at `/`, its files under `/map/`; a redirect to GraphiQL if the map is not built. */
export function addMap(server: FastifyInstance, root: string | undefined): void {
  if (root === undefined || !existsSync(root)) {
    server.get('/', (_request, reply) => reply.redirect('/graphiql/'));
    return;
  }
  void server.register(async (scope) => {
    addFiles(scope, { root, prefix: '/map/', contentSecurityPolicy: MAP_POLICY });
    scope.get('/', (_request, reply) => reply.sendFile('index.html', { cacheControl: false }));
    scope.get('/map/', (_request, reply) => reply.redirect('/'));
  });
}

/** GraphiQL under `/graphiql/`; there a message if it is not built. */
export function addGraphiql(server: FastifyInstance, root: string): void {
  if (!existsSync(root)) {
    for (const url of ['/graphiql', '/graphiql/']) {
      server.get(url, (_request, reply) =>
        reply.code(404).type('text/plain').send('GraphiQL is not built; run `npm run build`.\n'),
      );
    }
    return;
  }
  server.get('/graphiql', (_request, reply) => reply.redirect('/graphiql/'));
  void server.register(async (scope) => {
    addFiles(scope, { root, prefix: '/graphiql/', contentSecurityPolicy: GRAPHIQL_POLICY });
  });
}
