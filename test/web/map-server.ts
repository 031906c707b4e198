import { mkdtemp, rm } from 'node:fs/promises';
import type { Socket } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { build } from 'vite';

import { DEFAULT_LIMITS } from '../../src/model/limits.js';
import { createHttpServer, createServices } from '../../src/server/services.js';
import type { Database } from '../../src/store/database.js';
import { followChanges } from '../live/support.js';

const root = fileURLToPath(new URL('../../', import.meta.url));

type Json = Readonly<Record<string, unknown>>;

export interface MapServer {
  readonly url: string;
  readonly pages: Pages;
  /** Posts a document and returns its data; fails on an error. */
  // oxlint-disable-next-line typescript/no-explicit-any
  ask(query: string, variables?: Json): Promise<any>;
  /** Waits until the cells include everything that was written. */
  counted(): Promise<void>;
  /** Bytes that all its connections have sent so far, with their headers. */
  bytesSent(): number;
  close(): Promise<void>;
}

interface Pages {
  /** Without it, / redirects to GraphiQL. */
  readonly mapDir?: string;
  readonly staticDir: string;
}

/** Builds the map page anew, without GraphiQL. */
async function buildMap(folder: string): Promise<Pages> {
  await build({ configFile: join(root, 'web/map/build/vite.config.ts'), build: { outDir: folder, minify: false } });
  return { mapDir: folder, staticDir: join(folder, 'none') };
}

/** Starts a server which follows the changes of a database, with these pages or a fresh build of the map page. */
export async function startMapServer(db: Database, built?: Pages, styleUrl?: string): Promise<MapServer> {
  const folder = await mkdtemp(join(tmpdir(), 'cellport-map-'));
  const pages = built ?? (await buildMap(folder));
  const heard = followChanges(db);
  const services = createServices(
    { database: db },
    {
      cacheBytes: 0,
      consumerStatus: () => heard.cells.status(),
      live: heard.hub,
      // A busy machine may be slow.
      limits: { ...DEFAULT_LIMITS, deadlineMs: 60_000 },
    },
  );
  const { http, close } = await createHttpServer(services, { pages, styleUrl });
  const sockets = new Set<Socket>();
  http.server.on('connection', (socket) => sockets.add(socket));
  const url = await http.listen({ host: '127.0.0.1', port: 0 });
  return {
    url,
    pages,
    async ask(query, variables = {}) {
      const response = await fetch(`${url}/graphql`, {
        method: 'POST',
        headers: { 'content-type': 'application/json' },
        body: JSON.stringify({ query, variables }),
      });
      const { data, errors } = (await response.json()) as { data: unknown; errors?: unknown };
      if (errors !== undefined) throw new Error(JSON.stringify(errors));
      return data;
    },
    counted: () => heard.cells.caughtUp(new AbortController().signal),
    bytesSent: () => [...sockets].reduce((total, { bytesWritten }) => total + bytesWritten, 0),
    async close() {
      await close();
      await heard.stop();
      await rm(folder, { recursive: true });
    },
  };
}
