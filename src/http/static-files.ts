import { existsSync } from 'node:fs';
import { readFile, stat } from 'node:fs/promises';
import { join, relative } from 'node:path';
import fastifyStatic from '@fastify/static';
import type { FastifyInstance } from 'fastify';

import type { Addresses } from './addresses.js';
import { rootOf } from './answering.js';
import { entityOf, sendEntity } from './entity.js';
import { escaped } from './escaped.js';
import { varyBy } from './vary.js';

/** A content security policy that allows this server's own files and the given sources. */
const policy = (also: Partial<Record<'connect' | 'style' | 'font' | 'img', string>>) =>
  [
    "default-src 'none'",
    "script-src 'self'",
    "worker-src 'self'",
    ...(['connect', 'style', 'font', 'img'] as const).map(
      (kind) => `${kind}-src ${["'self'", also[kind]].join(' ').trim()}`,
    ),
    "base-uri 'none'",
    "form-action 'none'",
    "frame-ancestors 'none'",
  ].join('; ');

/** GraphiQL's editor writes style elements and has its icon font in a data URL. */
const GRAPHIQL_POLICY = policy({ style: "'unsafe-inline'", font: 'data:', img: 'data:' });

/** A custom base map. */
export interface OwnStyle {
  /** A MapLibre style or a PMTiles file; undefined for the built-in base map. */
  readonly styleUrl?: string | undefined;
  /** Other origins from which the style loads tiles, fonts and icons; `*` for any. */
  readonly styleOrigins?: readonly string[] | undefined;
}

/**
 * MapLibre's style sheet embeds its icons as data URLs. A style's tiles and icons are fetched; its fonts may be font
 * files.
 */
function mapPolicy({ styleUrl, styleOrigins = [] }: OwnStyle): string {
  if (styleUrl === undefined) return policy({ img: 'data:' });
  const origins = [...new Set([new URL(styleUrl).origin, ...styleOrigins])].join(' ');
  return policy({ connect: origins, font: origins, img: `data: ${origins}` });
}

/** The link-preview picture in the built page. */
const PREVIEW = 'content="map/preview.jpg"';

/** Reads a text file again only after it has changed: in development, the page is built while the server runs. */
function keepRead(path: string): () => Promise<string> {
  let kept: { readonly mtimeMs: number; readonly text: string } | undefined;
  return async () => {
    const { mtimeMs } = await stat(path);
    if (kept?.mtimeMs !== mtimeMs) kept = { mtimeMs, text: await readFile(path, 'utf8') };
    return kept.text;
  };
}

/**
 * The page with the style in a `meta` element, so that it needs no further request before it opens the map. Link
 * previews need an absolute picture URL, so it is completed with the URL of the server, `root`.
 */
function filled(page: string, root: string, styleUrl: string | undefined): string {
  const style = styleUrl === undefined ? '' : `<meta name="cellport-style" content="${escaped(styleUrl)}" />`;
  return page
    .replace(PREVIEW, () => `content="${escaped(root)}/map/preview.jpg"`)
    .replace('</head>', () => `${style}</head>`);
}

/** Paths of files that never change: assets, whose names have a hash, and tiles, in a folder named by one. */
const UNCHANGING = /^(assets|tiles[\\/][0-9a-f]{8})[\\/]/;

interface Folder {
  readonly root: string;
  /** URL path under which its files are served. */
  readonly prefix: string;
  readonly contentSecurityPolicy: string;
}

/** Serves the files of a folder in an encoding that the client accepts; `scripts/precompress.mjs` has written them. */
function addFiles(server: FastifyInstance, { root, prefix, contentSecurityPolicy }: Folder): void {
  server.addHook('onRequest', async (_request, reply) => {
    varyBy(reply, 'Accept-Encoding');
    void reply.header('content-security-policy', contentSecurityPolicy);
  });
  void server.register(fastifyStatic, {
    root,
    prefix,
    preCompressed: true,
    // Otherwise it would overwrite the header that setHeaders sets.
    cacheControl: false,
    setHeaders(reply, path) {
      // All other files are revalidated, mostly with a 304.
      const cacheControl = UNCHANGING.test(relative(root, path)) ? 'public, max-age=31536000, immutable' : 'no-cache';
      void reply.header('cache-control', cacheControl);
    },
  });
}

/** Serves the map at `/` and its files under `/map/`; redirects to GraphiQL if the map is not built. */
export function addMap(server: FastifyInstance, root: string | undefined, style: OwnStyle, addresses: Addresses): void {
  if (root === undefined || !existsSync(root)) {
    server.get('/', (_request, reply) => reply.redirect('graphiql/'));
    return;
  }
  void server.register(async (scope) => {
    addFiles(scope, { root, prefix: '/map/', contentSecurityPolicy: mapPolicy(style) });
    const readPage = keepRead(join(root, 'index.html'));
    scope.get('/', async (request, reply) => {
      const page = filled(await readPage(), rootOf(request, addresses), style.styleUrl);
      const caching = { isForAnyone: true, sharedSeconds: 0 };
      return sendEntity(request, reply, entityOf(Buffer.from(page)), 'text/html; charset=utf-8', caching);
    });
    // Relative, as only the client knows the path that a proxy has taken off.
    scope.get('/map/', (_request, reply) => reply.redirect('../'));
  });
}

/** Serves GraphiQL under `/graphiql/`, or a message if it is not built, or not to be served: without a folder. */
export function addGraphiql(server: FastifyInstance, root: string | undefined): void {
  if (root === undefined || !existsSync(root)) {
    const why = root === undefined ? 'CELLPORT_GRAPHIQL is off' : 'GraphiQL is not built; run `npm run build`';
    for (const url of ['/graphiql', '/graphiql/']) {
      server.get(url, (_request, reply) =>
        reply.code(404).header('cache-control', 'no-store').type('text/plain').send(`${why}.\n`),
      );
    }
    return;
  }
  server.get('/graphiql', (_request, reply) => reply.redirect('graphiql/'));
  void server.register(async (scope) => {
    addFiles(scope, { root, prefix: '/graphiql/', contentSecurityPolicy: GRAPHIQL_POLICY });
  });
}
