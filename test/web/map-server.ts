import type { Socket } from 'node:net';

import type { StaticFolders } from '../../src/http/server.js';
import { silentLog } from '../../src/log.js';
import { DEFAULT_LIMITS } from '../../src/model/limits.js';
import { metricsOf } from '../../src/server/hot-keys.js';
import { OwnSearch } from '../../src/server/search.js';
import { BUILT_FILES, createHttpServer, createServices } from '../../src/server/services.js';
import { ConsumptionSampler } from '../../src/store/consumption/sampler.js';
import type { Database } from '../../src/store/database.js';
import { followChanges } from '../live/support.js';
import { postQuery } from '../support/post-query.js';

type Json = Readonly<Record<string, unknown>>;

export interface MapServer {
  readonly url: string;
  /** Posts a document and returns its data; fails on an error. */
  // oxlint-disable-next-line typescript/no-explicit-any
  ask(query: string, variables?: Json): Promise<any>;
  /** Waits until the cells include everything that was written. */
  counted(): Promise<void>;
  /** Makes all further searches fail. */
  stopSearch(): Promise<void>;
  /** Bytes that all its connections have sent so far, including headers. */
  bytesSent(): number;
  close(): Promise<void>;
}

const SEARCH_BYTES = 2 ** 26;

export interface MapServerOptions {
  readonly styleUrl?: string;
  /** Folder for the search index; no search if omitted. */
  readonly searchFolder?: string;
  readonly allowedOrigins?: readonly string[];
}

/** Starts a server that follows the changes of a database. */
export async function startMapServer(
  db: Database,
  files: StaticFolders = BUILT_FILES,
  { styleUrl, searchFolder, allowedOrigins }: MapServerOptions = {},
): Promise<MapServer> {
  const consumption = new ConsumptionSampler(() => performance.now());
  const heard = followChanges(db);
  const index = { searchBytes: SEARCH_BYTES, dataDir: searchFolder ?? '' };
  const search = searchFolder === undefined ? undefined : new OwnSearch(index, heard.backend, silentLog);
  search?.start();
  const services = createServices(
    { ...db, consumption },
    {
      cacheBytes: 0,
      consumerStatus: () => heard.cells.status(),
      live: heard.hub,
      search,
      // A busy machine may be slow.
      limits: { ...DEFAULT_LIMITS, deadlineMs: 60_000 },
    },
  );
  const metrics = metricsOf(consumption, db.keys);
  const { http, close } = await createHttpServer(services, { files, styleUrl, allowedOrigins, metrics });
  const sockets = new Set<Socket>();
  http.server.on('connection', (socket) => sockets.add(socket));
  const url = await http.listen({ host: '127.0.0.1', port: 0 });
  return {
    url,
    async ask(query, variables = {}) {
      const response = await postQuery(url, query, { variables });
      const { data, errors } = (await response.json()) as { data: unknown; errors?: unknown };
      if (errors !== undefined) throw new Error(JSON.stringify(errors));
      return data;
    },
    counted: () => heard.cells.caughtUp(new AbortController().signal),
    stopSearch: async () => search?.stop(),
    bytesSent: () => [...sockets].reduce((total, { bytesWritten }) => total + bytesWritten, 0),
    async close() {
      await close();
      await search?.stop();
      await heard.stop();
    },
  };
}
